import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.expr.nodes import ColumnRef, Literal
from instar.model.schema import Column, ColumnId, TableName, TableSchema
from instar.model.settings import TableSettings
from instar.model.types import BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, UUID, DataType
from instar.model.values import to_array
from instar.parts.statistics import collect_statistics, statistics_table
from instar.pushdown.membership import may_equal
from tests.strategies import key_types, values

TYPES = key_types.filter(lambda drawn: drawn != UUID)  # no literals yet


def admitted(data_type: DataType, parts: list[list[Any]], literal: Literal) -> list[bool]:
    column = Column(ColumnId(1), "x", data_type)
    schema = TableSchema(
        TableName("d", "t"), (column,), lookup=(column.id,), settings=TableSettings(statistics_bytes=65_536)
    )
    known = [collect_statistics(schema, pa.table({"x": to_array(data_type, cells)})) for cells in parts]
    found = statistics_table(known)
    return [bool(flag) for flag in may_equal(ColumnRef(column.id, data_type), literal, found)]


@given(st.data(), TYPES)
def test_a_part_that_holds_the_value_is_admitted(data: st.DataObject, data_type: DataType) -> None:
    parts = data.draw(st.lists(st.lists(st.none() | values(data_type), min_size=1, max_size=6), min_size=1, max_size=4))
    held = [cell for part in parts for cell in part if cell is not None] or [data.draw(values(data_type))]
    value = data.draw(st.sampled_from(held))
    (cell,) = to_array(data_type, [value]).to_pylist() if data_type.kind == "interval" else [value]
    flags = admitted(data_type, parts, Literal(data_type, cell))
    for part, flag in zip(parts, flags, strict=True):
        assert flag or value not in part


@pytest.mark.parametrize("many", [False, True], ids=["a set", "a bloom filter"])
def test_a_part_without_the_value_is_ruled_out(many: bool) -> None:
    count = 200 if many else 10
    here, there = ([f"{name}-{number}" for number in range(count)] for name in ("here", "there"))
    assert admitted(STRING, [here, there, [None]], Literal(STRING, "here-3")) == [True, False, False]


@pytest.mark.parametrize(
    ("data_type", "cells", "literal", "admits"),
    [
        (INT64, [2**53 + 1], Literal(FLOAT64, float(2**53)), True),  # equal as floats
        (FLOAT64, [1.0], Literal(INT64, 1), True),
        (FLOAT64, [2.0], Literal(INT64, 1), False),
        (FLOAT64, [0.0], Literal(FLOAT64, -0.0), True),
        (FLOAT64, [float("nan")], Literal(FLOAT64, float("nan")), True),
        (TIMESTAMP, [1], Literal(TIMESTAMP_NS, 1_000), True),
        (TIMESTAMP, [1], Literal(TIMESTAMP_NS, 2_000), False),
        (TIMESTAMP, [1], Literal(TIMESTAMP_NS, 1_001), True),  # no microsecond: left to the bounds
        (BYTES, [b"\x00"], Literal(BYTES, b""), False),
        (INT64, [1], Literal(INT64, None), True),
    ],
    ids=itertools.count(),
)
def test_a_literal_of_another_type_counts_where_it_is_exact(
    data_type: DataType, cells: list[Any], literal: Literal, admits: bool
) -> None:
    assert admitted(data_type, [cells], literal) == [admits]


def test_parts_that_know_nothing_are_admitted() -> None:
    nothing = pa.table({"rows": [3, 3]})
    assert may_equal(ColumnRef(ColumnId(1), STRING), Literal(STRING, "x"), nothing).all()
