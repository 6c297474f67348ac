import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from instar.catalog.actions import AddParts, Collect, CreateTable, RemoveParts, SetFlags, Transaction
from instar.catalog.apply import TransactionCollected
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import Change, CommitConflict, OutcomeUnknown, SlotWasCut, commit
from instar.catalog.encoding import encode_transaction
from instar.catalog.names import LogKind
from instar.catalog.preconditions import FlagsVersion, PartsLive, TableAbsent
from instar.catalog.timeline import Timeline
from instar.flags import Flags, WriteFormat
from instar.storage.faulty import Crashed, Fault, FaultKind, FaultyStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import DidNotHappen, MayHaveHappened, NotFound, ObjectInfo, Store
from tests.catalog.samples import Ticks, Writer, numbered_uuids, part_rows, schema


def rival(writer: Writer, seed: int = 99) -> Writer:
    """Return another process on the same lake, which has seen what there is now."""
    other = Writer(writer.store, seed=seed)
    other.timeline.load()
    return other


def begun(store: Store | None = None) -> Writer:
    writer = Writer(store)
    writer.create()
    return writer


def test_a_commit_is_what_the_next_reader_sees() -> None:
    writer = begun()
    committed = writer.add(2)
    assert (committed.revision, committed.already) == (2, False)
    assert Timeline(writer.store, "w1", "weather").load().equals(committed.snapshot)


def test_commit_times_grow_even_when_the_clock_goes_back() -> None:
    writer = begun()
    first = writer.add().snapshot.commit_time
    writer.clock.now = 5
    second = writer.add().snapshot.commit_time
    assert second == first + 1
    writer.clock.now = first + 1000
    assert writer.add().snapshot.commit_time == first + 1001


def test_a_checkpoint_is_due_at_every_hundredth_revision() -> None:
    writer = begun()
    due = [committed.revision for _ in range(205) if (committed := writer.add()).due.checkpoint]
    assert due == [100, 200]


def test_a_commit_costs_the_same_however_long_the_log_is() -> None:
    store = FaultyStore(MemoryStore())
    writer = begun(store)
    costs = []
    for _ in range(30):
        store.calls.clear()
        writer.add()
        costs.append([operation for operation, _ in store.calls])
    assert costs == [["put_if_absent", "get"]] * 30


def test_a_loser_rebases_and_nothing_is_lost() -> None:
    writer = begun()
    other = rival(writer)
    first = writer.add()
    second = other.add()
    assert (first.revision, second.revision) == (2, 3)
    assert len(writer.keys()) == 2


@pytest.mark.parametrize("committers", [2, 6])
def test_committers_that_race_for_each_revision_all_get_in(store: Store, committers: int) -> None:
    begun(store)
    each = 5
    start = threading.Barrier(committers)

    def work(seed: int) -> list[str]:
        writer = Writer(store, seed=seed)
        start.wait()
        return [key for _ in range(each) for key in added_keys(writer)]

    with ThreadPoolExecutor(committers) as pool:
        written = [key for keys in pool.map(work, range(1, committers + 1)) for key in keys]
    head = Timeline(store, "w1", "weather").load()
    assert head.revision == 1 + committers * each
    assert sorted(head.table("h2o").parts["key"].to_pylist()) == sorted(written)


def added_keys(writer: Writer) -> list[str]:
    uuid = writer.uuids()
    rows = part_rows(uuid)
    writer.commit(AddParts("h2o", rows), uuid=uuid)
    keys: list[str] = rows["key"].to_pylist()
    return keys


def test_of_two_that_create_one_table_the_second_is_told(store: Store) -> None:
    writer, other = Writer(store), Writer(store, seed=1)
    other.timeline.load()
    writer.create()
    with pytest.raises(CommitConflict, match=r"weather\.h2o exists already"):
        other.create()
    with pytest.raises(CommitConflict, match=r"Table 'h2o' exists\. \(Revision 1\.\)"):
        other.commit(CreateTable(schema()), expect=(TableAbsent("h2o"),))


def test_of_two_compactions_of_one_part_the_second_is_told() -> None:
    writer = begun()
    writer.add(2)
    other = rival(writer)
    keys = tuple(writer.keys())
    writer.compact(keys[:1], [("", 0)])
    with pytest.raises(CommitConflict, match=f"no live part {keys[0]}"):
        other.compact(keys, [("", 0)])
    assert len(writer.keys()) == 2


