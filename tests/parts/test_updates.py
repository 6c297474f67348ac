from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.parts.updates import InvalidUpdates, NoUpdates, check_updates, sort_updates
from tests.parts.samples import updates, weather
from tests.strategies import exact_rows, schemas, update_tables

SCHEMA = weather(upsert=True)


def replaced(name: str, cells: Any, data_type: pa.DataType = None) -> pa.Table:
    table = updates(SCHEMA, 2)
    place = table.schema.get_field_index(name)
    return table.set_column(place, name, pa.array(cells, data_type or table.schema.field(name).type))


@given(st.data(), schemas())
def test_updates_that_fit_pass_with_the_fields_of_the_table(data: st.DataObject, schema: TableSchema) -> None:
    table = data.draw(update_tables(schema))
    shuffled = table.select(data.draw(st.permutations(table.column_names)))
    checked = check_updates(shuffled, schema)
    assert checked.schema.equals(schema.update_schema(), check_metadata=True)
    assert exact_rows(checked) == exact_rows(table)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(NoUpdates, match=r"weather\.h2o"):
        check_updates(SCHEMA.update_schema().empty_table(), SCHEMA)


@pytest.mark.parametrize("name", ["note", T_COLUMN, D_COLUMN])
def test_a_missing_column_is_named(name: str) -> None:
    with pytest.raises(InvalidUpdates, match=f"lack '{name}'"):
        check_updates(updates(SCHEMA).drop_columns([name]), SCHEMA)


def test_an_extra_column_is_named() -> None:
    with pytest.raises(InvalidUpdates, match="hold 'colour'"):
        check_updates(updates(SCHEMA).append_column("colour", [["red"] * 6]), SCHEMA)


def test_a_column_that_is_there_twice_is_refused() -> None:
    with pytest.raises(InvalidUpdates, match="twice"):
        check_updates(updates(SCHEMA).append_column("note", [["red"] * 6]), SCHEMA)


@pytest.mark.parametrize(
    ("name", "data_type"), [("degrees", pa.float32()), ("note", pa.large_string()), (T_COLUMN, pa.int32())]
)
def test_a_column_of_another_type_is_named_with_both_types(name: str, data_type: pa.DataType) -> None:
    with pytest.raises(InvalidUpdates, match=f"'{name}' .* the updates hold {data_type}"):
        check_updates(replaced(name, [None, None], data_type), SCHEMA)


@pytest.mark.parametrize("name", ["station", T_COLUMN, D_COLUMN])
def test_a_null_in_a_required_column_is_named_with_its_row(name: str) -> None:
    cell = updates(SCHEMA).column(name)[0].as_py()
    with pytest.raises(InvalidUpdates, match=f"'{name}' .* null in row 1"):
        check_updates(replaced(name, [cell, None]), SCHEMA)


def keyed(*, d: int) -> tuple[pa.Table, TableSchema]:
    numbers = iter(range(1, 9))
    schema = TableSchema.create(
        "a.b",
        {"k": "int64", "v": "int64"},
        ids=lambda: next(numbers),
        key=["k"],
        merge_mode="upsert",
        required=["v"],
    )
    return pa.table({"k": [1], "v": pa.array([None], pa.int64()), T_COLUMN: [1], D_COLUMN: [d]}), schema


def test_a_delete_needs_its_key_alone() -> None:
    table, schema = keyed(d=-1)
    assert check_updates(table, schema).column("v").null_count == 1


def test_an_upsert_needs_its_required_values() -> None:
    table, schema = keyed(d=1)
    with pytest.raises(InvalidUpdates, match=r"'v' .* null in row 0"):
        check_updates(table, schema)


def test_text_that_is_not_utf8_is_refused() -> None:
    bad = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    table = updates(SCHEMA, 1).set_column(3, "note", bad)
    with pytest.raises(InvalidUpdates, match="UTF8"):
        check_updates(table, SCHEMA)


def test_rows_are_sorted_by_the_tables_order_then_by_time_and_else_stay() -> None:
    schema = weather(upsert=True)
    table = pa.table(
        {
            "station": ["b", "a", "a", "a", "a"],
            "time": pa.array([0, 1, 0, 0, 0], pa.timestamp("ns")),
            "degrees": [0.0] * 5,
            "note": ["0", "1", "2", "3", "4"],
            T_COLUMN: [0, 0, 5, 2, 5],
            D_COLUMN: [1] * 5,
        }
    )
    assert sort_updates(table, schema).column("note").to_pylist() == ["3", "2", "4", "1", "0"]


@pytest.mark.parametrize("name", [".", ".x", "[0]", "a.b"])
def test_a_name_that_arrow_takes_for_a_path_can_be_sorted_by(name: str) -> None:
    schema = TableSchema.create("a.b", {name: "int64"}, ids=lambda: 1, sort_by=[name])
    table = pa.table({name: [2, 1], T_COLUMN: [0, 0], D_COLUMN: [1, 1]})
    assert sort_updates(table, schema).column(name).to_pylist() == [1, 2]


def test_nan_and_null_sort_last() -> None:
    schema = TableSchema.create("a.b", {"x": "float64"}, ids=lambda: 1, sort_by=["x"])
    table = pa.table({"x": [None, float("nan"), 1.0, -1.0], T_COLUMN: [0] * 4, D_COLUMN: [1] * 4})
    assert [repr(x) for x in sort_updates(table, schema).column("x").to_pylist()] == ["-1.0", "1.0", "nan", "None"]
