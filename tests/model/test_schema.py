import itertools
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from instar.model.schema import (
    D_COLUMN,
    FIELD_ID_KEY,
    T_COLUMN,
    Column,
    ColumnId,
    InvalidSchema,
    MergeMode,
    TableName,
    TableSchema,
    UnknownColumn,
)
from instar.model.types import INT64, STRING, UnsupportedType
from tests.strategies import schemas

A, B = Column(ColumnId(1), "a", INT64, nullable=False), Column(ColumnId(2), "b", STRING)
NAME = TableName("db", "t")


def create(**options: Any) -> TableSchema:
    return TableSchema.create("db.t", {"a": "int64", "b": "string"}, ids=itertools.count(1).__next__, **options)


@given(schemas())
def test_a_schema_comes_back_from_json(schema: TableSchema) -> None:
    assert TableSchema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@given(schemas())
def test_every_column_is_either_key_or_value(schema: TableSchema) -> None:
    both = (*schema.key_columns, *schema.value_columns)
    assert sorted(column.id for column in both) == sorted(column.id for column in schema.columns)
    assert [column.id for column in schema.key_columns] == list(schema.key)


@given(schemas())
def test_arrow_fields_carry_the_column_ids_and_updates_end_with_time_and_diff(schema: TableSchema) -> None:
    fields = schema.update_schema()
    assert fields.names == [*(column.name for column in schema.columns), T_COLUMN, D_COLUMN]
    assert [int(field.metadata[FIELD_ID_KEY]) for field in schema.arrow_schema()] == [c.id for c in schema.columns]
    assert [fields.field(name) for name in (T_COLUMN, D_COLUMN)] == [
        pa.field(name, pa.int64(), nullable=False) for name in (T_COLUMN, D_COLUMN)
    ]


@given(schemas())
def test_a_column_is_found_whatever_the_case_of_its_name(schema: TableSchema) -> None:
    for column in schema.columns:
        assert schema.column(column.name) == schema.column(column.name.lower()) == column
        assert schema.column_by_id(column.id) == column


def test_a_new_table_draws_an_id_per_column_and_draws_again_where_one_comes_twice() -> None:
    drawn = iter([7, 7, 5])
    schema = TableSchema.create("db.t", {"a": "int64", "b": "string"}, ids=lambda: next(drawn))
    assert {column.id for column in schema.columns} == {5, 7}


def test_keys_and_required_columns_are_not_nullable() -> None:
    schema = create(key=["a"], merge_mode="upsert")
    assert [column.nullable for column in schema.columns] == [False, True]
    assert [column.nullable for column in create(required=["b"]).columns] == [True, False]


def test_a_table_is_sorted_by_its_key_unless_told_otherwise() -> None:
    assert create(key=["a"], merge_mode="upsert").sort_by == (1,)
    assert create(key=["a"], merge_mode="upsert", sort_by=["b", "a"]).sort_by == (2, 1)
    assert create().sort_by == ()


@pytest.mark.parametrize("option", ["key", "sort_by", "required"])
def test_an_unknown_name_in_a_definition_is_named(option: str) -> None:
    with pytest.raises(InvalidSchema, match="no column 'c'"):
        create(**{option: ["c"]})


def test_an_unknown_type_in_a_definition_is_refused() -> None:
    with pytest.raises(UnsupportedType, match="money"):
        TableSchema.create("db.t", {"a": "money"}, ids=lambda: 1)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ((), {}, "has no column"),
        ((Column(ColumnId(1), "", INT64),), {}, "can't name a column"),
        ((Column(ColumnId(1), "_Instar_x", INT64),), {}, "can't name a column"),
        ((A, Column(ColumnId(2), "A", INT64)), {}, "Two columns are called"),
        ((A, Column(ColumnId(1), "b", INT64)), {}, "share an id"),
        ((A, B), {"sort_by": (9,)}, "no column with id 9"),
        ((A, B), {"key": (9,), "merge_mode": MergeMode.UPSERT}, "no column with id 9"),
        ((A, B), {"merge_mode": MergeMode.UPSERT}, "upsert with 0 key columns"),
        ((A, B), {"key": (1,)}, "append with 1 key columns"),
        ((A, B), {"key": (1, 1), "merge_mode": MergeMode.UPSERT}, "key of db.t names column 'a' twice"),
        ((A, B), {"sort_by": (2, 1, 2)}, "sort_by of db.t names column 'b' twice"),
        ((A, Column(ColumnId(0), "z", INT64)), {}, "Column 'z' of db.t has the id 0"),
        ((A, Column(ColumnId(-1), "z", INT64)), {}, "has the id -1"),
        ((A, Column(ColumnId(2**31), "z", INT64)), {}, "has the id 2147483648"),
    ],
)
def test_a_table_that_can_not_be_stored_is_refused(
    columns: tuple[Column, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidSchema, match=message):
        TableSchema(NAME, columns, **options)


@pytest.mark.parametrize("number", [1, 2**31 - 1])
def test_the_first_and_the_last_id_are_taken(number: int) -> None:
    assert TableSchema(NAME, (Column(ColumnId(number), "a", INT64),)).columns[0].id == number


def test_a_name_in_a_definition_that_comes_twice_is_refused() -> None:
    with pytest.raises(InvalidSchema, match=r"key of db\.t names column 'a' twice"):
        create(key=["a", "a"], merge_mode="upsert")


def test_a_delete_needs_its_key_alone_in_updates_but_rows_need_all_that_is_required() -> None:
    schema = create(key=["a"], merge_mode="upsert", required=["b"])
    assert [field.nullable for field in schema.update_schema()] == [False, True, False, False]
    assert [field.nullable for field in schema.arrow_schema()] == [False, False]
    assert schema.update_schema().field("b").metadata == schema.arrow_schema().field("b").metadata


def test_a_key_column_may_be_nullable_as_a_tag_that_some_lines_lack() -> None:
    schema = TableSchema(NAME, (A, B), key=(A.id, B.id), merge_mode=MergeMode.UPSERT)
    assert [field.nullable for field in schema.update_schema()] == [False, True, False, False]


def test_updates_of_an_append_table_need_all_that_is_required() -> None:
    assert [field.nullable for field in create(required=["b"]).update_schema()] == [True, False, False, False]


def test_an_unknown_column_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownColumn, match=r"no column 'c'.*a, b"):
        TableSchema(NAME, (A, B)).column("c")


def test_a_table_name_is_split_at_its_first_dot() -> None:
    assert TableName.parse("db.t.x") == TableName("db", "t.x")
    assert str(TableName("db", "t")) == "db.t"


@given(schemas())
def test_a_table_name_comes_back_from_text(schema: TableSchema) -> None:
    assert TableName.parse(str(schema.name)) == schema.name


@pytest.mark.parametrize(("database", "table"), [("a.b", "c"), (".", "c"), ("", "c"), ("a", "")])
def test_a_table_name_that_would_not_come_back_from_text_is_refused(database: str, table: str) -> None:
    with pytest.raises(InvalidSchema, match="not the name of a table"):
        TableName(database, table)


@pytest.mark.parametrize("text", ["", "t", ".t", "db.", "."])
def test_half_a_table_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchema, match="not the name of a table"):
        TableName.parse(text)
