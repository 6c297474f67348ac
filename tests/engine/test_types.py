from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from instar.engine.types import from_spark_form, spark_fields, spark_type, to_spark_form
from instar.model.arrow import bound_type, extension_name, to_arrow
from instar.model.schema import Column, ColumnId
from instar.model.types import SCALARS, DataType, UnsupportedType, parse_type
from instar.model.values import MICROS_PER_DAY, AclItem, Array, Interval, InvalidValue, Range, to_array
from tests.strategies import exact_rows, types, values

REFERENCE = Path(__file__).parents[2] / "docs/reference/types.md"
ENDS: dict[str, list[Any]] = {
    "bool": [True, False],
    "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "uint16": [0, 2**16 - 1],
    "uint32": [0, 2**32 - 1],
    "uint64": [0, 2**64 - 1],
    "float32": [-0.0, float("nan")],
    "float64": [5e-324, float("-inf")],
    "string": ["", "\x00\U0010ffff"],
    "bytes": [b"", b"\x00\xff"],
    "numeric": [Decimal("NaN"), Decimal("-1E-400")],
    "date": [-(2**31), 2**31 - 1],
    "time": [0, MICROS_PER_DAY - 1],
    "timestamp": [-(2**63), 2**63 - 1],
    "timestamptz": [-(2**63), 2**63 - 1],
    "timestamp_ns": [-(2**63), 2**63 - 1],
    "interval": [Interval(-(2**31), 2**31 - 1, -(2**63)), Interval(0, 0, 2**63 - 1)],
    "jsonb": ["null", '{"a":[1E+400,"x"]}'],
    "uuid": [UUID(int=0), UUID(int=2**128 - 1)],
    "mz_timestamp": [0, 2**64 - 1],
    "mz_aclitem": [AclItem("u1", "", 0), AclItem("u2", "s1", 2**64 - 1)],
    "aclitem": [AclItem(0, 1, 0), AclItem(2**32 - 1, 1, 2**64 - 1)],
    "int2vector": [[], [-(2**15), 2**15 - 1]],
}
"""The ends of every scalar type, or what is odd about it."""
NESTED: dict[str, list[Any]] = {
    **{f"list<{kind}>": [[], [None, *ends]] for kind, ends in ENDS.items()},
    "map<numeric>": [{}, {"b": None, "": Decimal("1.50")}],
    "map<map<time>>": [{"a": None, "b": {}}, {"a": {"x": 1, "y": None}}],
    "array<uuid>": [Array((), ()), Array((UUID(int=7), None), ((-1, 1), (1, 2)))],
    "range<timestamptz>": [Range(empty=True), Range(None, 2**63 - 1, upper_inclusive=True)],
    "range<numeric>": [Range(), Range(Decimal("0.1"), Decimal(2), lower_inclusive=True)],
    'record<x interval, "a`b: c" list<record<"Ä" uint64>>>': [
        {"x": None, "a`b: c": None},
        {"x": Interval(1), "a`b: c": [None, {"Ä": None}, {"Ä": 5}]},
    ],
}


def table_of(data_type: DataType, drawn: list[Any], cut: int = 0) -> tuple[list[Column], pa.Table]:
    table = pa.table({"x": to_array(data_type, drawn)})
    return [Column(ColumnId(1), "x", data_type)], pa.concat_tables([table.slice(0, cut), table.slice(cut)])


def check_round_trip(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), max_size=5))
    columns, table = table_of(data_type, drawn, data.draw(st.integers(0, len(drawn))))
    shown = to_spark_form(table, columns)
    shown.validate(full=True)
    found = from_spark_form(shown, columns)
    found.validate(full=True)
    assert found.schema.types == [to_arrow(data_type)]
    assert exact_rows(found) == exact_rows(table)


@pytest.mark.parametrize("data_type", SCALARS, ids=str)
@given(data=st.data())
def test_values_of_a_scalar_type_come_back_from_their_spark_form(data: st.DataObject, data_type: DataType) -> None:
    check_round_trip(data, data_type)


