import csv
import io
import itertools
import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.cli.output import printable
from instar.cli.values import plain_bound, plain_cells, plain_values, to_json
from instar.lake import open_lake
from instar.model.schema import TableSchema
from instar.model.types import FLOATS, SCALARS, DataType, can_be_key, parse_type
from instar.model.values import MICROS_PER_DAY, AclItem, Array, Interval, Range, json_text, to_array
from tests.cli.samples import lines, part_keys, run, run_json
from tests.strategies import json_values, types, values

ID = UUID("12345678-1234-5678-1234-567812345678")
SHOWN: list[tuple[str, Any, Any]] = [
    ("bool", True, True),
    ("int16", -1, -1),
    ("int32", -1, -1),
    ("int64", -(2**63), -(2**63)),
    ("uint16", 65_535, 65_535),
    ("uint32", 2**32 - 1, 2**32 - 1),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("float32", 0.1, 0.1),
    ("float32", float("nan"), "NaN"),
    ("float64", 0.1, 0.1),
    ("float64", float("-inf"), "-Infinity"),
    ("float64", float("inf"), "Infinity"),
    ("string", "é", "é"),
    ("bytes", b"\x00\xff", "00ff"),
    ("numeric", Decimal("1.50"), "1.5"),
    ("numeric", Decimal("12345678901234567890.123456789"), "12345678901234567890.123456789"),
    ("numeric", Decimal("NaN"), "NaN"),
    ("date", 20_454, "2026-01-01"),
    ("date", 2_932_897, "+10000-01-01"),
    ("date", -719_528, "0000-01-01"),
    ("date", -719_529, "-0001-12-31"),
    ("date", 2**31 - 1, "+5881580-07-11"),
    ("date", -(2**31), "-5877641-06-23"),
    ("time", 0, "00:00:00"),
    ("time", MICROS_PER_DAY - 1, "23:59:59.999999"),
    ("time", 3_723_500_000, "01:02:03.5"),
    ("timestamp", 0, "1970-01-01T00:00:00"),
    ("timestamp", -1, "1969-12-31T23:59:59.999999"),
    ("timestamp", 2**63 - 1, "+294247-01-10T04:00:54.775807"),
    ("timestamp", -(2**63), "-290308-12-21T19:59:05.224192"),
    ("timestamptz", 1_500_000, "1970-01-01T00:00:01.5Z"),
    ("timestamp_ns", 1, "1970-01-01T00:00:00.000000001"),
    ("timestamp_ns", 2**63 - 1, "2262-04-11T23:47:16.854775807"),
    ("interval", Interval(), "PT0S"),
    ("interval", Interval(14, 3, 3_723_500_000), "P1Y2M3DT1H2M3.5S"),
    ("interval", Interval(-14, 3, -1), "P-1Y-2M3DT-0.000001S"),
    ("interval", Interval(micros=-3_660_000_000), "PT-1H-1M"),
    ("jsonb", '{"b":[1.10,null],"a":"x"}', {"a": "x", "b": [Decimal("1.1"), None]}),
    ("uuid", ID, str(ID)),
    ("mz_timestamp", 2**64 - 1, 2**64 - 1),
    ("mz_aclitem", AclItem("u1", "s1", 3), {"grantee": "u1", "grantor": "s1", "acl_mode": 3}),
    ("aclitem", AclItem(1, 2, 3), {"grantee": 1, "grantor": 2, "acl_mode": 3}),
    ("int2vector", [1, 2], [1, 2]),
    ("list<date>", [0, None], ["1970-01-01", None]),
    ("map<float64>", {"a": float("nan"), "b": None}, {"a": "NaN", "b": None}),
    ("record<x uuid, y list<bytes>>", {"x": ID, "y": [b"\x01"]}, {"x": str(ID), "y": ["01"]}),
    ("record<x int64>", {"x": None}, {"x": None}),
    (
        "array<numeric>",
        Array((Decimal(1), None), ((0, 2),)),
        {"elements": ["1", None], "dimensions": [{"lower_bound": 0, "length": 2}]},
    ),
    (
        "range<date>",
        Range(0, None, lower_inclusive=True),
        {
            "lower": {"inclusive": True, "bound": "1970-01-01"},
            "upper": {"inclusive": False, "bound": None},
            "empty": False,
        },
    ),
]


