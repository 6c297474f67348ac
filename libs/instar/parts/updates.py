"""Updates as a part takes them: checked against the table, and sorted."""

import pyarrow as pa
import pyarrow.compute as pc

from instar.errors import InstarError
from instar.model.schema import D_COLUMN, T_COLUMN, UPDATE_FIELDS, TableSchema


class InvalidUpdates(InstarError):
    """Updates that do not fit their table."""


class NoUpdates(InstarError):
    """A part without rows: it would have no time range, and nothing could name what it is for."""


def check_updates(updates: pa.Table, schema: TableSchema) -> pa.Table:
    """Return `updates` with the fields of `schema.update_schema()`, in its order, or say what is wrong with them.

    A required column must have a value in every row, but a row that deletes a key needs the key alone.
    """
    expected = schema.update_schema()
    if updates.num_rows == 0:
        raise NoUpdates(f"There is nothing to write to {schema.name}.", help="Leave out empty batches.")
    if len(set(updates.column_names)) != len(updates.column_names):
        raise InvalidUpdates(f"Updates to {schema.name} name a column twice.", help="Name each column once.")
    if missing := [name for name in expected.names if name not in updates.column_names]:
        raise InvalidUpdates(
            f"Updates to {schema.name} lack {', '.join(map(repr, missing))}.",
            help=f"They need: {', '.join(expected.names)}.",
        )
    if extra := [name for name in updates.column_names if name not in expected.names]:
        raise InvalidUpdates(
            f"Updates hold {', '.join(map(repr, extra))}, which {schema.name} does not have.",
            help=f"It takes: {', '.join(expected.names)}.",
        )
    for field in expected:
        if (found := updates.schema.field(field.name).type) != field.type:
            raise InvalidUpdates(
                f"Column {field.name!r} of {schema.name} is {field.type}, the updates hold {found}.",
                help=f"Cast it to {field.type}.",
            )
    try:
        updates.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InvalidUpdates(f"Updates to {schema.name} are not valid Arrow data: {error}.") from error
    _check_required(updates, schema)
    return pa.Table.from_arrays([updates.column(name) for name in expected.names], schema=expected)


def sort_updates(updates: pa.Table, schema: TableSchema) -> pa.Table:
    """Return `updates` in the table's order, then by logical time; equal ones stay as they came."""
    names = [*(schema.column_by_id(column_id).name for column_id in schema.sort_by), T_COLUMN]
    # Under plain names: Arrow takes a sort key such as `.a` or `[0]` for a path.
    keys = pa.table({str(place): updates.column(name) for place, name in enumerate(names)})
    return updates.take(pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names]))


def _check_required(updates: pa.Table, schema: TableSchema) -> None:
    for field, in_updates in zip([*schema.arrow_schema(), *UPDATE_FIELDS], schema.update_schema(), strict=True):
        values = updates.column(field.name)
        if field.nullable or values.null_count == 0:
            continue
        null = values.is_null()
        if in_updates.nullable:  # but only in a row that deletes
            null = pc.and_kleene(null, pc.greater_equal(updates.column(D_COLUMN), 0))
        if pc.any(null).as_py():
            row = pc.index(null, value=True).as_py()
            raise InvalidUpdates(
                f"Column {field.name!r} of {schema.name} is required, but null in row {row} of the updates.",
                help="Give it a value, or make the column nullable.",
            )