@given(st.data(), types)
def test_values_of_any_type_come_back_from_their_spark_form(data: st.DataObject, data_type: DataType) -> None:
    check_round_trip(data, data_type)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("int16", "smallint"),
        ("uint16", "int"),
        ("uint32", "bigint"),
        ("uint64", "decimal(20,0)"),
        ("float32", "float"),
        ("numeric", "string"),
        ("timestamptz", "timestamp"),
        ("interval", "struct<`months`: int, `days`: int, `micros`: bigint>"),
        ("int2vector", "array<smallint>"),
        ("map<list<uuid>>", "map<string, array<string>>"),
        ('record<"a`b" bool>', "struct<`a``b`: boolean>"),
        ("aclitem", "struct<`grantee`: bigint, `grantor`: bigint, `acl_mode`: decimal(20,0)>"),
    ],
)
def test_a_type_shows_as_the_nearest_that_spark_has(text: str, shown: str) -> None:
    assert spark_type(parse_type(text)) == shown


def reference_table(heading: str) -> dict[str, list[str]]:
    """Return the cells of the rows below a heading of the reference, by type."""
    section = REFERENCE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = (line for line in section.splitlines() if line.startswith("| `"))
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {first.strip("`"): rest for first, *rest in rows}


def test_the_reference_says_how_each_type_lies_and_shows() -> None:
    in_files, in_engines = reference_table("In Arrow and in files"), reference_table("In engines")
    assert in_files.keys() == in_engines.keys()
    assert in_files.keys() >= {str(data_type) for data_type in SCALARS}
    for text, (*_, shown) in in_engines.items():
        data_type = parse_type(text)
        arrow_type, stored, ranges = in_files[text]
        assert arrow_type.split("`")[1] == str(to_arrow(data_type))
        assert shown.split("`")[1] == spark_type(data_type).replace("`", "")
        assert (ranges != "no") == (bound_type(data_type) is not None)
        if (name := extension_name(data_type)) is not None:
            assert stored == f"`{name}`"


def test_what_spark_has_is_passed_on_as_it_is() -> None:
    columns, table = table_of(parse_type("record<x list<int64>, y timestamptz>"), [{"x": [1], "y": None}])
    addresses = [
        form.column("x").chunk(0).flatten()[0].values.buffers()[1].address
        for form in (table, to_spark_form(table, columns))
    ]
    assert addresses[0] == addresses[1]


def test_the_columns_of_a_table_keep_their_order_and_names() -> None:
    columns = [Column(ColumnId(place), name, parse_type("uint16")) for place, name in enumerate(("b.`", "a"), start=1)]
    table = pa.table({name: pa.array([1], pa.uint16()) for name in ("a", "other", "b.`")})
    assert to_spark_form(table, columns).column_names == ["b.`", "a"]
    assert spark_fields(columns) == "`b.``` int, `a` int"


@pytest.mark.parametrize("column", [("\0", "bool"), ("x", 'list<record<"a\\u0000" bool>>')])
def test_a_name_that_spark_loses_is_refused(column: tuple[str, str]) -> None:
    name, text = column
    with pytest.raises(UnsupportedType, match="zero character"):
        spark_fields([Column(ColumnId(1), name, parse_type(text))])


@pytest.mark.parametrize("text", ["", "0" * 32, "0" * 36, "00000000-0000-0000-0000-00000000000g"])
def test_a_text_that_is_no_uuid_is_refused(text: str) -> None:
    columns, _ = table_of(parse_type("uuid"), [])
    with pytest.raises(InvalidValue, match=f"'{text}' is no uuid"):
        from_spark_form(pa.table({"x": [str(UUID(int=1)), None, text]}), columns)


@pytest.mark.spark
def test_every_type_goes_through_spark_and_comes_back(spark: SparkSession) -> None:
    cells = {parse_type(text): [None, *ends] for text, ends in {**ENDS, **NESTED}.items()}
    assert cells.keys() >= set(SCALARS)
    columns = [Column(ColumnId(place), f"c{place}", kind) for place, kind in enumerate(cells, start=1)]
    table = pa.table({column.name: to_array(column.type, cells[column.type]) for column in columns})
    shown = to_spark_form(table, columns)
    fields = spark_fields(columns)

    def pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    for frame in (spark.createDataFrame(shown, fields), spark.createDataFrame(shown)):
        found = from_spark_form(frame.mapInArrow(pass_on, fields).toArrow(), columns)
        assert found.schema.types == table.schema.types
        assert exact_rows(found) == exact_rows(table)
