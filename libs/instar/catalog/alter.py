"""ALTER: from one schema of a table to the next. Which steps are allowed, and what they are in words."""

from instar.errors import InstarError
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import widens


class InvalidAlteration(InstarError):
    """A change of a table that rows already written do not allow."""


def check_alteration(before: TableSchema, after: TableSchema) -> None:
    """Refuse a step that would change the meaning of rows that are there, or of an id that was used."""
    for what in ("name", "merge_mode", "key", "partition_by"):
        if getattr(before, what) != getattr(after, what):
            raise InvalidAlteration(
                f"The {what} of {before.name} can't change.", help="Make a new table, and move the rows."
            )
    old = {column.id: column for column in before.columns}
    new = {column.id: column for column in after.columns}
    gone = set(before.dropped) | (old.keys() - new.keys())
    if set(after.dropped) != gone:
        raise InvalidAlteration(
            f"The dropped columns of {before.name} are not remembered.", help="Ids of dropped columns stay dropped."
        )
    for number, column in new.items():
        _check_column(before, old.get(number), column)


def describe_alteration(before: TableSchema, after: TableSchema) -> list[str]:
    """Return what a step did, a phrase each."""
    old = {column.id: column for column in before.columns}
    new = {column.id: column for column in after.columns}
    phrases = [f"dropped column {old[number].name}" for number in old if number not in new]
    phrases += [f"added column {new[number].name} ({new[number].type})" for number in new if number not in old]
    for number in [number for number in new if number in old]:
        phrases += _describe_column(old[number], new[number])
    if before.sort_by != after.sort_by:
        phrases.append(f"sorted by {', '.join(_names(after, after.sort_by)) or 'nothing'}")
    if before.lookup != after.lookup:
        phrases.append(f"lookup by {', '.join(_names(after, after.lookup)) or 'nothing'}")
    if (before.settings, before.keep_statistics) != (after.settings, after.keep_statistics):
        phrases.append("changed settings")
    return phrases


def _check_column(table: TableSchema, before: Column | None, after: Column) -> None:
    if before is None:
        if not after.nullable and after.initial_default is None:
            raise InvalidAlteration(
                f"Column {after.name!r} would be required in {table.name}, whose rows have none.",
                help="Give it a default, or let it be null.",
            )
        return
    if before.type != after.type and not widens(before.type, after.type):
        raise InvalidAlteration(
            f"Column {before.name!r} of {table.name} is {before.type}; {after.type} does not hold all its values.",
            help="Only a wider type of the same kind will do; else add a new column.",
        )
    if before.initial_default != after.initial_default:
        raise InvalidAlteration(
            f"What old rows show in column {before.name!r} of {table.name} can't change.", help="Set the write default."
        )
    if before.nullable and not after.nullable:
        raise InvalidAlteration(
            f"Column {before.name!r} of {table.name} may hold nulls.", help="It can't be made required any more."
        )


def _describe_column(before: Column, after: Column) -> list[str]:
    phrases = []
    if before.name != after.name:
        phrases.append(f"renamed column {before.name} to {after.name}")
    if before.type != after.type:
        phrases.append(f"widened column {after.name} from {before.type} to {after.type}")
    if before.write_default != after.write_default:
        phrases.append(f"set the default of column {after.name}")
    if before.nullable != after.nullable:
        phrases.append(f"column {after.name} may be null")
    return phrases


def _names(schema: TableSchema, ids: tuple[ColumnId, ...]) -> list[str]:
    return [schema.column_by_id(number).name for number in ids]