def test_preconditions_are_checked_again_on_the_revision_that_won() -> None:
    writer = begun()
    writer.add()
    other = rival(writer)
    (key,) = writer.keys()
    uuid = other.uuids()
    planned = Change(uuid, (AddParts("h2o", part_rows(uuid)),), (PartsLive("h2o", (key,)), FlagsVersion("h2o", 0)))
    stale = other.timeline.load()
    writer.commit(SetFlags("h2o", Flags(WriteFormat.DUAL), 1))
    assert stale.table("h2o").flags_version == 0
    with pytest.raises(CommitConflict, match="flags of 'h2o' went from version 0 to 1"):
        commit(other.timeline, planned, clock=other.clock)
    writer.commit(RemoveParts("h2o", (key,)))
    with pytest.raises(CommitConflict, match=f"{key} of 'h2o' is no longer live"):
        commit(other.timeline, Change(uuid, planned.actions, planned.expect[:1]), clock=other.clock)


def test_a_precondition_that_breaks_between_the_look_and_the_put_is_noticed() -> None:
    writer = begun()

    def meanwhile() -> None:
        writer.commit(SetFlags("h2o", Flags(WriteFormat.DUAL), 1))

    other = Writer(Meanwhile(writer.store, meanwhile), seed=1)
    uuid = other.uuids()
    with pytest.raises(CommitConflict, match="flags"):
        other.commit(AddParts("h2o", part_rows(uuid)), uuid=uuid, expect=(FlagsVersion("h2o", 0),))
    assert writer.keys() == []


class Meanwhile(FaultyStore):
    """Let something happen right before the first put-if-absent."""

    def __init__(self, inner: Store, happen: Callable[[], object]) -> None:
        super().__init__(inner)
        self._happen: Callable[[], object] | None = happen

    def put_if_absent(self, key: str, data: bytes) -> None:
        happen, self._happen = self._happen, None
        if happen:
            happen()
        super().put_if_absent(key, data)


def faulty(writer: Writer, *faults: Fault, seed: int = 1) -> Writer:
    return Writer(FaultyStore(writer.store, faults, pause=lambda _: None), seed=seed)


def test_a_lost_reply_is_resolved_by_reading_the_slot() -> None:
    writer = begun()
    committed = faulty(writer, Fault("put_if_absent", 1, FaultKind.FAIL_AFTER)).add()
    assert (committed.revision, committed.already) == (2, False)
    assert len(writer.keys()) == 1


def test_a_lost_reply_to_a_put_that_another_had_won_is_a_rebase() -> None:
    writer = begun()
    mute = FaultyStore(writer.store, [Fault("put_if_absent", 1, FaultKind.FAIL_AFTER)])
    assert Writer(Meanwhile(mute, writer.add), seed=1).add().revision == 3
    assert len(writer.keys()) == 2


def test_a_refusal_by_our_own_repeated_request_is_a_commit() -> None:
    class Repeating(FaultyStore):
        def put_if_absent(self, key: str, data: bytes) -> None:
            super().put_if_absent(key, data)
            super().put_if_absent(key, data)

    writer = begun()
    assert Writer(Repeating(writer.store), seed=1).add().revision == 2
    assert len(writer.keys()) == 1


def test_a_lost_request_is_repeated_into_the_same_slot() -> None:
    class Losing(FaultyStore):
        lost: tuple[str, bytes] | None = None

        def put_if_absent(self, key: str, data: bytes) -> None:
            if self.lost is None:
                self.lost = (key, data)
                raise_lost(key)
            assert (key, data) == self.lost
            super().put_if_absent(key, data)

    writer = begun()
    assert Writer(Losing(writer.store), seed=1).add().revision == 2
    assert len(writer.keys()) == 1


def raise_lost(key: str) -> None:
    raise MayHaveHappened(f"No reply to {key}.")


def test_a_slot_that_stays_empty_without_a_reply_leaves_the_outcome_unknown() -> None:
    class Mute(FaultyStore):
        def put_if_absent(self, key: str, data: bytes) -> None:
            raise_lost(key)

    writer = begun()
    with pytest.raises(OutcomeUnknown, match=r"may be revision 2, or may become it.*Delete nothing"):
        Writer(Mute(writer.store), seed=1).add()


def test_a_lost_reply_whose_slot_can_not_be_read_leaves_the_outcome_unknown() -> None:
    writer = begun()
    other = faulty(writer, Fault("put_if_absent", 1, FaultKind.FAIL_AFTER), Fault("get", 2, FaultKind.FAIL_BEFORE))
    with pytest.raises(OutcomeUnknown):
        other.add()
    assert len(writer.keys()) == 1