@pytest.mark.parametrize(("text", "value", "shown"), SHOWN)
def test_a_value_shows_as_what_json_has(text: str, value: Any, shown: Any) -> None:
    data_type = parse_type(text)
    array = to_array(data_type, [None, value, value])
    assert plain_values(data_type, array) == [None, shown, shown]
    assert plain_values(data_type, pa.chunked_array([array[:1], array[1:]])) == [None, shown, shown]


@pytest.mark.parametrize("text", [str(t) for t in SCALARS if can_be_key(t)])
def test_a_bound_shows_as_a_value(text: str) -> None:
    value, shown = next((value, shown) for of, value, shown in SHOWN if of == text)
    assert plain_bound(parse_type(text), to_array(parse_type(text), [value])[0]) == shown


def test_the_bound_of_a_decimal_is_a_float_and_some_types_have_none() -> None:
    assert plain_bound(parse_type("numeric"), pa.scalar(float("inf"))) == "Infinity"
    assert plain_bound(parse_type("numeric"), pa.scalar(None, pa.float64())) is None
    assert plain_bound(parse_type("jsonb"), pa.scalar(None)) is None


def test_every_scalar_type_has_an_example() -> None:
    assert {text for text, _, _ in SHOWN} >= {str(data_type) for data_type in SCALARS}


@given(st.dates())
def test_days_are_those_of_the_calendar(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert plain_values(parse_type("date"), pa.array([days], pa.date32())) == [day.isoformat()]


@given(st.datetimes())
def test_times_are_those_of_the_clock(moment: datetime) -> None:
    micros = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001 - without a zone, as the type
    (shown,) = plain_values(parse_type("timestamp"), pa.array([micros], pa.timestamp("us")))
    assert datetime.fromisoformat(shown) == moment


@given(st.data(), types)
def test_values_of_any_type_can_be_written_as_json_and_as_cells(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), max_size=4))
    array = to_array(data_type, drawn)
    shown = plain_values(data_type, array)
    assert len(json.loads(to_json(shown))) == len(drawn)
    cells = plain_cells(data_type, array)
    assert [cell is None for cell in cells] == [value is None for value in drawn]
    assert all(isinstance(cell, str | int | float | bool | None) for cell in cells)


@given(json_values)
def test_json_keeps_its_numbers(value: Any) -> None:
    text = json_text(value)
    (shown,) = plain_values(parse_type("jsonb"), pa.array([text]))
    assert json_text(json.loads(to_json(shown), parse_float=Decimal, parse_int=Decimal)) == text


def test_a_cell_holds_nested_values_as_text() -> None:
    assert plain_cells(parse_type("list<string>"), pa.array([["ü", None], [], None])) == ['["ü", null]', "[]", None]
    assert plain_cells(parse_type("jsonb"), pa.array(['"x"', "null", None])) == ['"x"', "null", None]


def test_json_for_a_pipe_is_ascii() -> None:
    assert to_json({"ü": ["ü", Decimal("0.10")]}) == r'{"\u00fc": ["\u00fc", 0.1]}'


def test_a_table_of_every_type_can_be_read_in_each_format(tmp_path: Path) -> None:
    cells = {text: (value, shown) for text, value, shown in SHOWN}
    schema = TableSchema.create("db.t", {text: text for text in cells}, ids=itertools.count(1).__next__)
    row = {text: to_array(parse_type(text), [value]) for text, (value, _) in cells.items()}
    lake = open_lake(tmp_path.as_uri())
    lake.create_table(schema).append(pa.table(row))
    arguments = ("read", "db.t", "--lake", tmp_path.as_uri())
    (read,) = run_json(*arguments)
    assert read == {text: json.loads(to_json(shown)) for text, (_, shown) in cells.items()}
    (record,) = csv.DictReader(io.StringIO(run(*arguments, "--format", "csv")))
    _, body = lines(*arguments)
    (key,) = part_keys(lake, "db.t")
    shown_columns = {column["name"] for column in run_json("part", "show", key, "--lake", tmp_path.as_uri())["columns"]}
    assert cells.keys() <= shown_columns
    for text, cell in zip(cells, body, strict=True):
        shown = plain_cells(parse_type(text), row[text])[0]
        assert cell.strip() == printable(shown)
        if parse_type(text) not in FLOATS:  # CSV has their names as Arrow writes them
            assert record[text] == printable(shown)
