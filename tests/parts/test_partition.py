import itertools
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from instar.model.schema import InvalidSchema, TableSchema
from instar.model.settings import TableSettings
from instar.model.types import parse_type
from instar.model.values import to_array
from instar.parts.partition import split_by_partition


def table(columns: dict[str, str], by: dict[str, str], **changes: Any) -> TableSchema:
    return TableSchema.create("d.t", columns, ids=itertools.count(1).__next__, partition_by=by, **changes)


def split(type_name: str, unit: str, cells: list[Any]) -> dict[str, int]:
    rows = pa.table({"x": to_array(parse_type(type_name), cells)})
    return {name: of.num_rows for name, of in split_by_partition(rows, table({"x": type_name}, {"x": unit}))}


def test_a_table_without_an_order_has_one_partition_without_a_name() -> None:
    rows = pa.table({"x": [1, 2]})
    assert list(split_by_partition(rows, table({"x": "int64"}, {}))) == [("", rows)]


DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("type_name", "unit", "cells", "names"),
    [
        ("string", "value", ["CA", None, "CA", "a/b"], {"x=CA": 2, "x=null": 1, "x=a/b": 1}),
        ("bool", "value", [True, False], {"x=True": 1, "x=False": 1}),
        ("bytes", "value", [b"\xff"], {"x=ff": 1}),
        ("uuid", "value", [UUID(int=1)], {f"x={UUID(int=1)}": 1}),
        ("date", "month", [0, 30, 31, -1], {"x=1970-01": 2, "x=1970-02": 1, "x=1969-12": 1}),
        ("timestamp", "day", [0, DAY - 1, DAY, None], {"x=1970-01-01": 2, "x=1970-01-02": 1, "x=null": 1}),
        ("timestamptz", "hour", [-1], {"x=1969-12-31T23": 1}),
        ("timestamp_ns", "year", [0, 2**62], {"x=1970": 1, "x=2116": 1}),
        ("timestamp", "year", [2**62], {"x=148108": 1}),
    ],
)
def test_rows_are_split_by_value_or_by_unit_of_time(
    type_name: str, unit: str, cells: list[Any], names: dict[str, int]
) -> None:
    assert split(type_name, unit, cells) == names


def test_several_columns_make_one_name() -> None:
    schema = table({"state": "string", "day": "date"}, {"state": "value", "day": "day"})
    rows = pa.table({"state": ["CA", "WA"], "day": pa.array([0, 0], pa.date32())})
    assert [name for name, _ in split_by_partition(rows, schema)] == [
        "state=CA,day=1970-01-01",
        "state=WA,day=1970-01-01",
    ]


def test_a_name_does_not_tell_the_column_where_names_are_secret() -> None:
    schema = table({"state": "string"}, {"state": "value"}, settings=TableSettings(names_by_id=True))
    assert [name for name, _ in split_by_partition(pa.table({"state": ["CA"]}), schema)] == ["c1=CA"]


def test_only_times_have_units() -> None:
    with pytest.raises(InvalidSchema, match="can't be split by the day of 'x', which is int64"):
        table({"x": "int64"}, {"x": "day"})
