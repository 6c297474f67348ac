from dataclasses import replace

import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, CreateTable
from instar.catalog.checkpoint import store_checkpoint, write_checkpoint
from instar.catalog.commit import Change, commit
from instar.catalog.fsck import Severity, fsck
from instar.catalog.names import LogKind
from instar.catalog.timeline import Timeline
from instar.storage.memory import MemoryStore
from tests.catalog.samples import Ticks, numbered_uuids, schema
from tests.catalog.scenarios import commit_part, real_parts


def healthy() -> MemoryStore:
    clock, uuids = Ticks(), numbered_uuids(4)
    store = MemoryStore(clock=clock)
    log = Timeline(store, "w1", "weather")
    commit(log, Change(uuids(), (CreateTable(schema()),)), clock=clock)
    for _ in range(3):
        commit_part(store, uuids, clock)
    write_checkpoint(log, log.load(3))
    return store


def log_of(store: MemoryStore) -> Timeline:
    return Timeline(store, "w1", "weather")


def found(store: MemoryStore, *, statistics: bool = False) -> list[tuple[Severity, str, str]]:
    return [(of.severity, of.subject, of.fact) for of in fsck(log_of(store), statistics=statistics)]


def test_a_healthy_timeline_has_no_problem() -> None:
    assert found(healthy(), statistics=True) == []


def test_a_torn_transaction_is_named() -> None:
    store = healthy()
    key = log_of(store).key(2, LogKind.TRANSACTION)
    store.put(key, b"torn")
    assert (Severity.ERROR, key) in [of[:2] for of in found(store)]


def test_a_torn_newest_transaction_says_that_the_timeline_is_read_only() -> None:
    store = healthy()
    store.put(log_of(store).key(4, LogKind.TRANSACTION), b"torn")
    assert any("open read-only at revision 3" in fact for _, _, fact in found(store))


def test_a_missing_transaction_is_named() -> None:
    store = healthy()
    store.delete([log_of(store).key(2, LogKind.TRANSACTION), log_of(store).key(3, LogKind.CHECKPOINT)])
    facts = [of for of in found(store) if of[0] is Severity.ERROR]
    assert any("before a gap" in fact for _, _, fact in facts)
    assert any("Revision 2 is missing" in fact for _, _, fact in facts)


def test_a_fork_is_named() -> None:
    store = healthy()
    other = healthy()
    commit_part(other, numbered_uuids(99), Ticks())
    commit_part(other, numbered_uuids(98), Ticks())
    commit_part(store, numbered_uuids(97), Ticks())
    key = log_of(store).key(6, LogKind.TRANSACTION)
    store.put(key, other.get(key))
    (fact,) = [fact for severity, subject, fact in found(store) if (severity, subject) == (Severity.ERROR, key)]
    assert "forks there" in fact


def test_a_damaged_checkpoint_is_a_warning() -> None:
    store = healthy()
    key = log_of(store).key(3, LogKind.CHECKPOINT)
    store.put(key, b"torn")
    assert [of[:2] for of in found(store)] == [(Severity.WARNING, key)]


def test_a_checkpoint_of_another_state_is_an_error() -> None:
    store = healthy()
    log = log_of(store)
    store_checkpoint(log, replace(log.load(3), tables={}))
    assert (Severity.ERROR, log.key(3, LogKind.CHECKPOINT), "It holds another state than the log leads to.") in found(
        store
    )


def test_a_missing_and_a_shortened_part_are_named() -> None:
    store = healthy()
    first, second, _ = sorted(log_of(store).load().live_keys())
    store.delete([first])
    store.put(second, b"short")
    assert [of[:2] for of in found(store)] == [(Severity.ERROR, first), (Severity.ERROR, second)]


def test_orphans_and_foreign_files_are_notes() -> None:
    store = healthy()
    (orphan,) = real_parts(store, numbered_uuids(8)())["key"].to_pylist()
    store.put("w1/weather/data/README", b"x")
    store.put("w1/weather/transactions/README", b"x")
    assert {of[:2] for of in found(store)} == {
        (Severity.NOTE, orphan),
        (Severity.NOTE, "w1/weather/data/README"),
        (Severity.NOTE, "w1/weather/transactions/README"),
    }


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("103.lower", pa.array([9.0])),
        ("103.upper", pa.array([1.0])),
        ("103.nulls", pa.array([1])),
        ("rows", pa.array([2])),
    ],
)
def test_statistics_that_promise_too_much_are_found_on_request(column: str, value: pa.Array) -> None:
    store = healthy()
    clock, uuids = Ticks(), numbered_uuids(12)
    uuid = uuids()
    records = real_parts(store, uuid)
    field = records.schema.field(column)
    lying = records.set_column(records.schema.get_field_index(column), field, value.cast(field.type))
    commit(log_of(store), Change(uuid, (AddParts("h2o", lying),)), clock=clock)
    assert found(store) == []
    (problem,) = found(store, statistics=True)
    assert problem[:2] == (Severity.ERROR, lying["key"][0].as_py())
