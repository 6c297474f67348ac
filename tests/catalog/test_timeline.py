import logging
from dataclasses import replace

import pytest

from instar.catalog.actions import Transaction
from instar.catalog.apply import BrokenChain
from instar.catalog.checkpoint import store_checkpoint, write_checkpoint
from instar.catalog.encoding import encode_transaction
from instar.catalog.listing import LogListing
from instar.catalog.names import LogKind
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import DamagedTransaction, MissingRevision, Timeline, UnknownRevision
from instar.storage.faulty import FaultyStore
from tests.catalog.samples import Writer


def filled(additions: int = 4) -> Writer:
    """Return a writer whose revision 1 made a table, and whose every later one added a part."""
    writer = Writer()
    writer.create()
    for _ in range(additions):
        writer.add()
    return writer


def reopened(writer: Writer) -> Timeline:
    return Timeline(writer.store, "w1", "weather")


def key(writer: Writer, revision: int, kind: LogKind = LogKind.TRANSACTION) -> str:
    return writer.timeline.key(revision, kind)


def cut(writer: Writer, through: int) -> None:
    """Cut the log from its beginning, as pruning does."""
    for revision in range(1, through + 1):
        writer.store.delete([key(writer, revision)])


def test_a_timeline_that_has_not_begun_is_empty_at_revision_0() -> None:
    assert Writer().timeline.load() == Snapshot("w1", "weather")


def test_every_revision_can_be_travelled_to() -> None:
    writer = filled()
    sizes = [len(reopened(writer).load(revision).table("h2o").parts) for revision in (1, 2, 3, 4, 5)]
    assert sizes == [0, 1, 2, 3, 4]
    assert reopened(writer).load(0).tables == {}


def test_a_revision_that_is_not_there_yet_is_named() -> None:
    with pytest.raises(UnknownRevision, match=r"no revision 6\. Its newest revision is 5"):
        reopened(filled()).load(6)


def test_history_tells_each_step_in_order() -> None:
    writer = filled()
    history = reopened(writer).history()
    assert [step.revision for step in history] == [1, 2, 3, 4, 5]
    assert [step.data_change for step in history] == [False, True, True, True, True]
    times = [step.commit_time for step in history]
    assert times == sorted(set(times))
    assert [step.previous for step in history] == [None, *(step.uuid for step in history[:-1])]
    assert [step.revision for step in writer.timeline.history(after=3)] == [4, 5]


def test_loading_starts_from_the_newest_checkpoint_and_reads_the_tail_only() -> None:
    writer = filled()
    write_checkpoint(writer.timeline, writer.timeline.load(3))
    store = FaultyStore(writer.store)
    loaded = Timeline(store, "w1", "weather").load()
    assert loaded.equals(filled().timeline.load())
    assert [call for call in store.calls if call[0] == "get"] == [
        ("get", key(writer, 3, LogKind.CHECKPOINT)),
        ("get", key(writer, 4)),
        ("get", key(writer, 5)),
    ]


