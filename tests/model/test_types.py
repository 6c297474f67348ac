import pytest
from hypothesis import given

from instar.model.types import (
    RANGE_BOUNDS,
    SCALARS,
    DataType,
    UnsupportedType,
    can_be_key,
    list_of,
    parse_type,
    range_of,
    record_of,
)
from tests.strategies import types


@given(types)
def test_a_type_is_read_from_its_text(data_type: DataType) -> None:
    assert parse_type(str(data_type)) == data_type


def test_blanks_do_not_matter() -> None:
    found = parse_type(' record < x list<int64> ,"the y"   string> ')
    assert found == record_of(**{"x": parse_type("list<int64>"), "the y": parse_type("string")})
    assert str(found) == 'record<x list<int64>, "the y" string>'


@pytest.mark.parametrize("name", ["", "Int64", "decimal", "list", ">"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnsupportedType, match=r"timestamp_ns|unexpected"):
        parse_type(name)


@pytest.mark.parametrize(
    "text",
    [
        "list<>",
        "list<int64",
        "list<int64,int64>",
        "int64>",
        "int64 string",
        "record<>",
        "record<x>",
        "list int64",
        "map<;>",
    ],
)
def test_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedType, match=r"is no type|There is no type|at least one"):
        parse_type(text)


def test_a_record_names_each_field_once() -> None:
    with pytest.raises(UnsupportedType, match="each with a name of its own"):
        parse_type("record<x int64, x int64>")


@pytest.mark.parametrize("data_type", [t for t in SCALARS if t not in RANGE_BOUNDS], ids=str)
def test_other_types_have_no_ranges(data_type: DataType) -> None:
    with pytest.raises(UnsupportedType, match=f"There is no range of {data_type}"):
        range_of(data_type)


def test_types_made_of_others_can_be_no_key() -> None:
    assert can_be_key(parse_type("uuid"))
    assert not can_be_key(list_of(parse_type("uuid")))
    assert not can_be_key(parse_type("jsonb"))


def test_a_type_is_walked_with_all_that_it_is_made_of() -> None:
    assert [str(t) for t in parse_type("map<record<x list<int64>, y date>>").walk()] == [
        "map<record<x list<int64>, y date>>",
        "record<x list<int64>, y date>",
        "list<int64>",
        "int64",
        "date",
    ]
