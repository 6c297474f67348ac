from dataclasses import replace

import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, AlterTable, CreateTable, SetFlags
from instar.catalog.commit import Change, commit
from instar.catalog.unify import SchemaMismatch
from instar.catalog.union import Catalog, UnknownTableName
from instar.catalog.vector import RevisionVector
from instar.flags import Flags, ReadFormat, WriteFormat
from instar.model import evolve
from instar.model.schema import ColumnId, TableName, TableSchema
from instar.model.types import BOOL
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


def test_a_table_that_writers_define_differently_is_refused_by_name_and_hides_no_other() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    create(catalog, "a", schema("air"))
    time, state, degrees = schema().columns
    create(catalog, "b", replace(schema(), columns=(time, state, replace(degrees, id=ColumnId(999), type=BOOL))))
    view = catalog.view()
    assert sorted(view.tables) == [TableName("weather", "air")]
    with pytest.raises(SchemaMismatch, match=r"Column 'degrees' of weather\.h2o is float64, but bool for writer 'b'"):
        view.table(H2O)


def test_columns_that_two_writers_made_under_one_name_are_one_with_the_wider_type() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a", evolve.add_column(schema(), "level", "int32", ids=lambda: 500))
    create(catalog, "b", evolve.add_column(schema(), "LEVEL", "int64", ids=lambda: 600))
    add(catalog, "a", {"500.lower": pa.array([1], pa.int32())})
    add(catalog, "b", {"600.lower": pa.array([2], pa.int64())})
    table = catalog.view().table(H2O)
    assert [(column.id, str(column.type)) for column in table.schema.columns][-1] == (500, "int64")
    assert table.aliases == {"b": {600: 500}}
    assert table.parts["500.lower"].to_pylist() == [1, 2]
    assert "600.lower" not in table.parts.column_names


def test_a_column_that_one_writer_dropped_is_dropped_for_all() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    create(catalog, "b")
    dropped = evolve.drop_column(schema(), "degrees")
    commit(catalog.timeline("b", "weather"), Change(UUIDS(), (AlterTable(dropped),)), clock=CLOCK)
    table = catalog.view().table(H2O)
    assert [column.name for column in table.schema.columns] == ["time", "state"]
    assert table.schema.dropped == (103,)


def test_a_column_that_one_writer_renamed_has_its_newest_name() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "b")
    create(catalog, "a")
    renamed = evolve.rename_column(schema(), "degrees", "celsius")
    commit(catalog.timeline("b", "weather"), Change(UUIDS(), (AlterTable(renamed),)), clock=CLOCK)
    assert [column.name for column in catalog.view().table(H2O).schema.columns] == ["time", "state", "celsius"]


def test_the_view_at_a_time_has_the_revisions_of_that_time() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    add(catalog, "a")
    before = CLOCK.now
    create(catalog, "b")
    add(catalog, "a")
    assert str(catalog.vector_at(before)) == "a/weather@2"
    assert str(catalog.vector_at(CLOCK.now)) == "a/weather@3,b/weather@1"
    assert str(catalog.vector_at(0)) == ""


def test_an_unknown_table_is_named_with_those_that_exist() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a")
    with pytest.raises(UnknownTableName, match=r"no table weather\.air\. There are: weather\.h2o"):
        catalog.view().table(TableName("weather", "air"))


def test_parts_that_hold_a_column_under_either_id_have_its_statistics_under_one() -> None:
    catalog = Catalog(MemoryStore())
    create(catalog, "a", evolve.add_column(schema(), "level", "int32", ids=lambda: 500))
    create(catalog, "b", evolve.add_column(schema(), "level", "int64", ids=lambda: 600))
    add(catalog, "b", {"600.lower": pa.array([2], pa.int64())})
    add(catalog, "b", {"500.lower": pa.array([3], pa.int32())})
    table = catalog.view().table(H2O)
    assert table.parts["500.lower"].to_pylist() == [2, 3]
    assert "600.lower" not in table.parts.column_names
