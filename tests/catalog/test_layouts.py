"""Names of transactions, with and without put-if-absent, and what a fork looks like in each."""

import pytest

from instar.catalog.actions import CreateTable, Transaction
from instar.catalog.apply import BrokenChain
from instar.catalog.commit import Change, commit
from instar.catalog.encoding import encode_transaction
from instar.catalog.listing import ForkedLog
from instar.catalog.names import LogKind, NameLayout, log_key
from instar.catalog.timeline import NotSingleProcess, Timeline
from instar.storage.faulty import OverwritingStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store
from tests.catalog.samples import Ticks, numbered_uuids, schema

UUIDS = numbered_uuids(21)


def alone(store: Store) -> Timeline:
    return Timeline(store, "w1", "weather", single_process=True)


def create(timeline: Timeline, table: str) -> int:
    return commit(timeline, Change(UUIDS(), (CreateTable(schema(table)),)), clock=Ticks()).revision


def test_a_single_process_needs_no_put_if_absent_and_its_names_carry_the_uuid() -> None:
    store = OverwritingStore(MemoryStore())
    timeline = alone(store)
    assert [create(timeline, table) for table in ("a", "b", "c")] == [1, 2, 3]
    names = [info.key.rpartition("/")[2] for info in store.list("w1/")]
    assert all(len(name.split(".")) == 3 for name in names)
    assert not any(operation == "put_if_absent" for operation, _ in store.calls)
    reader = Timeline(store, "w1", "weather")
    assert sorted(reader.load().tables) == ["a", "b", "c"]
    assert reader.layout is NameLayout.REVISION_AND_UUID


def test_another_process_must_say_that_it_is_alone() -> None:
    store = MemoryStore()
    create(alone(store), "a")
    with pytest.raises(NotSingleProcess, match="single_process=True"):
        create(Timeline(store, "w1", "weather"), "b")
    assert create(alone(store), "b") == 2


def test_the_first_transaction_fixes_the_layout() -> None:
    store = MemoryStore()
    create(Timeline(store, "w1", "weather"), "a")
    assert create(alone(store), "b") == 2
    assert alone(store).layout is NameLayout.REVISION


def test_a_fork_of_names_with_uuids_is_refused_by_both_names() -> None:
    store = OverwritingStore(MemoryStore())
    timeline = alone(store)
    create(timeline, "a")
    create(timeline, "b")
    first = timeline.load(1)
    rival = Transaction(2, UUIDS(), first.uuid, 99, (CreateTable(schema("c")),))
    key = log_key("w1", "weather", 2, LogKind.TRANSACTION, rival.uuid)
    store.put(key, encode_transaction(rival))
    for attempt in (lambda: Timeline(store, "w1", "weather").load(), lambda: create(alone(store), "d")):
        with pytest.raises(ForkedLog, match=rf"{str(rival.uuid)[:8]}\.transaction.*revision 2 was written twice"):
            attempt()


def test_a_second_process_that_broke_the_promise_is_noticed_by_the_put_itself() -> None:
    store = OverwritingStore(MemoryStore())
    create(alone(store), "a")
    here, there = alone(store), alone(store)
    here.load()
    there.load()

    class Meanwhile(OverwritingStore):
        def put(self, key: str, data: bytes) -> None:
            create(there, "b")
            super().put(key, data)

    here.store = Meanwhile(store)
    with pytest.raises(ForkedLog):
        create(here, "c")


def test_both_layouts_in_one_log_are_a_fork() -> None:
    store = MemoryStore()
    create(alone(store), "a")
    other = Transaction(2, UUIDS(), None, 9, ())
    store.put(log_key("w1", "weather", 2, LogKind.TRANSACTION), encode_transaction(other))
    with pytest.raises(ForkedLog, match="two layouts"):
        Timeline(store, "w1", "weather").load()


def test_a_fork_under_conditional_puts_is_refused_by_revision_and_uuids() -> None:
    store = MemoryStore()
    timeline = Timeline(store, "w1", "weather")
    for table in ("a", "b", "c"):
        create(timeline, table)
    second = timeline.read(2)
    rival = Transaction(2, UUIDS(), second.previous, second.commit_time, (CreateTable(schema("d")),))
    store.put(timeline.key(2, LogKind.TRANSACTION), encode_transaction(rival))
    expected = rf"Revision 3 follows transaction {second.uuid}, but revision 2 is {rival.uuid}.* forks there"
    with pytest.raises(BrokenChain, match=expected):
        Timeline(store, "w1", "weather").load()
