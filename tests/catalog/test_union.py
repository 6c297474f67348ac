from dataclasses import replace

import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, CreateTable, SetFlags
from instar.catalog.commit import Change, commit
from instar.catalog.unify import SchemaMismatch
from instar.catalog.union import Catalog, UnknownTableName
from instar.catalog.vector import RevisionVector
from instar.flags import Flags, ReadFormat, WriteFormat
from instar.model.schema import TableName, TableSchema
from instar.storage.faulty import FaultyStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store
from tests.catalog.samples import Ticks, numbered_uuids, part_rows, schema

H2O = TableName("weather", "h2o")
UUIDS = numbered_uuids()
CLOCK = Ticks()


def create(catalog: Catalog, writer: str, table: TableSchema | None = None) -> None:
    table = table or schema()
    commit(catalog.timeline(writer, table.name.database), Change(UUIDS(), (CreateTable(table),)), clock=CLOCK)


def add(catalog: Catalog, writer: str, statistics: dict[str, pa.Array] | None = None) -> str:
    uuid = UUIDS()
    rows = part_rows(uuid, statistics=statistics)
    commit(catalog.timeline(writer, "weather"), Change(uuid, (AddParts("h2o", rows),)), clock=CLOCK)
    key: str = rows["key"][0].as_py()
    return key


def set_flags(catalog: Catalog, writer: str, flags: Flags) -> None:
    commit(catalog.timeline(writer, "weather"), Change(UUIDS(), (SetFlags("h2o", flags, 1),)), clock=CLOCK)


def test_a_table_is_the_union_of_what_its_writers_hold(store: Store) -> None:
    catalog = Catalog(store)
    create(catalog, "b")
    create(catalog, "a")
    keys = [add(catalog, "a", {"101.nulls": pa.array([1])}), add(catalog, "b", {"103.nan": pa.array([True])})]
    table = Catalog(store).view().table(H2O)
    assert table.parts.select(["key", "writer", "101.nulls", "103.nan"]).to_pylist() == [
        {"key": keys[0], "writer": "a", "101.nulls": 1, "103.nan": None},
        {"key": keys[1], "writer": "b", "101.nulls": None, "103.nan": True},
    ]
    assert (table.schema, list(table.timelines)) == (schema(), ["a", "b"])


def test_writers_and_databases_are_found(store: Store) -> None:
    catalog = Catalog(store)
    for writer, database in [("a", "x"), ("a", "x-1"), ("a", "x0"), ("a b", "x"), ("a-b", "x"), ("b", "z/ü")]:
        create(catalog, writer, schema("t", database))
    store.put("notes.txt", b"")
    store.put("a/notes.txt", b"")
    store.put("_instar/queries/1.json", b"")
    store.put("c/x/data/-/t/part.parquet", b"")
    store.put("c/y/transactions/README", b"")
    fresh = Catalog(store)
    assert fresh.databases() == ["x", "x-1", "x0", "z/ü"]
    assert fresh.writers("x") == ["a", "a b", "a-b"]
    assert fresh.writers("nowhere") == []


def test_a_folder_that_no_name_gives_is_nobodys() -> None:
    store = MemoryStore()
    store.put("%FF/x/transactions/00000000000000000001.transaction", b"")
    assert Catalog(store).timelines() == []


def test_finding_timelines_does_not_walk_through_their_files() -> None:
    store = FaultyStore(MemoryStore())
    catalog = Catalog(store)
    for writer in ("a", "b"):
        create(catalog, writer)
        for _ in range(20):
            add(catalog, writer)
    store.calls.clear()
    assert len(catalog.timelines()) == 2
    assert len(store.calls) == 5


def test_a_vector_pins_what_is_seen_and_reads_back_from_text() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    add(catalog, "a")
    pinned = catalog.view()
    assert str(pinned.vector) == "a/weather@2"
    add(catalog, "a")
    create(catalog, "b")
    add(catalog, "b")
    again = catalog.view(RevisionVector.parse(str(pinned.vector)))
    assert again == pinned
    assert len(catalog.view().table(H2O).parts) == 3


def test_one_database_can_be_viewed_alone() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    create(catalog, "a", schema("t", "other"))
    assert list(catalog.view(database="weather").tables) == [H2O]
    assert sorted(catalog.view().tables) == [TableName("other", "t"), H2O]
    assert list(catalog.view(catalog.view().vector, database="weather").tables) == [H2O]


def test_the_flags_of_a_table_are_what_all_its_writers_have_reached() -> None:
    catalog = Catalog(MemoryStore())
    for writer in ("a", "b"):
        create(catalog, writer)
    set_flags(catalog, "a", Flags(WriteFormat.DUAL, ReadFormat.SHADOW))
    assert catalog.view().table(H2O).flags == Flags()
    set_flags(catalog, "b", Flags(WriteFormat.DUAL))
    assert catalog.view().table(H2O).flags == Flags(WriteFormat.DUAL)


def test_writers_that_disagree_on_a_table_are_named() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    create(catalog, "b", replace(schema(), columns=schema().columns[:2]))
    with pytest.raises(SchemaMismatch, match=r"Writers 'a' and 'b' define weather\.h2o differently"):
        catalog.view()


def test_an_unknown_table_is_named_with_those_that_exist() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    with pytest.raises(UnknownTableName, match=r"no table weather\.air\. There are: weather\.h2o"):
        catalog.view().table(TableName("weather", "air"))
