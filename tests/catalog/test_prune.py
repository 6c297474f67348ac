from dataclasses import replace

import pytest

from instar.catalog.actions import AddParts
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import SlotWasCut, maintenance_due
from instar.catalog.names import LogKind
from instar.catalog.orphans import plan_orphans, sweep
from instar.catalog.prune import PrunePlan, StalePlan, plan_prune, prune
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline, UnknownRevision
from instar.storage.faulty import FaultyStore
from instar.storage.protocol import Store
from tests.catalog.samples import HOUR, Writer, part_rows


def filled(checkpoints: tuple[int, ...] = (3, 6, 9)) -> Writer:
    """Return a writer with ten revisions, an hour apart; the part of revision 2 is removed at 5."""
    writer = Writer()
    writer.create()
    first = writer.add(upload=True).snapshot.table("h2o").parts["key"].to_pylist()
    for number in range(3, 11):
        writer.clock.now += HOUR
        if number == 5:
            writer.compact(first, [("", 0)])
        else:
            writer.add(upload=True)
    for revision in checkpoints:
        write_checkpoint(writer.timeline, writer.timeline.load(revision))
    return writer


def plan(writer: Writer, hours: float) -> PrunePlan:
    return plan_prune(writer.timeline, now=writer.clock.now, horizon=int(hours * HOUR))


def test_history_before_the_horizon_goes_and_each_later_revision_stays() -> None:
    writer = filled()
    states = {number: writer.timeline.load(number) for number in range(6, 11)}
    planned = plan(writer, 3.5)
    assert (planned.oldest, planned.kept_checkpoints) == (6, (6, 9))
    assert (planned.transactions, planned.checkpoints) == ((1, 2, 3, 4, 5), (3,))
    prune(writer.timeline, planned)
    fresh = Timeline(writer.store, "w1", "weather")
    assert all(fresh.load(number).equals(state) for number, state in states.items())
    assert fresh.oldest() == 6
    with pytest.raises(UnknownRevision, match=r"no longer keeps revision 5\. The oldest that it keeps is 6"):
        fresh.load(5)
    with pytest.raises(UnknownRevision, match=r"at that time\. The oldest revision that it keeps is 6"):
        fresh.revision_at(0)


def test_planning_deletes_nothing() -> None:
    writer = filled()
    before = [info.key for info in writer.store.list("")]
    plan(writer, 0)
    assert [info.key for info in writer.store.list("")] == before


def test_two_good_checkpoints_stay_even_if_the_horizon_is_nothing() -> None:
    writer = filled()
    planned = plan(writer, 0)
    assert (planned.oldest, planned.kept_checkpoints, planned.reason) == (6, (6, 9), "two checkpoints have to stay")


def test_a_damaged_checkpoint_does_not_count() -> None:
    writer = filled()
    writer.store.put(writer.timeline.key(9, LogKind.CHECKPOINT), b"torn")
    assert plan(writer, 0).oldest == 3


@pytest.mark.parametrize("checkpoints", [(), (3,)])
def test_without_two_checkpoints_nothing_goes(checkpoints: tuple[int, ...]) -> None:
    assert plan(filled(checkpoints), 0).empty


def test_what_lies_before_a_hole_stays_while_there_are_not_two_checkpoints() -> None:
    writer = filled((9,))
    writer.store.delete([writer.timeline.key(3, LogKind.TRANSACTION)])
    assert plan(writer, 0).empty


def test_a_checkpoint_that_the_log_does_not_lead_to_stops_the_plan() -> None:
    writer = filled()
    wrong = writer.timeline.load(9)
    write_checkpoint(writer.timeline, replace(wrong, tables={}))
    with pytest.raises(StalePlan, match=r"revision 9 .* is not what the log leads to"):
        plan(writer, 3.5)


def test_a_plan_whose_checkpoint_was_damaged_since_is_not_carried_out() -> None:
    writer = filled()
    planned = plan(writer, 3.5)
    writer.store.put(writer.timeline.key(6, LogKind.CHECKPOINT), b"torn")
    with pytest.raises(StalePlan, match="revision 6"):
        prune(writer.timeline, planned)
    assert writer.timeline.listing().transactions[0] == 1


def test_transactions_go_one_by_one_from_the_oldest() -> None:
    writer = filled()
    store = FaultyStore(writer.store)
    prune(Timeline(store, "w1", "weather"), plan(writer, 3.5))
    deleted = [key for operation, key in store.calls if operation == "delete"]
    assert deleted[:5] == [writer.timeline.key(number, LogKind.TRANSACTION) for number in range(1, 6)]


def test_a_removed_part_lives_as_long_as_a_revision_before_its_removal_is_retained() -> None:
    writer = filled()
    (removed,) = writer.timeline.load(4).live_keys() - writer.timeline.load(5).live_keys()
    assert plan_orphans(writer.timeline, now=2**62).orphans == ()
    prune(writer.timeline, plan(writer, 6.5))
    assert writer.timeline.oldest() == 3
    assert plan_orphans(writer.timeline, now=2**62).orphans == ()
    prune(writer.timeline, plan(writer, 3.5))
    planned = plan_orphans(writer.timeline, now=2**62)
    assert [orphan.key for orphan in planned.orphans] == [removed]
    sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    left = {info.key for info in writer.store.list("w1/weather/data/")}
    assert removed not in left
    assert left <= writer.timeline.load().live_keys()


@pytest.mark.parametrize("head", [1, 2, 4])
def test_a_committer_that_slept_through_pruning_does_not_commit_into_the_hole(head: int) -> None:
    writer = filled()

    class Asleep(FaultyStore):
        def put_if_absent(self, key: str, data: bytes) -> None:
            prune(writer.timeline, plan(writer, 3.5))
            super().put_if_absent(key, data)

    class Stale(Timeline):
        def load(self, revision: int | None = None) -> Snapshot:
            return writer.timeline.load(head)

    sleeper = Writer(Asleep(writer.store), seed=4)
    sleeper.timeline = Stale(sleeper.store, "w1", "weather")
    newest = writer.timeline.load()
    uuid = sleeper.uuids()
    with pytest.raises(SlotWasCut, match="nothing was committed"):
        sleeper.commit(AddParts("h2o", part_rows(uuid)), uuid=uuid)
    assert Timeline(writer.store, "w1", "weather").load().equals(newest)


def test_pruning_on_every_store(store: Store) -> None:
    writer = Writer(store)
    writer.create()
    for _ in range(5):
        writer.add()
    for revision in (2, 4, 6):
        write_checkpoint(writer.timeline, writer.timeline.load(revision))
    newest = writer.timeline.load()
    prune(writer.timeline, plan_prune(writer.timeline, now=2**62))
    assert Timeline(store, "w1", "weather").load().equals(newest)
    assert Timeline(store, "w1", "weather").oldest() == 4


def test_a_commit_says_when_a_checkpoint_and_pruning_are_due() -> None:
    assert not maintenance_due(99).any
    assert maintenance_due(100).checkpoint
    assert not maintenance_due(200).prune
    assert maintenance_due(300).prune
