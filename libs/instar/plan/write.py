"""Turn rows into parts, and parts into a commit. The one path of every writer: the API's, and each Spark task's."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.actions import AddParts, Run
from instar.catalog.commit import Change, CommitConflict, Committed, commit
from instar.catalog.origins import is_committed
from instar.catalog.preconditions import FlagsVersion
from instar.catalog.snapshot import TableState
from instar.catalog.timeline import Timeline
from instar.clock import Clock, UuidSource
from instar.errors import InstarError
from instar.model.part import PART_FIELDS, PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, Column, TableName, TableSchema
from instar.model.settings import Counted
from instar.model.values import InvalidValue
from instar.parts.convert import convert
from instar.parts.footer import Provenance
from instar.parts.partition import split_by_partition
from instar.parts.updates import sort_updates
from instar.parts.writer import write_part
from instar.storage.protocol import Store

_MOST_PLANS = 5  # of one write, while its flags change
_SAMPLE_ROWS = 16_384
_ENCODINGS = 2  # a dual part has two, each hardly larger than what it encodes


class InvalidRows(InstarError):
    """Rows that do not fit their table."""


class FlagsKeepChanging(InstarError):
    """A write that could not be finished under any one version of its table's flags."""


@dataclass(frozen=True)
class WriteTask:
    """Where the parts of one piece of work go. Plain data: it travels to executors."""

    schema: TableSchema
    format: PartFormat
    provenance: Provenance
    """Each part gets its own partition."""
    first_ordinal: int = 0
    """Pieces of one transaction number their parts from different starts."""

    def for_attempt(self, attempt: int) -> "WriteTask":
        """Return the same work for another attempt: its parts have names of their own."""
        return replace(self, provenance=replace(self.provenance, attempt=attempt))


def fit_rows(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Return `rows` with the table's columns, in order, cast where no value changes; those that lack have defaults."""
    target = schema.arrow_schema()
    if extra := [name for name in rows.column_names if name not in target.names]:
        raise InvalidRows(
            f"The rows hold {extra[0]!r}, which {schema.name} does not have.",
            help=f"It has: {', '.join(target.names)}.",
        )
    if twice := [name for name in target.names if rows.column_names.count(name) > 1]:
        raise InvalidRows(f"The rows hold {twice[0]!r} twice.", help="Name each column once.")
    return pa.Table.from_arrays([_fit_column(rows, column, schema.name) for column in schema.columns], target.names)


def _fit_column(rows: pa.Table, column: Column, table: TableName) -> pa.ChunkedArray:
    field = column.arrow_field()
    if field.name not in rows.column_names:
        if not field.nullable and column.write_default is None:
            raise InvalidRows(f"The rows lack {field.name!r}, which {table} requires.", help="Give it values.")
        return pa.chunked_array([column.repeat(column.write_default, rows.num_rows)])
    values = rows.column(field.name)
    if values.null_count and not field.nullable:
        row = pc.index(values.is_null(), value=True).as_py()
        raise InvalidRows(
            f"Column {field.name!r} of {table} is required, but null in row {row}.", help="Give it a value."
        )
    try:
        return convert(values, column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, InvalidValue) as error:
        raise InvalidRows(
            f"Column {field.name!r} of {table} is {column.type}; {values.type} does not fit: {error}",
            help=f"Cast it to {field.type}.",
        ) from error


def as_updates(rows: pa.Table, t: int) -> pa.Table:
    """Return rows as updates that add them at the logical time `t`."""
    count = rows.num_rows
    return rows.append_column(T_COLUMN, pa.repeat(pa.scalar(t, pa.int64()), count)).append_column(
        D_COLUMN, pa.repeat(pa.scalar(1, pa.int64()), count)
    )


def write_parts(store: Store, updates: pa.Table, task: WriteTask) -> pa.Table:
    """Store the updates as parts and return what the catalog is to keep of them. Nothing is committed.

    Parts are of one partition each, and of about the size that the table asks for.
    """
    records = [PART_FIELDS.empty_table()]
    for partition, of_partition in split_by_partition(updates, task.schema):
        provenance = replace(task.provenance, partition=partition)
        ordered = sort_updates(of_partition, task.schema)
        size = _rows_per_part(ordered, task)
        for start in range(0, ordered.num_rows, size):
            ordinal = task.first_ordinal + len(records) - 1
            part = write_part(ordered.slice(start, size), task.schema, task.format, provenance, ordinal=ordinal)
            store.put(part.key, part.data)
            records.append(part.record)
    return pa.concat_tables(records, promote_options="permissive")


def _rows_per_part(updates: pa.Table, task: WriteTask) -> int:
    """Return how many rows a part takes to have the table's size, as a sample of them does."""
    settings = task.schema.settings
    if _ENCODINGS * updates.nbytes <= settings.part_bytes:
        return settings.part_rows
    sample = write_part(updates.slice(0, _SAMPLE_ROWS), task.schema, task.format, task.provenance).record
    codec_alone = settings.counted is Counted.CODEC and task.format is PartFormat.DUAL
    counted = sample["codec_bytes" if codec_alone else "bytes"][0].as_py()
    rows: int = settings.part_bytes * sample["rows"][0].as_py() // counted
    return max(1, min(settings.part_rows, rows))


def commit_run(
    timeline: Timeline,
    table: str,
    run: Run,
    write: Callable[[TableState, UUID], pa.Table],
    *,
    clock: Clock,
    uuids: UuidSource,
) -> Committed:
    """Write a run and commit it, once: a run that is in the log already is left as it is.

    `write` stores the parts of the run for the table's state and a transaction, and returns their records. It is
    called again where the flags have changed meanwhile, so that no part is committed in a format of the past.
    """
    for _ in range(_MOST_PLANS):
        snapshot = timeline.load()
        if is_committed(snapshot, (AddParts(table, PART_FIELDS.empty_table(), empty_runs=(run,)),)):
            return Committed(snapshot, already=True)
        state = snapshot.table(table)
        uuid = uuids()
        records = write(state, uuid)
        change = Change(
            uuid, (AddParts(table, records, empty_runs=(run,)),), (FlagsVersion(table, state.flags_version),)
        )
        try:
            return commit(timeline, change, clock=clock)
        except CommitConflict:
            if timeline.load().table(table).flags_version == state.flags_version:
                raise
    raise FlagsKeepChanging(
        f"The flags of {table!r} changed {_MOST_PLANS} times during one write.", help="Write again when they rest."
    )
