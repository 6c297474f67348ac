import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.expr.evaluate import evaluate
from instar.expr.nodes import Expr
from instar.expr.parse import parse_filter
from tests.expr.reference import holds
from tests.expr.strategies import INT64_MAX, INT64_MIN, SCHEMA, Row, expressions, rows, to_table


@settings(max_examples=400, deadline=None)
@given(expressions(), st.lists(rows(), max_size=8))
def test_rows_get_the_answer_of_plain_python(expr: Expr, drawn: list[Row]) -> None:
    result = evaluate(expr, to_table(drawn), SCHEMA)
    assert isinstance(result, pa.BooleanArray)
    assert result.to_pylist() == [holds(expr, row, SCHEMA) for row in drawn]


@settings(max_examples=50, deadline=None)
@given(expressions(), st.lists(rows(), min_size=2, max_size=6), st.integers(0, 6))
def test_chunks_do_not_change_the_answer(expr: Expr, drawn: list[Row], cut: int) -> None:
    whole = to_table(drawn)
    chunked = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    assert evaluate(expr, chunked, SCHEMA) == evaluate(expr, whole, SCHEMA)


def _matching(text: str, column: str, values: list[object]) -> list[object]:
    table = pa.table({column: pa.array(values, SCHEMA.arrow_schema().field(column).type)})
    mask = evaluate(parse_filter(text, SCHEMA), table, SCHEMA).to_pylist()
    return [value for value, matches in zip(values, mask, strict=True) if matches]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_float64 > 100", ["inf", "nan"]),
        ("a_float64 = 'NaN'", ["nan"]),
        ("a_float64 < 'NaN'", ["-0.0", "0.0", "inf"]),
        ("a_float64 >= 'Infinity'::float8", ["inf", "nan"]),
        ("a_float64 = 0", ["-0.0", "0.0"]),
        ("a_float64 < 0", []),
    ],
)
def test_nan_is_greatest_and_equals_itself_and_zero_has_no_sign(text: str, expected: list[str]) -> None:
    matching = _matching(text, "a_float64", [-0.0, 0.0, math.inf, math.nan, None])
    assert [repr(value) for value in matching] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_int64 > 9007199254740992.5", [2**53 + 1, INT64_MAX]),
        ("a_int64 = 9007199254740993", [2**53 + 1]),
        ("a_int64 >= 9223372036854775806.5", [INT64_MAX]),
        ("a_int64 < -9223372036854775807.5", [INT64_MIN]),
        ("a_int64 > 9223372036854775808", []),
        ("a_int64 <> 1e30", [INT64_MIN, 2**53, 2**53 + 1, INT64_MAX]),
        ("-1e30 < a_int64", [INT64_MIN, 2**53, 2**53 + 1, INT64_MAX]),
        ("a_int64 = 0.5", []),
        ("a_int64 = '9007199254740992'::float8", [2**53, 2**53 + 1]),  # as PostgreSQL: int8 meets float8 as float8
    ],
)
def test_integers_meet_fractions_and_huge_numbers_exactly(text: str, expected: list[int]) -> None:
    assert _matching(text, "a_int64", [INT64_MIN, 2**53, 2**53 + 1, INT64_MAX, None]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_timestamp > '1970-01-01 00:00:00.000000999'", [1, 2]),
        ("a_timestamp <= '1970-01-01 00:00:00.000001001'", [-1, 0, 1]),
        ("a_timestamp = '1970-01-01 00:00:00.000001001'", []),
        ("a_timestamp < timestamp '1969-12-31 23:59:59.999999999'", [-1]),
        ("a_timestamp > '1500-01-01'", [-1, 0, 1, 2]),
    ],
)
def test_microseconds_meet_nanosecond_literals_exactly(text: str, expected: list[int]) -> None:
    assert _matching(text, "a_timestamp", [-1, 0, 1, 2, None]) == expected


def test_instants_that_nanoseconds_can_not_hold_are_below_or_above_all() -> None:
    values: list[object] = [INT64_MIN, 0, INT64_MAX]
    assert _matching("a_timestamp_ns > '1500-01-01'", "a_timestamp_ns", values) == values
    assert _matching("a_timestamp_ns <= '2500-01-01'", "a_timestamp_ns", values) == values
    assert _matching("a_timestamp_ns = '2500-01-01'", "a_timestamp_ns", values) == []
