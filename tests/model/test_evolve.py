import itertools

import pytest

from instar.model.evolve import add_column, drop_column, rename_column, set_default
from instar.model.schema import InvalidSchema, TableSchema, UnknownColumn

SCHEMA = TableSchema.create(
    "shop.orders",
    {"id": "int64", "day": "date", "note": "string"},
    ids=itertools.count(1).__next__,
    key=["id"],
    merge_mode="upsert",
    sort_by=["note"],
    partition_by={"day": "month"},
    lookup=["note"],
    keep_statistics=["note"],
)


def test_a_new_column_shows_its_default_in_old_rows_and_in_new_ones() -> None:
    column = add_column(SCHEMA, "rank", "int32", ids=itertools.count(1).__next__, default=5).column("rank")
    assert (column.id, column.initial_default, column.write_default) == (4, "5", "5")


def test_another_default_leaves_old_rows_as_they_are() -> None:
    schema = add_column(SCHEMA, "rank", "int32", ids=itertools.count(9).__next__, default=5)
    column = set_default(schema, "rank", 6).column("rank")
    assert (column.initial_default, column.write_default) == ("5", "6")
    assert set_default(schema, "rank", None).column("rank").write_default is None


def test_an_id_is_never_used_again() -> None:
    without = drop_column(SCHEMA, "note")
    assert without.dropped == (3,)
    assert add_column(without, "note", "string", ids=itertools.count(1).__next__).column("note").id == 4


def test_a_dropped_column_leaves_the_roles_that_it_had() -> None:
    schema = drop_column(SCHEMA, "note")
    assert (schema.sort_by, schema.lookup, schema.keep_statistics) == ((), (), ())


@pytest.mark.parametrize("name", ["id", "day"])
def test_a_column_of_the_key_or_the_partition_order_stays(name: str) -> None:
    with pytest.raises(InvalidSchema, match=f"'{name}' is in the"):
        drop_column(SCHEMA, name)


def test_a_renamed_column_is_the_same_one() -> None:
    assert rename_column(SCHEMA, "note", "remark").column("remark").id == 3
    with pytest.raises(InvalidSchema, match="Two columns"):
        rename_column(SCHEMA, "note", "Day")


def test_a_required_column_needs_a_default() -> None:
    with pytest.raises(InvalidSchema, match="would be required"):
        add_column(SCHEMA, "rank", "int32", ids=itertools.count(9).__next__, nullable=False)


@pytest.mark.parametrize(("type_name", "default"), [("int16", 40_000), ("int32", "5"), ("list<int64>", [1.5])])
def test_a_default_is_a_value_of_the_column(type_name: str, default: object) -> None:
    with pytest.raises(InvalidSchema, match="The default of 'x' does not fit"):
        add_column(SCHEMA, "x", type_name, ids=itertools.count(9).__next__, default=default)


def test_changes_name_columns_that_there_are() -> None:
    with pytest.raises(UnknownColumn):
        drop_column(SCHEMA, "notes")
