"""What readers see of parts that were written under an older schema."""

import itertools
from typing import Any

import pyarrow as pa
import pytest

from instar.model.evolve import add_column, drop_column, rename_column, widen_column
from instar.model.part import PartFormat
from instar.model.schema import InvalidSchema, TableSchema
from instar.model.settings import TableSettings
from instar.model.types import FLOAT64, INT64, parse_type
from instar.parts.reader import ReadFormat, read_footer, read_part
from instar.parts.writer import WrittenPart, write_part
from instar.plan.write import as_updates, fit_rows
from tests.parts.samples import provenance, stored

IDS = itertools.count(1).__next__
each_way = pytest.mark.parametrize(
    ("format", "read_format", "codec"),
    [
        (PartFormat.CODEC, "codec", "row"),
        (PartFormat.CODEC, "codec", "json"),
        (PartFormat.DUAL, "codec", "row"),
        (PartFormat.DUAL, "structured", "row"),
        (PartFormat.STRUCTURED, "structured", "row"),
    ],
)


def table(**changes: Any) -> TableSchema:
    return TableSchema.create("d.t", {"a": "string", "b": "int64"}, ids=itertools.count(1).__next__, **changes)


def insert(schema: TableSchema, format: PartFormat, codec: str, **rows: Any) -> WrittenPart:
    fitted = as_updates(fit_rows(pa.table({name: [value] for name, value in rows.items()}), schema), 0)
    return write_part(fitted, schema, format, provenance(schema), codec=codec)


def row(part: WrittenPart, schema: TableSchema, read_format: ReadFormat) -> list[Any]:
    found = read_part(stored(part), part.key, schema, read_format=read_format)
    return [found.column(column.name)[0].as_py() for column in schema.columns]


@each_way
def test_a_column_that_comes_back_by_name_never_shows_the_old_values(
    format: PartFormat, read_format: ReadFormat, codec: str
) -> None:
    first = table()
    old = insert(first, format, codec, a="hello", b=5)
    assert row(old, first, read_format) == ["hello", 5]
    without = drop_column(first, "b")
    assert row(old, without, read_format) == ["hello"]
    again = add_column(without, "b", "int64", ids=itertools.count(1).__next__, default=50)
    assert row(old, again, read_format) == ["hello", 50]
    assert row(insert(again, format, codec, a="x", b=7), again, read_format) == ["x", 7]
    assert row(insert(again, format, codec, a="x"), again, read_format) == ["x", 50]
    assert row(insert(again, format, codec, a="x", b=None), again, read_format) == ["x", None]


@each_way
def test_parts_from_before_a_column_was_widened_hold_equal_values(
    format: PartFormat, read_format: ReadFormat, codec: str
) -> None:
    narrow = TableSchema.create("d.t", {"a": "int16", "b": "float32"}, ids=itertools.count(1).__next__)
    wide = widen_column(widen_column(narrow, "a", INT64), "b", FLOAT64)
    assert row(insert(narrow, format, codec, a=-5, b=0.5), wide, read_format) == [-5, 0.5]
    assert row(insert(wide, format, codec, a=2**40, b=0.1), wide, read_format) == [2**40, 0.1]


def test_only_a_type_that_holds_all_values_is_wider() -> None:
    with pytest.raises(InvalidSchema, match="int32 does not hold all its values"):
        widen_column(table(), "b", parse_type("int32"))


@each_way
def test_where_names_are_secret_files_do_not_hold_them(format: PartFormat, read_format: ReadFormat, codec: str) -> None:
    schema = TableSchema.create(
        "d.t",
        {"diagnosis": "string", "dose": "float64"},
        ids=itertools.count(1).__next__,
        key=["diagnosis"],
        merge_mode="upsert",
        lookup=["diagnosis"],
        settings=TableSettings(names_by_id=True),
    )
    part = insert(schema, format, codec, diagnosis="flu", dose=1.5)
    assert b"diagnosis" not in part.data
    assert b"dose" not in part.data
    assert [column.name for column in read_footer(stored(part), part.key).schema.columns] == ["c1", "c2"]
    assert row(part, schema, read_format) == ["flu", 1.5]
    assert row(part, rename_column(schema, "dose", "amount"), read_format) == ["flu", 1.5]
