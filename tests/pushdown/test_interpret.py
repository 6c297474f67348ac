import math
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.expr.nodes import Expr, columns_of
from instar.expr.parse import parse_filter
from instar.model.part import Statistic
from instar.pushdown.domain import FALSE, NULL, TRUE
from instar.pushdown.interpret import interpret
from tests.expr.reference import holds
from tests.expr.strategies import SCHEMA, Row, expressions, rows
from tests.pushdown.parts import KINDS, Statistics, known_statistics, parts_table, sharp_parts

OUTCOMES = {True: TRUE, False: FALSE, None: NULL}
PartsOfRows = tuple[list[list[Row]], pa.Table]


@st.composite
def parts_of_rows(draw: st.DrawFn) -> PartsOfRows:
    drawn = draw(st.lists(st.lists(rows(), min_size=1, max_size=3), min_size=1, max_size=4))
    known = [{c.id: draw(known_statistics(c, part)) for c in SCHEMA.columns} for part in drawn]
    names = st.sampled_from([f"{c.id}.{kind}" for c in SCHEMA.columns for kind in KINDS])
    missing = draw(st.frozensets(names, max_size=4))
    return drawn, parts_table(SCHEMA, list(zip(drawn, known, strict=True)), missing=missing)


@settings(max_examples=400, deadline=None)
@given(expressions(), parts_of_rows())
def test_every_row_s_outcome_is_admitted(expr: Expr, drawn: PartsOfRows) -> None:
    row_sets, parts = drawn
    domain = interpret(expr, parts)
    for part, admitted in zip(row_sets, domain.outcomes, strict=True):
        for row in part:
            assert OUTCOMES[holds(expr, row, SCHEMA)] & admitted


@settings(max_examples=200, deadline=None)
@given(expressions(), st.lists(rows(), min_size=1, max_size=4))
def test_a_part_that_repeats_one_row_admits_its_outcome_alone(expr: Expr, drawn: list[Row]) -> None:
    domain = interpret(expr, sharp_parts(SCHEMA, [[row, row] for row in drawn]))
    for row, admitted in zip(drawn, domain.outcomes, strict=True):
        # A column of NaN alone has no bounds, like one whose bounds are unknown.
        if not any(isinstance(value, float) and math.isnan(value) for value in row.values()):
            assert admitted == OUTCOMES[holds(expr, row, SCHEMA)]


def _outcomes(text: str, known: dict[Statistic, Any]) -> int:
    """Interpret a filter on one column over one part of ten rows, of which `known` is known."""
    expr = parse_filter(text, SCHEMA)
    schema = replace(SCHEMA, columns=tuple(SCHEMA.column_by_id(number) for number in columns_of(expr)))
    statistics: Statistics = {**dict.fromkeys(KINDS), **known}
    parts = parts_table(schema, [([{}] * 10, {column.id: statistics for column in schema.columns})])
    return int(interpret(expr, parts).outcomes[0])


@pytest.mark.parametrize(
    ("text", "known", "admitted"),
    [
        ("a_float64 > 100", {"lower": 0.0, "upper": 1.0, "nulls": 0, "nan": True}, TRUE | FALSE),
        ("a_float64 > 100", {"lower": 0.0, "upper": 1.0, "nulls": 0, "nan": None}, TRUE | FALSE),
        ("a_float64 > 100", {"lower": 0.0, "upper": 1.0, "nulls": 0, "nan": False}, FALSE),
        ("a_float64 > 100", {"lower": 0.0, "upper": math.nan, "nulls": 0, "nan": False}, TRUE | FALSE),
        ("a_float64 > 100", {"lower": 3.0, "upper": 1.0, "nulls": 0, "nan": False}, TRUE | FALSE),
        ("a_float64 < 0", {"lower": -0.0, "upper": 1.0, "nulls": 0, "nan": False}, FALSE),
        ("a_float64 <= 'NaN'", {"lower": 0.0, "upper": 1.0, "nulls": 0, "nan": True}, TRUE),
        ("a_float64 = 'NaN'", {"lower": 0.0, "upper": 1.0, "nulls": 0, "nan": False}, FALSE),
        ("a_int64 > 100", {"lower": 0, "upper": 1, "nulls": None}, FALSE | NULL),
        ("a_int64 > 100", {"lower": 0, "upper": 1, "nulls": 3}, FALSE | NULL),
        ("a_int64 > 100", {"lower": None, "upper": None, "nulls": 10}, NULL),
        ("a_int64 > 100", {"lower": None, "upper": None, "nulls": 9}, TRUE | FALSE | NULL),
        ("a_int64 > 100", {"lower": 0, "upper": 1, "nulls": 11}, FALSE | NULL),
        ("a_int64 > 100", {"lower": 101, "upper": None, "nulls": 0}, TRUE),
        ("a_int64 IS NULL", {"lower": 0, "upper": 1, "nulls": 0}, FALSE),
        ("a_int64 IS NULL", {"nulls": 10}, TRUE),
        ("a_int64 IS NULL", {}, TRUE | FALSE),
        ("a_int64 = 1.5", {"lower": 0, "upper": 9, "nulls": 0}, FALSE),
        ("a_bool", {"lower": False, "upper": False, "nulls": 0}, FALSE),
        ("NOT a_bool", {"lower": True, "upper": True, "nulls": 1}, FALSE | NULL),
        ("a_bool IS TRUE", {"nulls": 10}, FALSE),
        ("a_string >= 'b'", {"lower": "", "upper": "az", "nulls": 0}, FALSE),
    ],
)
def test_statistics_admit_exactly(text: str, known: dict[Statistic, Any], admitted: int) -> None:
    assert _outcomes(text, known) == admitted


def test_statistics_of_another_type_say_nothing() -> None:
    column = SCHEMA.column("a_int64")
    rows_of_part: list[Row] = [{c.name: 1 if c.id == column.id else None for c in SCHEMA.columns}]
    parts = sharp_parts(SCHEMA, [rows_of_part])
    index = parts.schema.get_field_index(f"{column.id}.upper")
    swapped = parts.set_column(index, f"{column.id}.upper", pa.array([0], pa.timestamp("us")))
    expr = parse_filter("a_int64 > 5", SCHEMA)
    assert interpret(expr, parts).outcomes.tolist() == [FALSE]
    assert interpret(expr, swapped).outcomes.tolist() == [TRUE | FALSE]


def test_no_parts_give_no_outcomes() -> None:
    expr = parse_filter("a_int64 > 5 AND a_float64 = b_int64 OR a_string IS NULL", SCHEMA)
    assert interpret(expr, sharp_parts(SCHEMA, [])).outcomes.tolist() == []
