"""What a table's updates mean: the rows that a reader sees."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from instar.model.schema import D_COLUMN, RESERVED_PREFIX, T_COLUMN, MergeMode, TableSchema
from instar.parts.compare import same_values

BY_WRITER = f"{RESERVED_PREFIX}writer"
"""The timeline that an update is in; the later of two at one logical time is the one of the greater writer."""
FROM_ORIGIN = f"{RESERVED_PREFIX}origin"
"""The origin of an update; it decides where one writer has two versions at one logical time."""

Places = npt.NDArray[np.int64]


def merge(updates: pa.Table, schema: TableSchema) -> pa.Table:
    """Return the rows that `updates` amount to, with the table's columns that `updates` has.

    - append: every update is a row.
    - upsert: a row per key, each field the last value that is not null in the order of logical time, writer and origin.
      An update with a negative diff deletes the key: what is before it, or level with it, is gone.

    `updates` hold BY_WRITER, FROM_ORIGIN, the logical time, the diff, the key and any other columns.
    """
    columns = [column for column in schema.columns if column.name in updates.column_names]
    if schema.merge_mode is MergeMode.APPEND:
        return updates.select([column.name for column in columns])
    if updates.num_rows == 0:
        return pa.schema([column.arrow_field() for column in columns]).empty_table()
    updates, first = _by_key(updates, schema)
    place = np.arange(updates.num_rows)
    deletes = pc.less(updates[D_COLUMN], 0).to_numpy()
    last_delete = np.maximum.reduceat(np.where(deletes, place, -1), first)
    alive = place > np.repeat(last_delete, np.diff(np.append(first, updates.num_rows)))
    newest = np.maximum.reduceat(np.where(alive, place, -1), first)
    live = newest >= 0
    arrays = []
    for column in columns:
        valid = updates[column.name].is_valid().to_numpy()
        last = np.maximum.reduceat(np.where(alive & valid, place, -1), first)[live]
        arrays.append(updates[column.name].take(pa.array(last, mask=last < 0)))
    return pa.Table.from_arrays(arrays, schema=pa.schema([column.arrow_field() for column in columns]))


def newest_versions(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Return what `rows`, each newer than the one before, amount to: one row per key of an upsert table."""
    count = rows.num_rows
    name = pa.repeat(pa.scalar("", pa.string()), count)
    labelled = {T_COLUMN: pa.array(np.arange(count)), D_COLUMN: pa.array(np.ones(count, np.int64))}
    for label, values in (labelled | {BY_WRITER: name, FROM_ORIGIN: name}).items():
        rows = rows.append_column(label, values)
    return merge(rows, schema)


def _by_key(updates: pa.Table, schema: TableSchema) -> tuple[pa.Table, Places]:
    """Return the updates sorted by key and then by age, and where each key begins."""
    keys = [column.name for column in schema.key_columns]
    age = [T_COLUMN, BY_WRITER, FROM_ORIGIN]
    order = [*(updates[name] for name in keys + age), pc.less(updates[D_COLUMN], 0)]
    # Under plain names: Arrow takes a sort key such as `.a` or `[0]` for a path.
    sortable = pa.table({str(place): values for place, values in enumerate(order)})
    indices = pc.sort_indices(sortable, sort_keys=[(name, "ascending") for name in sortable.column_names])
    updates = updates.take(indices).combine_chunks()
    begins = np.zeros(updates.num_rows, np.bool_)
    begins[0] = True
    for name in keys:
        values = updates[name]
        begins[1:] |= pc.invert(same_values(values[:-1], values[1:])).to_numpy()
    return updates, np.flatnonzero(begins)
