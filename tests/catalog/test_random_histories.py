"""Several writers of several processes, faults, checkpoints, cuts of power and sweeps, against a plain model."""

import contextlib
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from instar.catalog.actions import AddParts, AlterTable, RemoveParts
from instar.catalog.apply import TransactionCollected
from instar.catalog.checkpoint import agrees_with_replay, read_checkpoint, write_checkpoint
from instar.catalog.commit import Change, CommitConflict, Committed, OutcomeUnknown, SlotWasCut, commit
from instar.catalog.encoding import DamagedObject
from instar.catalog.names import LogKind
from instar.catalog.origins import OriginConflict
from instar.catalog.orphans import plan_orphans, sweep
from instar.catalog.preconditions import SchemaIs
from instar.catalog.prune import plan_prune, prune
from instar.catalog.restore import plan_restore, restore
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.model import evolve
from instar.model.schema import TableName
from instar.storage.faulty import Crashed, Fault, FaultKind, FaultyStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import DidNotHappen, MayHaveHappened
from tests.catalog.samples import HOUR, Ticks, Writer, numbered_uuids, part_rows
from tests.catalog.tally import TRIED

FAULTS = st.sampled_from(
    [None] * 7  # most commits should get somewhere
    + [
        FaultKind.FAIL_BEFORE,
        FaultKind.FAIL_AFTER,
        FaultKind.THROTTLE,
        FaultKind.CRASH_BEFORE,
        FaultKind.CRASH_AFTER,
        FaultKind.LATE,
    ]
)
WRITERS, PROCESSES = ("w1", "w2"), 3
WHO = st.integers(0, len(WRITERS) * PROCESSES - 1)
NTH = st.integers(1, 5)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)  # explaining traces every line, and is slow


@dataclass
class Model:
    """What the lake should hold: parts by key, each with its origin, and what each origin has come to."""

    live: dict[str, str] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)
    past: dict[int, frozenset[str]] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)


@dataclass
class Side:
    """One writer: its timeline as three processes know it, what they have uploaded, and what the log should say."""

    store: MemoryStore
    writer: str
    model: Model = field(default_factory=Model)
    pending: list[tuple[UUID, AddParts]] = field(default_factory=list)
    collected: set[UUID] = field(default_factory=set)
    timelines: list[Timeline] = field(default_factory=list)

    def begin(self, clock: Ticks, seed: int) -> None:
        Writer(self.store, writer=self.writer, seed=seed, clock=clock).create()
        self.timelines = [self.fresh() for _ in range(PROCESSES)]
        self.note(1)

    def fresh(self) -> Timeline:
        return Timeline(self.store, self.writer, "weather")

    def note(self, revision: int) -> None:
        self.model.past[revision] = frozenset(self.model.live)
        header = self.fresh().header(revision)
        assert header is not None
        self.model.times[revision] = header.commit_time

    def head(self) -> int:
        return max(self.model.past)


