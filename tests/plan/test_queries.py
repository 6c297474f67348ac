import pytest

from instar.model.schema import TableName
from instar.plan.queries import DamagedRecord, Query, record_query, recorded_queries
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store

TABLE = TableName("db", "t")
ALL = Query(None, ("k", "f"))
SOME = Query("s = 'é' AND k > 1", ("f",))


def test_a_question_is_kept_once_whoever_asks_it(store: Store) -> None:
    for query in (ALL, SOME, ALL, SOME, SOME):
        record_query(store, TABLE, query)
    assert sorted(recorded_queries(store, TABLE), key=str) == sorted([ALL, SOME], key=str)


def test_questions_that_differ_in_anything_are_kept_apart() -> None:
    store = MemoryStore()
    queries = {ALL, SOME, Query(None, ("f", "k")), Query("", ("k", "f")), Query("s = 'é' AND k > 1", ())}
    for query in queries:
        record_query(store, TABLE, query)
    assert set(recorded_queries(store, TABLE)) == queries


@pytest.mark.parametrize(
    "other", [TableName("db", "t2"), TableName("db2", "t"), TableName("db", "t/../t"), TableName("db", "T")]
)
def test_each_table_has_questions_of_its_own(other: TableName) -> None:
    store = MemoryStore()
    record_query(store, other, ALL)
    assert list(recorded_queries(store, TABLE)) == []
    assert list(recorded_queries(store, other)) == [ALL]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b'{"where": null}',
        b'{"where": 1, "columns": ["k"]}',
        b'{"where": null, "columns": "k"}',
    ],
)
def test_a_damaged_record_is_named(data: bytes) -> None:
    store = MemoryStore()
    record_query(store, TABLE, ALL)
    (info,) = store.list("")
    store.put(info.key, data)
    with pytest.raises(DamagedRecord, match=info.key):
        list(recorded_queries(store, TABLE))
