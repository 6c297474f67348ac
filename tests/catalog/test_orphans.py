import threading
from uuid import UUID

import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts
from instar.catalog.apply import TransactionCollected
from instar.catalog.orphans import ForeignPlan, ImplausibleSweep, OrphanPlan, Reason, plan_orphans, sweep
from instar.catalog.timeline import DamagedTransaction, Timeline
from instar.storage.faulty import Fault, FaultKind, FaultyStore
from instar.storage.protocol import MayHaveHappened, Store
from tests.catalog.samples import HOUR, Writer, part_rows


def begun() -> Writer:
    writer = Writer()
    writer.create()
    writer.add(2, upload=True)
    return writer


def plan(writer: Writer, *, hours: int = 48) -> OrphanPlan:
    return plan_orphans(writer.timeline, now=writer.clock.now + hours * HOUR)


def leave(writer: Writer, count: int = 1) -> list[str]:
    """Upload parts of a transaction that is never committed."""
    rows = part_rows(writer.uuids(), count)
    writer.upload(rows)
    keys: list[str] = rows["key"].to_pylist()
    return keys


def files(writer: Writer) -> set[str]:
    return {info.key for info in writer.store.list("w1/weather/data/")}


def test_what_was_never_committed_is_found_and_deleted() -> None:
    writer = begun()
    live = files(writer)
    left = leave(writer, 3)
    planned = plan(writer)
    assert [orphan.key for orphan in planned.orphans] == sorted(left)
    assert {orphan.reason for orphan in planned.orphans} == {Reason.NEVER_COMMITTED}
    assert (planned.files, planned.bytes, planned.revision) == (5, 12, 2)
    result = sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids, most_share=1)
    assert (result.deleted, result.survivors, result.bytes, result.revision) == (planned.orphans, (), 12, 3)
    assert files(writer) == live


def test_planning_deletes_nothing() -> None:
    writer = begun()
    leave(writer)
    before = files(writer)
    plan(writer)
    assert files(writer) == before
    assert writer.timeline.load().revision == 2


def test_a_file_inside_the_grace_is_left_alone() -> None:
    writer = begun()
    leave(writer)
    planned = plan(writer, hours=23)
    assert (planned.orphans, planned.young) == ((), 1)


def test_parts_that_any_retained_revision_names_are_no_orphans() -> None:
    writer = begun()
    writer.compact(writer.keys(), [("", 0)])
    assert plan(writer).orphans == ()


def test_a_leftover_of_another_attempt_is_an_orphan_beside_its_committed_transaction() -> None:
    writer = begun()
    uuid = writer.uuids()
    writer.upload(part_rows(uuid, attempt=0))
    rows = part_rows(uuid, attempt=1)
    writer.upload(rows)
    writer.commit(AddParts("h2o", rows), uuid=uuid)
    (orphan,) = plan(writer).orphans
    assert (orphan.transaction, orphan.reason) == (uuid, Reason.LEFT_OVER)
    sweep(writer.timeline, plan(writer), clock=writer.clock, uuids=writer.uuids)
    assert set(rows["key"].to_pylist()) < files(writer)
    assert plan(writer).orphans == ()


def test_foreign_files_are_reported_and_never_touched() -> None:
    writer = begun()
    foreign = ["w1/weather/data/-/h2o/notes.txt", "w1/weather/data/_SUCCESS"]
    elsewhere = [
        f"w1/weather2/data/-/h2o/{writer.uuids()}-0-00000.parquet",
        f"w10/weather/data/-/h2o/{writer.uuids()}-0-00000.parquet",
    ]
    for key in (*foreign, *elsewhere):
        writer.store.put(key, b"precious")
    leave(writer)
    planned = plan(writer)
    assert planned.foreign == tuple(sorted(foreign))
    assert len(planned.orphans) == 1
    sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    for key in (*foreign, *elsewhere):
        assert writer.store.get(key) == b"precious"


def test_a_paused_writer_that_wakes_up_after_the_sweep_is_refused() -> None:
    writer = begun()
    paused = Writer(writer.store, seed=1)
    paused.timeline.load()
    uuid = paused.uuids()
    rows = part_rows(uuid)
    paused.upload(rows)
    sweep(writer.timeline, plan(writer), clock=writer.clock, uuids=writer.uuids)
    with pytest.raises(TransactionCollected):
        paused.commit(AddParts("h2o", rows), uuid=uuid)
    assert set(writer.keys()) <= files(writer)


def test_a_paused_writer_that_commits_between_plan_and_sweep_keeps_its_parts() -> None:
    writer = begun()
    paused = Writer(writer.store, seed=1)
    uuid = paused.uuids()
    rows = part_rows(uuid)
    paused.upload(rows)
    others = leave(writer)
    planned = plan(writer)
    paused.commit(AddParts("h2o", rows), uuid=uuid)
    result = sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    assert [orphan.key for orphan in result.survivors] == rows["key"].to_pylist()
    assert [orphan.key for orphan in result.deleted] == others
    assert set(writer.keys()) == files(writer)
    assert uuid not in writer.timeline.load().collected


def test_a_paused_writer_that_commits_right_before_the_fence_keeps_its_parts() -> None:
    writer = begun()
    paused = Writer(writer.store, seed=1)
    uuid = paused.uuids()
    rows = part_rows(uuid)
    paused.upload(rows)
    planned = plan(writer)

    class CommitBeforeFence(FaultyStore):
        def put_if_absent(self, key: str, data: bytes) -> None:
            if not paused.keys()[2:]:
                paused.commit(AddParts("h2o", rows), uuid=uuid)
            super().put_if_absent(key, data)

    sweeper = Timeline(CommitBeforeFence(writer.store), "w1", "weather")
    result = sweep(sweeper, planned, clock=writer.clock, uuids=writer.uuids)
    assert (result.deleted, len(result.survivors), result.revision) == ((), 1, 4)
    assert set(writer.keys()) == files(writer)


