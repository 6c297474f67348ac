"""Hypothesis strategies for types, values, schemas and the updates that fit them."""

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from instar.model import types as t
from instar.model.schema import (
    D_COLUMN,
    RESERVED_PREFIX,
    T_COLUMN,
    Column,
    ColumnId,
    MergeMode,
    TableName,
    TableSchema,
)
from instar.model.types import DataType
from instar.model.values import MICROS_PER_DAY, AclItem, Array, Interval, Range, json_text, to_array

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def _signed(bits: int) -> st.SearchStrategy[int]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.sampled_from([0, -1, 1, low, high]) | st.integers(low, high)


def _unsigned(bits: int) -> st.SearchStrategy[int]:
    return st.sampled_from([0, 1, 127, 128, 2**bits - 1]) | st.integers(0, 2**bits - 1)


int64s = _signed(64)
floats = st.sampled_from([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308])
long_texts = st.builds(
    lambda character, count, tail: character * count + tail,
    st.sampled_from(["a", "\x7f", "é", "\ud7ff", "\uffff", "\U0010ffff"]),
    st.integers(20, 120),
    st.text(max_size=3),
)
texts = st.sampled_from(["", "\x00", "\ud7ff", "\ue000", "\U0010ffff"]) | st.text(max_size=8) | long_texts
long_blobs = st.builds(
    lambda byte, count, tail: byte * count + tail,
    st.binary(min_size=1, max_size=1),
    st.integers(90, 110),
    st.binary(max_size=3),
)
blobs = st.sampled_from([b"", b"\x00", b"\xff", b"\xff" * 101]) | st.binary(max_size=8) | long_blobs
decimals = (
    st.sampled_from(
        ["NaN", "Infinity", "-Infinity", "0", "-0.00", "1.00", "1E+400", "-1E-400", "1E+39", "1E+40", "1E-41"]
    )
    | st.builds(lambda digits, exponent: f"{digits}E{exponent}", st.integers(-(10**45), 10**45), st.integers(-50, 50))
).map(Decimal)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(max_size=4)
    | decimals.filter(Decimal.is_finite),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)

_VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    t.BOOL: st.booleans(),
    t.INT16: _signed(16),
    t.INT32: _signed(32),
    t.INT64: int64s,
    t.UINT16: _unsigned(16),
    t.UINT32: _unsigned(32),
    t.UINT64: _unsigned(64),
    t.FLOAT32: st.sampled_from([0.0, -0.0, float("nan"), float("inf")]) | st.floats(width=32),
    t.FLOAT64: floats | st.floats(),
    t.STRING: texts,
    t.BYTES: blobs,
    t.NUMERIC: decimals,
    t.DATE: _signed(32),
    t.TIME: st.sampled_from([0, MICROS_PER_DAY - 1]) | st.integers(0, MICROS_PER_DAY - 1),
    t.TIMESTAMP: int64s,
    t.TIMESTAMPTZ: int64s,
    t.TIMESTAMP_NS: int64s,
    t.INTERVAL: st.builds(Interval, _signed(32), _signed(32), int64s),
    t.JSONB: json_values.map(json_text),
    t.UUID: st.uuids(),
    t.MZ_TIMESTAMP: _unsigned(64),
    t.MZ_ACLITEM: st.builds(AclItem, texts, texts, _unsigned(64)),
    t.ACLITEM: st.builds(AclItem, _unsigned(32), _unsigned(32), _unsigned(64)),
    t.INT2VECTOR: st.lists(_signed(16), max_size=3),
}

scalar_types = st.sampled_from(t.SCALARS)
field_names = st.sampled_from(["x", "y", "the z", "Ä", '"'])
types = st.recursive(
    scalar_types,
    lambda inner: (
        inner.map(t.list_of)
        | inner.map(t.array_of)
        | inner.map(t.map_of)
        | st.sampled_from(sorted(t.RANGE_BOUNDS, key=str)).map(t.range_of)
        | st.dictionaries(field_names, inner, min_size=1, max_size=3).map(lambda fields: t.record_of(**fields))
    ),
    max_leaves=3,
)
key_types = st.sampled_from([data_type for data_type in t.SCALARS if t.can_be_key(data_type)])
names = st.text(min_size=1, max_size=12)
column_names = (st.sampled_from(["a.b", ".x", "[0]", "k_s.x", "k", "t", "d", "k_s"]) | names).filter(
    lambda name: not name.lower().startswith(RESERVED_PREFIX)
)


