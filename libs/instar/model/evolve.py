"""Change a table's columns. Ids are never used again, so a column that comes back by name is another one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from instar.clock import IdSource
from instar.model.schema import Column, ColumnId, InvalidSchema, TableSchema
from instar.model.types import DataType, parse_type, widens


def add_column(
    schema: TableSchema, name: str, type_name: str, *, ids: IdSource, default: Any = None, nullable: bool = True
) -> TableSchema:
    """Return the table with one more column, at its end.

    Rows that were written before show `default`, and so do later rows that come without the column.
    """
    if default is None and not nullable:
        raise InvalidSchema(
            f"{name!r} would be required in {schema.name}, whose rows have none.", help="Give it a default."
        )
    used = {column.id for column in schema.columns} | set(schema.dropped)
    number = next(ColumnId(drawn) for drawn in iter(ids, None) if drawn not in used)
    column = Column(number, name, parse_type(type_name), nullable).with_default(default)
    return replace(schema, columns=(*schema.columns, replace(column, initial_default=column.write_default)))


def set_default(schema: TableSchema, name: str, default: Any) -> TableSchema:
    """Return the table with another default for rows to come. What older rows show does not change."""
    return _changed(schema, name, lambda column: column.with_default(default))


def rename_column(schema: TableSchema, name: str, new: str) -> TableSchema:
    return _changed(schema, name, lambda column: replace(column, name=new))


def widen_column(schema: TableSchema, name: str, data_type: DataType) -> TableSchema:
    """Return the table with a wider type for one column. Older parts hold narrower values, which are equal."""
    of = schema.column(name)
    if not widens(of.type, data_type):
        raise InvalidSchema(
            f"Column {of.name!r} of {schema.name} is {of.type}; {data_type} does not hold all its values.",
            help="Only a wider type of the same kind will do; else add a new column.",
        )
    return _changed(schema, name, lambda column: replace(column, type=data_type))


def set_sort_order(schema: TableSchema, names: Sequence[str]) -> TableSchema:
    """Return the table with another order of rows in the parts to come."""
    return replace(schema, sort_by=tuple(schema.column(name).id for name in names))


def drop_column(schema: TableSchema, name: str) -> TableSchema:
    """Return the table without a column. What files hold of it is read no more."""
    gone = schema.column(name).id
    held = {"key": schema.key, "partition order": tuple(of.column for of in schema.partition_by)}
    for role, columns in held.items():
        if gone in columns:
            raise InvalidSchema(f"{name!r} is in the {role} of {schema.name}.", help="Make a new table without it.")
    return replace(
        schema,
        columns=tuple(column for column in schema.columns if column.id != gone),
        sort_by=_without(schema.sort_by, gone),
        lookup=_without(schema.lookup, gone),
        keep_statistics=_without(schema.keep_statistics, gone),
        dropped=(*schema.dropped, gone),
    )


def _changed(schema: TableSchema, name: str, change: Callable[[Column], Column]) -> TableSchema:
    of = schema.column(name)
    columns = tuple(change(column) if column.id == of.id else column for column in schema.columns)
    return replace(schema, columns=columns)


def _without(columns: tuple[ColumnId, ...], gone: ColumnId) -> tuple[ColumnId, ...]:
    return tuple(column for column in columns if column != gone)