def test_a_sweep_that_died_before_it_deleted_is_finished_by_the_next_one() -> None:
    writer = begun()
    live = files(writer)
    leave(writer)
    dying: Store = FaultyStore(writer.store, [Fault("delete", 1, FaultKind.FAIL_BEFORE)])
    with pytest.raises(Exception, match="as planned"):
        sweep(Timeline(dying, "w1", "weather"), plan(writer), clock=writer.clock, uuids=writer.uuids)
    again = plan(writer)
    assert [orphan.reason for orphan in again.orphans] == [Reason.COLLECTED]
    result = sweep(writer.timeline, again, clock=writer.clock, uuids=writer.uuids)
    assert (len(result.deleted), result.revision) == (1, 3)
    assert files(writer) == live


def test_a_sweep_whose_deletions_have_no_reply_can_be_repeated() -> None:
    writer = begun()
    live = files(writer)
    leave(writer)
    planned = plan(writer)
    mute = FaultyStore(writer.store, [Fault("delete", 1, FaultKind.FAIL_AFTER)])
    with pytest.raises(MayHaveHappened):
        sweep(Timeline(mute, "w1", "weather"), planned, clock=writer.clock, uuids=writer.uuids)
    sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    assert files(writer) == live


def test_a_damaged_log_is_not_swept() -> None:
    writer = begun()
    leave(writer)
    key = "w1/weather/transactions/00000000000000000001.transaction"
    writer.store.put(key, writer.store.get(key)[:-1])
    with pytest.raises(DamagedTransaction):
        plan(writer)


def test_a_plan_is_carried_out_on_its_own_timeline_only() -> None:
    writer = begun()
    leave(writer)
    with pytest.raises(ForeignPlan):
        sweep(Timeline(writer.store, "w2", "weather"), plan(writer), clock=writer.clock, uuids=writer.uuids)


def test_an_empty_plan_commits_nothing() -> None:
    writer = begun()
    result = sweep(writer.timeline, plan(writer), clock=writer.clock, uuids=writer.uuids)
    assert (result.deleted, result.revision) == ((), 2)


def test_a_plan_that_would_delete_most_of_a_namespace_has_to_be_asked_for() -> None:
    writer = begun()
    leave(writer, 3)
    before = files(writer)
    planned = plan(writer)
    assert planned.share == pytest.approx(0.6)
    with pytest.raises(ImplausibleSweep, match=r"delete 3 of 5 files .* more than 50%"):
        sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    assert files(writer) == before
    assert writer.timeline.load().revision == 2
    sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids, most_share=0.6)
    assert len(files(writer)) == 2


def test_a_hundred_sweeps_that_race_commits_never_take_a_committed_part() -> None:
    for seed in range(100):
        writer = begun()
        racer = Writer(writer.store, seed=seed + 1)
        uuid = racer.uuids()
        rows = part_rows(uuid, 2)
        racer.upload(rows)
        decoys = [f"{key}.tmp" for key in rows["key"].to_pylist()] + [f"w1/weather/data/{uuid}-0-00000.parquet"]
        for decoy in decoys:
            writer.store.put(decoy, b"decoy")
        leave(writer, 2)
        planned = plan(writer)
        outcomes: list[str] = []

        def commit_it(
            racer: Writer = racer, rows: pa.Table = rows, uuid: UUID = uuid, outcomes: list[str] = outcomes
        ) -> None:
            try:
                racer.commit(AddParts("h2o", rows), uuid=uuid)
                outcomes.append("committed")
            except TransactionCollected:
                outcomes.append("refused")

        threads = [
            threading.Thread(target=commit_it),
            threading.Thread(
                target=lambda: sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids, most_share=1)  # noqa: B023
            ),
        ]
        for thread in threads if seed % 2 else reversed(threads):
            thread.start()
        for thread in threads:
            thread.join()
        assert set(writer.keys()) <= files(writer)
        assert (len(writer.keys()) == 4) == (outcomes == ["committed"])
        assert set(decoys) <= files(writer)


@pytest.mark.parametrize(
    "key",
    [
        "w1/weather/data/-/h%32o/{}-0-00000.parquet",  # not how the name h2o is spelled
        "w1/weather/data/-/h2o/{}-0-00000.parquet/x",  # below what looks like a part
        "w1/weather/data/h2o/{}-0-00000.parquet",  # without its partition
        "w1/weather/data/-/h2o/deep/{}-0-00000.parquet",
        "w1/weather/data/-/h2o/{}-0-00000.parquet.crc",
        "w9/weather/data/-/h2o/{}-0-00000.parquet",  # of a writer without a log
        "w1%2Fweather/data/-/h2o/{}-0-00000.parquet",
        "w1/weather%2Fdata/-/h2o/{}-0-00000.parquet",
        "w1/weather/datax/-/h2o/{}-0-00000.parquet",
    ],
)
def test_a_file_that_is_not_spelled_like_a_part_of_this_timeline_is_not_deleted(key: str) -> None:
    writer = begun()
    foreign = key.format(writer.uuids())
    writer.store.put(foreign, b"precious")
    leave(writer)
    planned = plan(writer)
    assert foreign not in [orphan.key for orphan in planned.orphans]
    sweep(writer.timeline, planned, clock=writer.clock, uuids=writer.uuids)
    assert writer.store.get(foreign) == b"precious"