@pytest.mark.parametrize("damage", [b"", b"half of", b"\0" * 500])
def test_a_damaged_checkpoint_is_skipped_for_the_one_before_with_a_warning(
    damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    writer = filled()
    for revision in (2, 4):
        write_checkpoint(writer.timeline, writer.timeline.load(revision))
    writer.store.put(key(writer, 4, LogKind.CHECKPOINT), damage)
    store = FaultyStore(writer.store)
    with caplog.at_level(logging.WARNING):
        loaded = Timeline(store, "w1", "weather").load()
    assert loaded.equals(writer.timeline.load())
    assert ("get", key(writer, 2, LogKind.CHECKPOINT)) in store.calls
    assert key(writer, 4, LogKind.CHECKPOINT) in caplog.text


def test_a_checkpoint_of_another_revision_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    writer = filled()
    write_checkpoint(writer.timeline, writer.timeline.load(2))
    writer.store.put(key(writer, 4, LogKind.CHECKPOINT), writer.store.get(key(writer, 2, LogKind.CHECKPOINT)))
    assert reopened(writer).load().equals(writer.timeline.load())
    assert "belongs elsewhere" in caplog.text


def test_a_hole_in_the_log_is_named() -> None:
    writer = filled()
    writer.store.delete([key(writer, 3)])
    with pytest.raises(MissingRevision, match=r"Revision 3 is missing .* Restore .*03\.transaction"):
        reopened(writer).load()
    assert reopened(writer).load(2).revision == 2


def test_a_hole_before_a_checkpoint_does_not_matter() -> None:
    writer = filled()
    write_checkpoint(writer.timeline, writer.timeline.load(4))
    writer.store.delete([key(writer, 3)])
    assert reopened(writer).load().equals(writer.timeline.load())


def test_a_torn_newest_transaction_is_a_clear_error_and_leaves_the_past_readable() -> None:
    writer = filled()
    newest = key(writer, 5)
    writer.store.put(newest, writer.store.get(newest)[:-7])
    with pytest.raises(DamagedTransaction, match=r"Revision 5 of timeline w1/weather .* is damaged: .* Restore"):
        reopened(writer).load()
    assert reopened(writer).load(4).revision == 4


def test_a_transaction_in_the_place_of_another_is_noticed() -> None:
    writer = filled()
    writer.store.put(key(writer, 5), writer.store.get(key(writer, 4)))
    with pytest.raises(BrokenChain, match="holds revision 4"):
        reopened(writer).load()


def test_foreign_files_in_the_log_are_ignored() -> None:
    writer = filled()
    writer.store.put(key(writer, 9) + ".bak", b"x")
    writer.store.put("w1/weather/transactions/README", b"x")
    assert reopened(writer).load().revision == 5


def test_refreshing_reads_what_is_new_and_never_lists() -> None:
    writer = filled()
    store = FaultyStore(writer.store)
    timeline = Timeline(store, "w1", "weather")
    old = timeline.load()
    writer.add()
    store.calls.clear()
    assert timeline.refresh(old).equals(writer.timeline.load())
    assert store.calls == [("get", key(writer, 6)), ("get", key(writer, 7)), ("get", key(writer, 5))]


def test_a_cut_log_loads_from_its_checkpoint_and_says_what_it_no_longer_keeps() -> None:
    writer = filled()
    write_checkpoint(writer.timeline, writer.timeline.load(4))
    newest = writer.timeline.load()
    cut(writer, 3)
    assert reopened(writer).load().equals(newest)
    with pytest.raises(UnknownRevision, match=r"no longer keeps revision 2\. The oldest that it keeps is 4"):
        reopened(writer).load(2)
    assert [step.revision for step in reopened(writer).history()] == [4, 5]


@pytest.mark.parametrize("stale_revision", [0, 1, 2])
def test_a_reader_that_slept_through_a_cut_does_not_take_the_cut_for_the_end(stale_revision: int) -> None:
    writer = filled()
    stale = writer.timeline.load(stale_revision)
    write_checkpoint(writer.timeline, writer.timeline.load(4))
    cut(writer, 4)
    assert reopened(writer).refresh(stale).revision == 5


@pytest.mark.parametrize(("stale_revision", "through"), [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4)])
def test_a_reader_that_slept_through_a_cut_does_not_believe_a_late_committers_leftover(
    stale_revision: int, through: int
) -> None:
    writer = filled()
    stale = writer.timeline.load(stale_revision)
    newest = writer.timeline.load()
    write_checkpoint(writer.timeline, writer.timeline.load(4))
    cut(writer, through)
    leftover = Transaction(stale.revision + 1, writer.uuids(), stale.uuid, 9, ())
    writer.store.put_if_absent(key(writer, leftover.revision), encode_transaction(leftover))
    assert reopened(writer).refresh(stale).equals(newest)
    assert reopened(writer).load().equals(newest)


def test_only_the_newest_transactions_without_a_gap_count() -> None:
    assert LogListing((), ()).suffix == ()
    assert LogListing((1, 2, 3), ()).suffix == (1, 2, 3)
    assert LogListing((1, 4, 5), (4,)).suffix == (4, 5)
    assert LogListing((7,), ()).suffix == (7,)


def test_logs_of_others_are_not_read() -> None:
    writer = filled()
    assert Timeline(writer.store, "w", "weather").load().revision == 0
    assert Timeline(writer.store, "w1", "weath").load().revision == 0


@pytest.mark.parametrize("revision", [5, 3])
def test_a_checkpoint_that_the_log_did_not_go_through_is_skipped(
    revision: int, caplog: pytest.LogCaptureFixture
) -> None:
    writer = filled()
    expected = writer.timeline.load()
    store_checkpoint(writer.timeline, replace(writer.timeline.load(revision), uuid=writer.uuids(), tables={}))
    assert reopened(writer).load().equals(expected)
    assert revision == 3 or "went another way" in caplog.text


def test_a_checkpoint_ahead_of_the_log_counts_for_nothing() -> None:
    writer = filled()
    expected = writer.timeline.load()
    store_checkpoint(writer.timeline, replace(expected, revision=6, uuid=writer.uuids(), tables={}))
    assert reopened(writer).load().equals(expected)
    assert Writer(writer.store, seed=9).add().revision == 6
    assert len(reopened(writer).load().live_keys()) == 5
