from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.types import DataType, parse_type
from instar.model.values import (
    NUMERIC_TEXT,
    AclItem,
    Array,
    Interval,
    InvalidValue,
    Range,
    json_text,
    numeric_text,
    pack_interval,
    parse_json,
    sort_key,
    to_array,
    to_values,
    unpack_interval,
)
from tests.strategies import decimals, json_values, types, values

NAN, INF = float("nan"), float("inf")
ASCENDING: dict[str, list[Any]] = {
    "bool": [False, True, None],
    "float64": [-INF, -1.0, 0.0, 5e-324, INF, NAN, None],
    "string": ["", "a", "b", "ba", "é", "\U0010ffff"],
    "numeric": [Decimal(text) for text in ("-Infinity", "-2", "0", "1E-400", "1.00", "1E+400", "Infinity", "NaN")],
    "interval": [Interval(-1, 9, 9), Interval(0, -1, 0), Interval(), Interval(0, 0, 1), Interval(0, 1), Interval(1)],
    "jsonb": ["null", '"a"', '"b"', "-1", "2.5", "false", "true", "[]", "[9]", "[1,2]", "{}", '{"a":1}', '{"a":2}'],
    "list<int64>": [[], [1], [1, 2], [1, None], [2], [None]],
    "array<int64>": [Array((), ()), Array((1,), ((0, 1),)), Array((1,), ((1, 1),)), Array((2,), ((1, 1),))],
    "map<int64>": [{}, {"a": 1}, {"a": 2}, {"a": None}, {"b": 0}],
    "record<x int64, y string>": [{"x": 1, "y": "b"}, {"x": 2, "y": "a"}, {"x": None, "y": "a"}],
    "range<int64>": [
        Range(empty=True),
        Range(None, 5),
        Range(1, 5, lower_inclusive=True),
        Range(1, 5, lower_inclusive=False),
        Range(1, 5, lower_inclusive=False, upper_inclusive=True),
        Range(1, None),
    ],
    "aclitem": [AclItem(1, 2, 3), AclItem(1, 3, 0), AclItem(2, 0, 0)],
}


@pytest.mark.parametrize("text", ASCENDING)
def test_values_are_ordered(text: str) -> None:
    keys = [sort_key(parse_type(text), value) for value in ASCENDING[text]]
    assert all(a < b for a, b in pairwise(keys))


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("numeric", Decimal("1.0"), Decimal("1.00")),
        ("numeric", Decimal("-0"), Decimal("0.00")),
        ("numeric", Decimal("NaN"), Decimal("NaN")),
        ("float64", -0.0, 0.0),
        ("float32", NAN, NAN),
        ("jsonb", '{"b": 1.0, "a": [1e2]}', '{"a":[100],"b":1}'),
    ],
)
def test_equal_values_may_be_written_differently(text: str, left: Any, right: Any) -> None:
    assert sort_key(parse_type(text), left) == sort_key(parse_type(text), right)


@given(st.data(), types)
def test_values_come_back_from_arrow(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), max_size=6))
    array = to_array(data_type, drawn)
    array.validate(full=True)
    found = to_values(data_type, array)
    assert [sort_key(data_type, value) for value in found] == [sort_key(data_type, value) for value in drawn]


def test_no_array_an_empty_one_and_an_empty_dimension_differ() -> None:
    data_type = parse_type("array<int64>")
    drawn = [None, Array((), ()), Array((), ((1, 0),))]
    assert to_values(data_type, to_array(data_type, drawn)) == drawn


@given(decimals, decimals)
def test_decimals_have_one_text_each(left: Decimal, right: Decimal) -> None:
    numeric = parse_type("numeric")
    same = sort_key(numeric, left) == sort_key(numeric, right)
    assert (numeric_text(left) == numeric_text(right)) is same
    assert sort_key(numeric, Decimal(numeric_text(left))) == sort_key(numeric, left)


@given(decimals)
def test_the_pattern_tells_that_text_from_others(value: Decimal) -> None:
    text = numeric_text(value)
    others = {f"{value:E}", str(value), f"+{text}", f"{text}0", f"0{text}", f"{text}.0"} - {text}
    matched = pc.match_substring_regex(pa.array([text, *others]), NUMERIC_TEXT).to_pylist()
    assert matched == [
        True,
        *(numeric_text(Decimal(other)) == other if _is_number(other) else False for other in others),
    ]


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except ArithmeticError:
        return False
    return True


@given(json_values)
def test_json_has_one_text_each(value: Any) -> None:
    text = json_text(value)
    assert json_text(parse_json(text)) == text


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", "[1,]", "{'a': 1}", "Infinity", "[" * 100_000, "1E+9999999999999999999"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="is no JSON"):
        parse_json(text)


@pytest.mark.parametrize("micros", [-1, 86_400_000_000])
def test_a_time_is_within_a_day(micros: int) -> None:
    with pytest.raises(InvalidValue, match="no time of day"):
        to_array(parse_type("time"), [micros])


@given(st.data())
def test_packed_intervals_sort_as_intervals(data: st.DataObject) -> None:
    left, right = (data.draw(values(parse_type("interval"))) for _ in range(2))
    assert (pack_interval(left) < pack_interval(right)) == (left < right)
    assert unpack_interval(pack_interval(left)) == left


@pytest.mark.parametrize(
    ("elements", "dimensions", "fits"),
    [
        ((), (), True),
        ((), ((1, 0),), True),
        ((1, 2), ((1, 2),), True),
        ((1,), (), False),
        ((1, 2), ((0, 2), (0, 2)), False),
    ],
)
def test_an_array_has_as_many_elements_as_its_dimensions_say(elements: Any, dimensions: Any, fits: bool) -> None:
    data_type, array = parse_type("array<int64>"), Array(elements, dimensions)
    if fits:
        assert to_values(data_type, to_array(data_type, [array])) == [array]
    else:
        with pytest.raises(InvalidValue, match="An array of the lengths"):
            to_array(data_type, [array])
