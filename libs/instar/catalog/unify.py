"""One schema for a table that several writers have evolved on their own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from instar.catalog.snapshot import TableState
from instar.errors import InstarError
from instar.model.schema import Column, ColumnId, InvalidSchema, TableSchema
from instar.model.types import wider


class SchemaMismatch(InstarError):
    """A table that two writers define in ways that can't both hold."""


@dataclass(frozen=True)
class UnitedSchema:
    """The schema that a reader sees, and the ids under which each writer's files hold its columns.

    `aliases` has, per writer, the united id of each of the writer's own ids that differ from it.
    """

    schema: TableSchema
    aliases: Mapping[str, Mapping[ColumnId, ColumnId]]


def unify(states: Mapping[str, TableState]) -> UnitedSchema:
    """Return the union of the schemas that writers have of one table.

    - A column that any of them dropped is dropped.
    - Columns with one id are one column, and so are columns that were created apart under one live name; it has the
      wider type, and the id, name and defaults of the older definition or, for a name or default, of the newest ALTER.
    - What differs otherwise can't be read: the later definition is refused.
    """
    oldest_first = sorted(states.items(), key=lambda item: (item[1].schema_time, item[0]))
    dropped = {number for _, state in oldest_first for number in state.schema.dropped}
    columns: dict[ColumnId, Column] = {}
    united_ids: dict[ColumnId, ColumnId] = {}
    for writer, state in oldest_first:
        for column in state.schema.columns:
            if column.id in dropped:
                continue
            _merge_column(columns, united_ids, writer, column, state.schema)
    gone = {number for number, united in united_ids.items() if united in dropped}
    _, newest = oldest_first[-1]
    base = newest.schema

    def united(numbers: tuple[ColumnId, ...]) -> tuple[ColumnId, ...]:
        return tuple(united_ids.get(number, number) for number in numbers if united_ids.get(number, number) in columns)

    for writer, state in oldest_first:
        if (united(state.schema.key), state.schema.merge_mode) != (united(base.key), base.merge_mode):
            raise SchemaMismatch(
                f"Writer {writer!r} defines {base.name} with another key or merge mode.",
                help="Make a new table with one definition, and move the rows.",
            )
    try:
        schema = replace(
            base,
            columns=tuple(columns.values()),
            key=united(base.key),
            sort_by=united(base.sort_by),
            lookup=united(base.lookup),
            keep_statistics=united(base.keep_statistics),
            partition_by=tuple(replace(of, column=united_ids.get(of.column, of.column)) for of in base.partition_by),
            dropped=tuple(sorted(dropped | gone)),
        )
    except InvalidSchema as error:
        raise SchemaMismatch(f"{base.name} can't be united: {error.fact}", help=error.help) from error
    aliases = {
        writer: {
            column.id: united_ids[column.id]
            for column in state.schema.columns
            if united_ids.get(column.id, column.id) != column.id
        }
        for writer, state in states.items()
    }
    return UnitedSchema(schema, {writer: of for writer, of in aliases.items() if of})


def _merge_column(
    columns: dict[ColumnId, Column],
    united_ids: dict[ColumnId, ColumnId],
    writer: str,
    column: Column,
    schema: TableSchema,
) -> None:
    """Bring one writer's column into the union; writers come in the order of their definitions."""
    same_name = [of.id for of in columns.values() if of.name.lower() == column.name.lower()]
    place = united_ids.get(column.id) or (same_name[0] if same_name else column.id)
    united_ids[column.id] = place
    if place not in columns:
        columns[place] = column
        return
    known = columns[place]
    type_of_both = wider(known.type, column.type)
    if type_of_both is None:
        raise SchemaMismatch(
            f"Column {column.name!r} of {schema.name} is {known.type}, but {column.type} for writer {writer!r}.",
            help=f"Drop it as {writer!r}, and add it again under another name or with the first type.",
        )
    columns[place] = replace(
        column,
        id=place,
        type=type_of_both,
        nullable=known.nullable or column.nullable,
        initial_default=known.initial_default,
    )