def test_a_put_that_did_not_happen_is_no_commit_and_says_so() -> None:
    writer = begun()
    with pytest.raises(DidNotHappen):
        faulty(writer, Fault("put_if_absent", 1, FaultKind.FAIL_BEFORE)).add()
    assert writer.keys() == []


class Asleep(FaultyStore):
    """Show the log as it was when it ended at `head`, until the first put-if-absent; right before it, wake up."""

    def __init__(self, inner: Store, head: int) -> None:
        super().__init__(inner)
        self._head: int | None = head

    def get(self, key: str) -> bytes:
        if self._is_later(key):
            raise NotFound(f"{key} comes later.")
        return super().get(key)

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        return (info for info in super().list(prefix, start_after) if not self._is_later(info.key))

    def put_if_absent(self, key: str, data: bytes) -> None:
        self._head = None
        self.on_waking()
        super().put_if_absent(key, data)

    def on_waking(self) -> None:
        """Do what happened meanwhile."""

    def _is_later(self, key: str) -> bool:
        return self._head is not None and int(key.rpartition("/")[2].split(".")[0]) > self._head


def cut(writer: Writer, through: int) -> None:
    """Write a checkpoint and cut the log before it, as pruning does."""
    write_checkpoint(writer.timeline, writer.timeline.load(through))
    writer.store.delete(writer.timeline.key(number, LogKind.TRANSACTION) for number in range(1, through + 1))


@pytest.mark.parametrize(("head", "through"), [(0, 1), (0, 4), (1, 2), (1, 4), (2, 4), (3, 4)])
def test_a_committer_that_slept_through_a_cut_is_told_that_it_did_not_commit(head: int, through: int) -> None:
    writer = begun()
    for _ in range(4):
        writer.add()
    newest = writer.timeline.load()

    class CutMeanwhile(Asleep):
        def on_waking(self) -> None:
            cut(writer, through)

    with pytest.raises(SlotWasCut, match=f"Revision {head + 1} .* nothing was committed"):
        Writer(CutMeanwhile(writer.store, head), seed=1).create("air")
    assert Timeline(writer.store, "w1", "weather").load().equals(newest)


def test_a_committer_is_not_deceived_by_what_another_late_one_left_before_its_slot() -> None:
    writer = begun()
    for _ in range(4):
        writer.add()
    first = writer.timeline.load(1)

    class CutAndRefilled(Asleep):
        def on_waking(self) -> None:
            cut(writer, 4)
            leftover = Transaction(2, writer.uuids(), first.uuid, 9, ())
            writer.store.put_if_absent(writer.timeline.key(2, LogKind.TRANSACTION), encode_transaction(leftover))

    with pytest.raises(SlotWasCut):
        Writer(CutAndRefilled(writer.store, 2), seed=1).create("air")


def test_two_that_begin_a_timeline_and_go_on_are_not_mistaken_for_a_cut() -> None:
    writer = Writer()

    class Slow(FaultyStore):
        def put_if_absent(self, key: str, data: bytes) -> None:
            super().put_if_absent(key, data)
            if key.endswith("1.transaction"):
                writer.create("air")

    assert Writer(Slow(writer.store), seed=1).create().revision == 1
    assert sorted(writer.timeline.load().tables) == ["air", "h2o"]


def test_a_collected_transaction_is_refused_whoever_comes_first() -> None:
    writer = begun()
    other = rival(writer)
    uuid = other.uuids()
    writer.commit(Collect((uuid,)))
    with pytest.raises(TransactionCollected):
        other.commit(AddParts("h2o", part_rows(uuid)), uuid=uuid)
    assert writer.keys() == []


def test_a_crash_after_the_put_leaves_a_whole_commit() -> None:
    writer = begun()
    with pytest.raises(Crashed):
        faulty(writer, Fault("put_if_absent", 1, FaultKind.CRASH_AFTER)).add()
    assert len(writer.keys()) == 1


def test_uuids_and_clock_come_from_outside() -> None:
    def run() -> bytes:
        writer = Writer(seed=7, clock=Ticks(50))
        writer.create()
        return writer.store.get(writer.timeline.key(1, LogKind.TRANSACTION))

    assert run() == run()
    assert numbered_uuids(7)() != numbered_uuids(8)()