def values(data_type: DataType) -> st.SearchStrategy[Any]:
    """Draw a value of a type, as `model.values` has it; nulls only inside of others."""
    if data_type in _VALUES:
        return _VALUES[data_type]
    if data_type.kind == "record":
        fields = {name: st.none() | values(part) for name, part in data_type.parts}
        return st.fixed_dictionaries(fields)
    inner = st.none() | values(data_type.inner)
    match data_type.kind:
        case "list":
            return st.lists(inner, max_size=3)
        case "map":
            return st.dictionaries(st.text(max_size=3), inner, max_size=3)
        case "array":
            return st.builds(
                lambda elements, lower: Array(tuple(elements), ((lower, len(elements)),) if elements else ()),
                st.lists(inner, max_size=3),
                st.integers(-3, 3),
            )
        case _:
            return st.builds(Range, inner, inner, st.booleans(), st.booleans()) | st.just(Range(empty=True))


@st.composite
def schemas(draw: st.DrawFn, column_types: st.SearchStrategy[DataType] = types) -> TableSchema:
    """Draw a table of either merge mode, with any names, ids, key and order."""
    drawn_names = draw(st.lists(column_names, min_size=1, max_size=6, unique_by=str.lower))
    ids = draw(st.lists(st.integers(1, 2**31 - 1), min_size=len(drawn_names), max_size=len(drawn_names), unique=True))
    drawn_types = [draw(column_types) for _ in ids]
    usable = [number for number, of in zip(ids, drawn_types, strict=True) if t.can_be_key(of)]
    some_ids = st.lists(st.sampled_from(usable), unique=True) if usable else st.just([])
    key = draw(st.just([]) | some_ids)
    columns = tuple(
        Column(ColumnId(number), name, of, number not in key and draw(st.booleans()), draw(st.sampled_from([1, 1, 0])))
        for name, number, of in zip(drawn_names, ids, drawn_types, strict=True)
    )
    return TableSchema(
        TableName(draw(names.filter(lambda name: "." not in name)), draw(names)),
        columns,
        tuple(map(ColumnId, key)),
        MergeMode.UPSERT if key else MergeMode.APPEND,
        tuple(map(ColumnId, draw(some_ids))),
    )


@st.composite
def update_tables(draw: st.DrawFn, schema: TableSchema, max_size: int = 12) -> pa.Table:
    """Draw updates that fit a table: nulls where it allows them, keys alone in deletes, cut into chunks anywhere."""
    size = draw(st.integers(1, max_size))
    diffs = draw(st.lists(st.sampled_from([1, 1, -1] if schema.key else [1]), min_size=size, max_size=size))
    arrays = []
    for column in schema.columns:
        cells = draw(st.lists(values(column.type), min_size=size, max_size=size))
        dropped = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        may_drop = [column.nullable or (column.id not in schema.key and diff < 0) for diff in diffs]
        cells = [None if a and b else cell for a, b, cell in zip(dropped, may_drop, cells, strict=True)]
        arrays.append(to_array(column.type, cells))
    times = draw(st.lists(int64s, min_size=size, max_size=size))
    arrays += [pa.array(times, pa.int64()), pa.array(diffs, pa.int64())]
    table = pa.Table.from_arrays(arrays, names=[*(column.name for column in schema.columns), T_COLUMN, D_COLUMN])
    cut = draw(st.integers(0, size))
    return pa.concat_tables([table.slice(0, cut), table.slice(cut)])


def exact_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return rows that are equal only if every bit that counts is: zeros keep their sign, NaN equals NaN."""
    return list(zip(*(_exact(column.combine_chunks()) for column in table.columns), strict=True))


def _exact(array: pa.Array) -> list[Any]:
    if pa.types.is_date(array.type):
        return list(array.cast(pa.int32()).to_pylist())
    if pa.types.is_temporal(array.type):
        return list(array.cast(pa.int64()).to_pylist())
    if pa.types.is_floating(array.type):
        return [cell if cell is None else "NaN" if math.isnan(cell) else cell.hex() for cell in array.to_pylist()]
    if pa.types.is_list(array.type):
        items = iter(_exact(array.flatten()))
        return [
            None if count is None else [next(items) for _ in range(count)]
            for count in array.value_lengths().to_pylist()
        ]
    if pa.types.is_struct(array.type):
        fields = zip(*(_exact(array.field(place)) for place in range(array.type.num_fields)), strict=True)
        return [cells if valid else None for cells, valid in zip(fields, array.is_valid().to_pylist(), strict=True)]
    return list(array.to_pylist())