class Histories(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        TRIED["histories"] += 1
        self.ids = 1000
        self.clock = Ticks()
        self.store = MemoryStore(clock=self.clock)
        self.uuids = numbered_uuids()
        self.sides = [Side(self.store, writer) for writer in WRITERS]
        for seed, side in enumerate(self.sides, 1):
            side.begin(self.clock, seed)

    def side(self, who: int) -> Side:
        return self.sides[who // PROCESSES]

    def attempt(self, who: int, change: Change, fault: FaultKind | None, nth: int = 1) -> bool:
        """Commit under a fault, and tell by the log itself whether it happened; it must say the same if it can."""
        side = self.side(who)
        plan = [Fault("any", nth, fault)] if fault else []
        timeline = side.timelines[who % PROCESSES]
        timeline.store = faulty = FaultyStore(self.store, plan)
        committed: Committed | None = None
        try:
            committed = commit(timeline, change, clock=self.clock)
        except Crashed:
            side.timelines[who % PROCESSES] = side.fresh()
        except SlotWasCut:
            # Others pruned the log past what this process remembers: nothing happened, and it commits again.
            assert side.fresh().oldest() > 0
            side.timelines[who % PROCESSES] = side.fresh()
            return self.attempt(who, change, None)
        except (DidNotHappen, OutcomeUnknown):
            assert fault in (FaultKind.FAIL_BEFORE, FaultKind.FAIL_AFTER, FaultKind.LATE, FaultKind.THROTTLE)
        finally:
            timeline.store = self.store
            faulty.settle()
        newest = side.fresh().history()[-1]
        happened = newest.revision == side.head() + 1 and newest.uuid == change.uuid
        assert happened or newest.revision == side.head()
        if committed:
            assert happened is not committed.already
        return happened

    @rule(who=WHO, count=st.integers(1, 3), origin=st.sampled_from(["", "jan", "feb"]), generation=st.integers(1, 3))
    def upload(self, who: int, count: int, origin: str, generation: int) -> None:
        side = self.side(who)
        uuid = self.uuids()
        rows = part_rows(uuid, count, writer=side.writer, origin=origin, generation=generation if origin else 0)
        for key in rows["key"].to_pylist():
            self.store.put(key, b"part")
        side.pending.append((uuid, AddParts("h2o", rows)))

    @precondition(lambda self: any(side.pending for side in self.sides))
    @rule(data=st.data(), who=WHO, fault=FAULTS)
    def commit_an_upload(self, data: st.DataObject, who: int, fault: FaultKind | None) -> None:
        side = self.side(who)
        if not side.pending:
            return
        nth = data.draw(NTH) if fault else 1
        self.commit_pending(data.draw(st.integers(0, len(side.pending) - 1)), who, fault, nth)

    @rule(data=st.data(), who=WHO, origin=st.sampled_from(["jan", "feb"]), generation=st.integers(1, 3))
    def ingest(self, data: st.DataObject, who: int, origin: str, generation: int) -> None:
        side = self.side(who)
        self.upload(who, 1, origin, generation)
        self.commit_pending(len(side.pending) - 1, who, data.draw(FAULTS))

    def commit_pending(self, index: int, who: int, fault: FaultKind | None, nth: int = 1) -> None:
        side = self.side(who)
        uuid, action = side.pending[index]
        runs = action.runs
        known = side.model.generations.get(runs[0].origin, 0) if runs else 0
        try:
            happened = self.attempt(who, Change(uuid, (action,)), fault, nth)
        except TransactionCollected:
            assert uuid in side.collected
            side.pending.remove((uuid, action))
            return
        except OriginConflict:
            assert runs[0].generation < known
            return
        if not happened:
            assert fault or runs[0].generation == known
            return
        assert uuid not in side.collected
        side.pending.remove((uuid, action))
        for run in runs:
            assert run.generation > known
            side.model.generations[run.origin] = run.generation
            side.model.live = {key: origin for key, origin in side.model.live.items() if origin != run.origin}
        side.model.live |= dict.fromkeys(action.keys, runs[0].origin if runs else "")
        side.note(side.head() + 1)

    @precondition(lambda self: any(side.model.live for side in self.sides))
    @rule(data=st.data(), who=WHO, fault=FAULTS)
    def remove(self, data: st.DataObject, who: int, fault: FaultKind | None) -> None:
        side = self.side(who)
        if not side.model.live:
            return
        keys = data.draw(st.sets(st.sampled_from(sorted(side.model.live)), min_size=1))
        if self.attempt(who, Change(self.uuids(), (RemoveParts("h2o", tuple(keys)),)), fault):
            side.model.live = {key: origin for key, origin in side.model.live.items() if key not in keys}
            side.note(side.head() + 1)

    @rule(who=WHO)
    def remove_what_is_gone(self, who: int) -> None:
        side = self.side(who)
        gone = frozenset().union(*side.model.past.values()) - set(side.model.live)
        for key in sorted(gone)[:1]:
            try:
                self.attempt(who, Change(self.uuids(), (RemoveParts("h2o", (key,)),)), None)
            except CommitConflict:
                continue
            raise AssertionError(f"{key} was removed twice")

    @rule(data=st.data(), who=WHO)
    def checkpoint(self, data: st.DataObject, who: int) -> None:
        side = self.side(who)
        revision = data.draw(st.sampled_from(sorted(side.model.past)))
        timeline = side.timelines[who % PROCESSES]
        write_checkpoint(timeline, timeline.load(revision))
        if revision > timeline.oldest():  # there is a log before it
            assert agrees_with_replay(timeline, revision)

    @rule(data=st.data(), who=WHO)
    def damage_a_checkpoint(self, data: st.DataObject, who: int) -> None:
        side = self.side(who)
        timeline = side.timelines[0]
        checkpoints = list(timeline.listing().checkpoints)
        if timeline.oldest():  # a log that was cut needs one
            checkpoints = [number for number in checkpoints if number > min(self.intact(timeline))]
        if checkpoints:
            key = timeline.key(data.draw(st.sampled_from(checkpoints)), LogKind.CHECKPOINT)
            self.store.put(key, self.store.get(key)[:-1])

    def intact(self, timeline: Timeline) -> list[int]:
        good = []
        for number in timeline.listing().checkpoints:
            with contextlib.suppress(DamagedObject):
                good.append(read_checkpoint(timeline, number).revision)
        return good

    @rule(who=WHO, hours=st.sampled_from([0, 48]))
    def sweep_orphans(self, who: int, hours: int) -> None:
        side = self.side(who)
        before = side.timelines[who % PROCESSES].load()
        plan = plan_orphans(side.timelines[who % PROCESSES], now=self.clock.now + hours * HOUR)
        assert hours or not plan.orphans
        result = sweep(side.timelines[who % PROCESSES], plan, clock=self.clock, uuids=self.uuids, most_share=1)
        if result.revision > before.revision:
            side.collected |= {orphan.transaction for orphan in plan.orphans}
            side.note(result.revision)

    @rule(who=WHO, data=st.data())
    def travel(self, who: int, data: st.DataObject) -> None:
        side = self.side(who)
        revision = data.draw(st.sampled_from(sorted(side.model.past)))
        assert side.timelines[who % PROCESSES].load(revision).live_keys() == side.model.past[revision]
        if revision > min(side.model.past):
            assert side.timelines[who % PROCESSES].revision_at(side.model.times[revision] - 1) == revision - 1

    @rule(who=WHO, data=st.data())
    def prune_history(self, who: int, data: st.DataObject) -> None:
        side = self.side(who)
        timeline = side.timelines[who % PROCESSES]
        since = data.draw(st.sampled_from(sorted(side.model.past)))
        plan = plan_prune(timeline, now=side.model.times[since], horizon=0)
        assert plan.oldest <= since
        kind = data.draw(FAULTS)
        striking = FaultyStore(self.store, [Fault("delete", data.draw(NTH), kind)] if kind else [])
        timeline.store = striking
        with contextlib.suppress(Crashed, DidNotHappen, MayHaveHappened):
            prune(timeline, plan)
        timeline.store = self.store
        striking.settle()
        oldest = side.fresh().oldest()
        assert oldest <= max(plan.oldest, min(side.model.past) if min(side.model.past) > 1 else 0)
        side.model.past = {number: keys for number, keys in side.model.past.items() if number >= oldest}

    @rule(who=WHO, data=st.data())
    def restore_a_revision(self, who: int, data: st.DataObject) -> None:
        side = self.side(who)
        timeline = side.timelines[who % PROCESSES]
        revision = data.draw(st.sampled_from(sorted(side.model.past)))
        plan = plan_restore(timeline, revision)
        assert [step.revision for step in plan.undone] == list(range(revision + 1, side.head() + 1))
        restore(timeline, plan, clock=self.clock, uuids=self.uuids)
        origins = dict(
            zip(
                plan.target.table("h2o").parts["key"].to_pylist(),
                plan.target.table("h2o").parts["origin"].to_pylist(),
                strict=True,
            )
        )
        side.model.live = origins
        side.model.generations = {name: of.generation for name, of in plan.target.table("h2o").origins.items()}
        side.note(side.head() + 1)

    @rule(who=WHO, name=st.sampled_from(["level", "wind"]))
    def alter(self, who: int, name: str) -> None:
        side = self.side(who)
        before = side.timelines[who % PROCESSES].load().table("h2o").schema
        names = [column.name for column in before.columns]
        self.ids += 1
        after = (
            evolve.drop_column(before, name)
            if name in names
            else evolve.add_column(before, name, "int64", ids=lambda: self.ids)
        )
        assert self.attempt(who, Change(self.uuids(), (AlterTable(after),), (SchemaIs(before),)), None)
        side.note(side.head() + 1)

    @invariant()
    def a_new_reader_sees_the_model(self) -> None:
        for side in self.sides:
            head = side.fresh().load()
            assert head.revision == side.head()
            assert head.live_keys() == set(side.model.live)
            generations = {origin: state.generation for origin, state in head.table("h2o").origins.items()}
            assert generations == side.model.generations

    @invariant()
    def the_union_has_the_parts_of_both_writers(self) -> None:
        table = Catalog(self.store).view(database="weather").table(TableName("weather", "h2o"))
        assert set(table.parts["key"].to_pylist()) == {key for side in self.sides for key in side.model.live}

    @invariant()
    def every_file_that_some_revision_names_is_there(self) -> None:
        for side in self.sides:
            files = {info.key for info in self.store.list(f"{side.writer}/weather/data/")}
            assert frozenset().union(*side.model.past.values()) <= files


class TestRandomHistories(Histories.TestCase):  # type: ignore[valid-type,misc]
    settings = settings(
        max_examples=2_000,
        stateful_step_count=20,
        deadline=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.long
@pytest.mark.timeout(0)
class TestManyRandomHistories(Histories.TestCase):  # type: ignore[valid-type,misc]
    settings = settings(
        max_examples=100_000,
        stateful_step_count=25,
        deadline=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )
