import itertools
import json
import math
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.bloom import hash_values, may_contain
from instar.model.key_order import order_bytes
from instar.model.part import PartFormat, Statistic, statistics_field
from instar.model.schema import Column, ColumnId, TableName, TableSchema
from instar.model.settings import TableSettings
from instar.model.types import (
    BOOL,
    BYTES,
    FLOAT64,
    FLOATS,
    INT64,
    NUMERIC,
    SCALARS,
    STRING,
    TIMESTAMP_NS,
    DataType,
    can_be_key,
    parse_type,
)
from instar.model.values import sort_key, to_array, to_values
from instar.parts.bounds import BOUND_BYTES, bytes_above, text_above, truncate_text
from instar.parts.reader import open_part, read_part
from instar.parts.statistics import MOST_VALUES, ColumnStatistics, collect_statistics, statistics_table
from instar.parts.writer import write_part
from instar.plan.write import as_updates
from tests.parts.samples import provenance, stored, updates, weather
from tests.strategies import blobs, key_types, schemas, texts, types, update_tables, values


def statistics_of(data_type: DataType, cells: Any) -> ColumnStatistics:
    return all_statistics_of(data_type, cells)[0]


def all_statistics_of(data_type: DataType, cells: Any, **of_table: Any) -> tuple[ColumnStatistics, ...]:
    """Return the statistics of a table with one column, those of fields and keys inside it last."""
    column = Column(ColumnId(5), "x", data_type, encoding=of_table.pop("encoding", 1))
    schema = TableSchema(TableName("d", "t"), (column,), **of_table)
    return collect_statistics(schema, pa.table({"x": to_array(data_type, cells)})).columns


def bound(found: ColumnStatistics, which: Statistic) -> Any:
    return found.known.get(which, pa.scalar(None))


def key(data_type: DataType, bound: pa.Scalar) -> Any:
    """Return what orders a bound among the values of its column."""
    (value,) = to_values(data_type, pa.array([bound], bound.type))
    return sort_key(data_type, value)


def is_nan(data_type: DataType, cell: Any) -> bool:
    return data_type in {*FLOATS, NUMERIC} and cell is not None and math.isnan(cell)


@given(st.data(), st.sampled_from([t for t in SCALARS if can_be_key(t)]))
def test_bounds_hold_every_value(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(st.none() | values(data_type), max_size=10))
    found = statistics_of(data_type, cells)
    present = [cell for cell in cells if cell is not None and not is_nan(data_type, cell)]
    assert found.get("nulls") == cells.count(None)
    assert bool(found.get("nan")) == any(is_nan(data_type, cell) for cell in cells)
    assert bound(found, "lower").is_valid == bool(present)
    for cell in present:
        assert key(data_type, bound(found, "lower")) <= sort_key(data_type, cell)
        assert not bound(found, "upper").is_valid or sort_key(data_type, cell) <= key(data_type, bound(found, "upper"))


@given(st.lists(st.none() | values(NUMERIC), max_size=10))
def test_bounds_of_numerics_hold_their_nearest_floats(cells: list[Decimal | None]) -> None:
    found = statistics_of(NUMERIC, cells)
    present = [float(cell) for cell in cells if cell is not None and not cell.is_nan()]
    assert found.get("nan") == any(is_nan(NUMERIC, cell) for cell in cells)
    assert (found.get("lower"), found.get("upper")) == ((min(present), max(present)) if present else (None, None))


@given(st.data(), types.filter(lambda drawn: not can_be_key(drawn) and drawn != NUMERIC))
def test_a_type_without_order_has_no_bounds_but_counts_its_nulls(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(st.none() | values(data_type), max_size=5))
    found = statistics_of(data_type, cells)
    assert (bound(found, "lower").is_valid, bound(found, "upper").is_valid, found.get("nulls")) == (
        False,
        False,
        cells.count(None),
    )


@given(st.data(), types)
def test_an_opaque_column_counts_its_nulls_and_knows_nothing_else(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(st.none() | values(data_type), max_size=5))
    (found,) = all_statistics_of(data_type, cells, encoding=0)
    assert found.known == {"nulls": pa.scalar(cells.count(None))}


@given(st.data(), st.sampled_from([t for t in SCALARS if can_be_key(t) and t not in (STRING, BYTES)]))
def test_bounds_of_fixed_size_types_are_tight(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(values(data_type).filter(lambda cell: cell == cell), min_size=1, max_size=10))  # noqa: PLR0124
    found = statistics_of(data_type, cells)
    assert (key(data_type, bound(found, "lower")), key(data_type, bound(found, "upper"))) == (
        sort_key(data_type, min(cells)),
        sort_key(data_type, max(cells)),
    )


@given(st.data(), types)
def test_statistics_survive_the_footer_bit_by_bit(data: st.DataObject, data_type: DataType) -> None:
    found = statistics_of(data_type, data.draw(st.lists(st.none() | values(data_type), max_size=5)))
    again = ColumnStatistics.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
    assert again == found
    assert repr(bound(again, "lower")) == repr(bound(found, "lower"))


@pytest.mark.parametrize("zeros", [[0.0], [-0.0], [0.0, -0.0], [-0.0, 0.0]])
def test_zeros_of_either_sign_lie_inside_under_total_order_too(zeros: list[float]) -> None:
    found = statistics_of(FLOAT64, zeros)
    assert math.copysign(1, found.get("lower")) == -1
    assert math.copysign(1, found.get("upper")) == 1


@pytest.mark.parametrize("cells", [[float("nan")], [None], [float("nan"), None], []])
def test_without_a_value_there_are_no_bounds(cells: Any) -> None:
    found = statistics_of(FLOAT64, cells)
    assert (found.get("lower"), found.get("upper")) == (None, None)
    assert found.get("nan") == any(cell is not None for cell in cells)


def test_one_row_holds_the_columns_that_the_model_names() -> None:
    columns = [Column(ColumnId(7), "a", TIMESTAMP_NS), Column(ColumnId(9), "b", BOOL)]
    rows = pa.table({"a": pa.array([1, 2], pa.timestamp("ns")), "b": pa.array([None, None], pa.bool_())})
    schema = TableSchema(TableName("d", "t"), tuple(columns))
    table = statistics_table([collect_statistics(schema, rows)])
    kinds: tuple[Statistic, ...] = ("lower", "upper", "nulls", "values")
    assert table.schema == pa.schema([statistics_field(c.id, kind, c.type) for c in columns for kind in kinds])
    shown = [column.cast(pa.int64())[0].as_py() for column in table.columns if not pa.types.is_list(column.type)]
    assert shown == [1, 2, 0, None, None, 2]


def test_statistics_carry_the_type_that_they_were_collected_with() -> None:
    assert statistics_of(INT64, [1]).to_json()["type"] == "int64"


@given(texts)
def test_text_bounds_are_outward_short_and_valid(text: str) -> None:
    lower, upper = truncate_text(text), text_above(text)
    assert lower.encode() <= text.encode()
    assert len(lower.encode()) <= BOUND_BYTES
    if upper is not None:
        assert text.encode() <= upper.encode()
        assert len(upper.encode()) <= BOUND_BYTES
    if len(text.encode()) <= BOUND_BYTES:
        assert (lower, upper) == (text, text)


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("a" * 100, "a" * 100, "a" * 100),
        ("a" * 101, "a" * 100, "a" * 99 + "b"),
        ("a" * 99 + "é", "a" * 99, "a" * 98 + "b"),  # a character across the limit
        ("é" * 51, "é" * 50, "é" * 49 + "ê"),
        ("a" * 97 + "\ud7ffa", "a" * 97 + "\ud7ff", "a" * 97 + "\ue000"),
        ("a" * 96 + "\U0010ffffa", "a" * 96 + "\U0010ffff", "a" * 95 + "b"),
        ("\U0010ffff" * 26, "\U0010ffff" * 25, None),
        ("a" * 99 + "\x7fa", "a" * 99 + "\x7f", "a" * 98 + "b"),  # its successor is a byte longer
    ],
)
def test_long_texts_are_cut_between_characters_and_rounded_up(text: str, lower: str, upper: str | None) -> None:
    assert (truncate_text(text), text_above(text)) == (lower, upper)


@given(blobs)
def test_bytes_bounds_are_outward_and_short(value: bytes) -> None:
    upper = bytes_above(value)
    assert upper is None or (value <= upper and len(upper) <= BOUND_BYTES)


@pytest.mark.parametrize(
    ("value", "upper"),
    [
        (b"a" * 100, b"a" * 100),
        (b"a" * 101, b"a" * 99 + b"b"),
        (b"a" * 98 + b"\xff" * 5, b"a" * 97 + b"b"),
        (b"\xff" * 100, b"\xff" * 100),
        (b"\xff" * 101, None),
    ],
)
def test_long_bytes_are_rounded_up_or_have_no_bound(value: bytes, upper: bytes | None) -> None:
    assert bytes_above(value) == upper


def test_a_lower_bound_without_an_upper_one_is_kept() -> None:
    found = statistics_of(BYTES, [b"\xff" * 101])
    assert (found.get("lower"), found.get("upper")) == (b"\xff" * 100, None)


@given(st.data(), key_types)
def test_the_set_of_values_is_exact_or_not_there(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(st.none() | values(data_type), max_size=60))
    found = statistics_of(data_type, cells)
    present = {sort_key(data_type, cell) for cell in cells if cell is not None and not is_nan(data_type, cell)}
    short = data_type not in (STRING, BYTES) or all(len(key[-1]) <= BOUND_BYTES for key in present)
    assert ("values" in found.known) == (len(present) <= MOST_VALUES and short)
    if "values" in found.known:
        held = to_values(data_type, found.known["values"].values)
        assert [sort_key(data_type, value) for value in held] == sorted(present)


def test_a_column_for_lookups_has_a_bloom_filter_where_a_set_would_be_long() -> None:
    names = [f"sensor {number}" for number in range(500)]
    (found,) = all_statistics_of(STRING, names, lookup=(ColumnId(5),))
    bloom = pa.array([found.get("bloom")], pa.binary())
    assert len(found.get("bloom")) <= TableSettings().statistics_bytes // 2
    assert all(may_contain(bloom, hashed)[0] for hashed in hash_values(pa.array(names)))
    assert "bloom" not in all_statistics_of(STRING, names)[0].known


@given(st.lists(st.none() | values(parse_type("record<x int64, y record<z string>>")), max_size=8))
def test_fields_of_records_have_statistics_of_their_own(cells: list[Any]) -> None:
    found = {of.path: of for of in all_statistics_of(parse_type("record<x int64, y record<z string>>"), cells)}
    for path in (("x",), ("y", "z")):
        inside = cells
        for step in path:
            inside = [None if cell is None else cell[step] for cell in inside]
        expected = statistics_of(found[path].type, inside)
        assert found[path].known == expected.known
    assert found["y",].get("nulls") == sum(cell is None or cell["y"] is None for cell in cells)


@given(st.data(), schemas(key_types))
def test_the_least_and_the_greatest_key_hold_every_key(data: st.DataObject, schema: TableSchema) -> None:
    rows = data.draw(update_tables(schema))
    found = collect_statistics(schema, rows)
    types = [column.type for column in schema.key_columns]
    keys = list(zip(*(to_values(c.type, rows.column(c.name)) for c in schema.key_columns), strict=True))
    if not keys or any(is_nan(of, cell) for key in keys for of, cell in zip(types, key, strict=True)):
        assert (found.key_lower, found.key_upper) == (None, None)
        return
    assert found.key_lower is not None
    for key in keys:
        packed = order_bytes(types, key)
        assert found.key_lower <= packed
        assert found.key_upper is None or packed <= found.key_upper


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({"lower": "x"}, {"upper", "nulls", "values"}),
        ({"nulls": [1]}, {"lower", "upper", "values"}),
        ({"values": 5}, {"lower", "upper", "nulls"}),
        ({"type": "string"}, {"nulls"}),
        ({"surprise": 1}, {"lower", "upper", "nulls", "values"}),
        ({"type": "int65"}, None),
        ({"column": None}, None),
        ({"path": 5}, None),
    ],
)
def test_statistics_that_are_not_understood_count_as_missing(change: dict[str, Any], left: set[str] | None) -> None:
    found = ColumnStatistics.from_json(statistics_of(INT64, [1, 2]).to_json() | change)
    assert left == (None if found is None else set(found.known))


@pytest.mark.parametrize("format", PartFormat)
def test_row_groups_have_statistics_of_their_own(format: PartFormat) -> None:
    schema = weather(upsert=True)
    part = write_part(updates(schema, 10), schema, format, provenance(schema), row_group_rows=4)
    with open_part(stored(part), part.key) as opened:
        groups = opened.row_groups()
        assert opened.file.num_row_groups == 3
    assert groups["rows"].to_pylist() == [4, 4, 2]
    rows = read_part(stored(part), part.key, schema)
    slices = [rows.slice(start, 4) for start in (0, 4, 8)]
    expected = statistics_table([collect_statistics(schema, each) for each in slices])
    assert groups.drop_columns(["rows"]).equals(expected)


def test_engines_find_parquets_own_bloom_filters() -> None:
    schema = TableSchema.create(
        "d.t", {"id": "uuid", "name": "string"}, ids=itertools.count(1).__next__, lookup=["id", "name"]
    )
    ids = [UUID(int=number) for number in range(100)]
    rows = as_updates(pa.table({"id": to_array(parse_type("uuid"), ids), "name": [str(of) for of in ids]}), 0)
    for kind, paths in [(PartFormat.STRUCTURED, {"id", "name"}), (PartFormat.DUAL, {"k_s.id", "k_s.name"})]:
        part = write_part(rows, schema, kind, provenance(schema))
        group = pq.read_metadata(pa.BufferReader(part.data)).row_group(0)
        chunks = [group.column(place).to_dict() for place in range(group.num_columns)]
        assert {of["path_in_schema"] for of in chunks if of["bloom_filter_length"]} == paths
