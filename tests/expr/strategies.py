"""Hypothesis strategies for filters and the rows that they read.

Values come from small pools of edge cases, so that comparisons meet equal values often.
"""

import itertools
import math
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from instar.expr.nodes import And, ColumnRef, Compare, Expr, IsNull, Literal, Not, Op, Or
from instar.model.schema import Column, TableSchema
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType

Row = dict[str, Any]
"""Values by column name; timestamps count units of their type."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_INSTANTS = [0, 1, -1, 1500, -1500, 1_767_225_600_123_456, -1_000_000]

POOLS: dict[DataType, list[Any]] = {
    BOOL: [False, True],
    INT64: [INT64_MIN, -(2**53) - 1, -1, 0, 1, 2, 2**53, 2**53 + 1, INT64_MAX - 1, INT64_MAX],
    FLOAT64: [
        -math.inf,
        -1.0,
        -0.0,
        0.0,
        5e-324,
        0.5,
        1.0,
        2.0**53,
        2.0**63,
        1.7976931348623157e308,
        math.inf,
        math.nan,
    ],
    STRING: ["", "\x00", "a", "a'b", "ab", "b", "zz", "é", "\ue000", "\U0010ffff"],
    BYTES: [b"", b"\x00", b"a", b"ab", b"\xff", b"\xff\xff"],
    TIMESTAMP: [*_INSTANTS, INT64_MIN, INT64_MAX],
    TIMESTAMP_NS: [*_INSTANTS, *(1000 * i for i in _INSTANTS), 1_767_225_600_123_456_789, INT64_MIN, INT64_MAX],
}
"""In ascending order or not; every comparison of two of them has an exact answer."""

_ids = itertools.count(1)
SCHEMA = TableSchema.create(
    "db.t", {f"{name}_{data_type}": str(data_type) for name in "ab" for data_type in POOLS}, ids=lambda: next(_ids)
)
"""Two columns of each type."""

_COMPARABLE = [{INT64, FLOAT64}, {TIMESTAMP, TIMESTAMP_NS}]


def values(data_type: DataType) -> st.SearchStrategy[Any]:
    return st.sampled_from(POOLS[data_type])


def rows(
    columns: tuple[Column, ...] = SCHEMA.columns, *, not_null: frozenset[int] = frozenset()
) -> st.SearchStrategy[Row]:
    """Draw a row, with nulls except in `not_null`."""
    return st.fixed_dictionaries(
        {c.name: values(c.type) if c.id in not_null else st.none() | values(c.type) for c in columns}
    )


def to_table(rows: list[Row], schema: TableSchema = SCHEMA) -> pa.Table:
    fields = schema.arrow_schema()
    return pa.table({f.name: pa.array([row[f.name] for row in rows], f.type) for f in fields})


def references(schema: TableSchema = SCHEMA) -> st.SearchStrategy[ColumnRef]:
    return st.sampled_from([ColumnRef(column.id, column.type) for column in schema.columns])


@st.composite
def comparisons(draw: st.DrawFn, schema: TableSchema = SCHEMA) -> Compare:
    """Draw a column against a constant or a column that it can be compared with."""
    column = draw(references(schema))
    comparable = next((family for family in _COMPARABLE if column.type in family), {column.type})
    others = [ColumnRef(c.id, c.type) for c in schema.columns if c.type in comparable]
    constants = st.builds(Literal, st.just(column.type), st.none() | values(column.type))
    if column.type == INT64:
        constants |= st.builds(Literal, st.just(FLOAT64), values(FLOAT64))
    return Compare(draw(st.sampled_from(Op)), column, draw(constants | constants | st.sampled_from(others)))


def expressions(schema: TableSchema = SCHEMA) -> st.SearchStrategy[Expr]:
    """Draw a condition."""
    booleans = [ColumnRef(c.id, c.type) for c in schema.columns if c.type == BOOL]
    leaves: st.SearchStrategy[Expr] = (
        comparisons(schema) | comparisons(schema) | st.builds(IsNull, references(schema))
    ) | st.sampled_from([*booleans, Literal(BOOL, True), Literal(BOOL, False), Literal(BOOL, None)])
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple))
            | st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple))
            | st.builds(Not, inner)
            | st.builds(IsNull, inner)
        ),
        max_leaves=5,
    )
