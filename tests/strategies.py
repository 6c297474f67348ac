"""Hypothesis strategies for schemas and the updates that fit them."""

import struct
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

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
from instar.model.types import ALL_TYPES, BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

int64s = st.sampled_from([0, -1, 1, INT64_MIN, INT64_MAX]) | st.integers(INT64_MIN, INT64_MAX)
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

_VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    BOOL: st.booleans(),
    INT64: int64s,
    FLOAT64: floats | st.floats(),
    STRING: texts,
    BYTES: blobs,
    TIMESTAMP: int64s,
    TIMESTAMP_NS: int64s,
}

types = st.sampled_from(ALL_TYPES)
names = st.text(min_size=1, max_size=12)
column_names = (st.sampled_from(["a.b", ".x", "[0]", "k_s.x", "k", "t", "d", "k_s"]) | names).filter(
    lambda name: not name.lower().startswith(RESERVED_PREFIX)
)


def values(data_type: DataType) -> st.SearchStrategy[Any]:
    """Draw a value of a type; timestamps are drawn as integers, their whole range."""
    return _VALUES[data_type]


@st.composite
def schemas(draw: st.DrawFn) -> TableSchema:
    """Draw a table of either merge mode, with any names, ids, key and order."""
    drawn_names = draw(st.lists(column_names, min_size=1, max_size=6, unique_by=str.lower))
    ids = draw(st.lists(st.integers(1, 2**31 - 1), min_size=len(drawn_names), max_size=len(drawn_names), unique=True))
    some_ids = st.lists(st.sampled_from(ids), unique=True)
    key = draw(st.just([]) | some_ids)
    columns = tuple(
        Column(ColumnId(number), name, draw(types), number not in key and draw(st.booleans()))
        for name, number in zip(drawn_names, ids, strict=True)
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
        arrays.append(pa.array(cells, column.arrow_field().type))
    times = draw(st.lists(int64s, min_size=size, max_size=size))
    arrays += [pa.array(times, pa.int64()), pa.array(diffs, pa.int64())]
    table = pa.Table.from_arrays(arrays, names=[*(column.name for column in schema.columns), T_COLUMN, D_COLUMN])
    cut = draw(st.integers(0, size))
    return pa.concat_tables([table.slice(0, cut), table.slice(cut)])


def exact_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return rows that are equal only if every bit that counts is: zeros keep their sign, NaN equals NaN."""
    return list(zip(*(_exact(column) for column in table.columns), strict=True))


def _exact(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_floating(column.type):
        nan = struct.pack("d", float("nan"))
        cells = column.to_pylist()
        return [None if cell is None else nan if cell != cell else struct.pack("d", cell) for cell in cells]  # noqa: PLR0124
    return list(column.to_pylist())
