"""The catalog at one revision, and the pure step from one revision to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.actions import (
    Action,
    AddParts,
    Collect,
    CreateTable,
    InvalidParts,
    RemoveParts,
    SetFlags,
    Transaction,
    added,
)
from instar.errors import InstarError
from instar.flags import Flags
from instar.model.part import PART_FIELDS
from instar.model.schema import TableSchema

_MOST_CHUNKS = 64  # each concatenation walks all chunks, so a long replay would be quadratic in them


class BrokenChain(InstarError):
    """A transaction that does not follow the one before it."""


class InvalidAction(InstarError):
    """An action that the state it meets does not allow."""


class UnknownTable(InvalidAction):
    """A table that the timeline does not hold."""


class TransactionCollected(InvalidAction):
    """A transaction that a sweep has fenced off."""


@dataclass(frozen=True)
class OriginState:
    """The newest committed run of an origin.

    A sealed origin's rows were merged with those of others, so they can't be replaced any more.
    """

    generation: int
    transaction: UUID
    sealed: bool = False


@dataclass(frozen=True)
class TableState:
    """One table of one timeline. `parts` has a row per live part."""

    schema: TableSchema
    parts: pa.Table = field(default_factory=PART_FIELDS.empty_table)
    flags: Flags = field(default_factory=Flags)
    flags_version: int = 0
    origins: Mapping[str, OriginState] = field(default_factory=dict)

    def live(self, keys: tuple[str, ...]) -> pa.ChunkedArray:
        """Return a mask over the parts: those whose key is in `keys`."""
        return pc.is_in(self.parts["key"], pa.array(keys, pa.string()))


@dataclass(frozen=True)
class Snapshot:
    """A timeline at one revision. Revision 0 is the empty timeline, before its first transaction."""

    writer: str
    database: str
    revision: int = 0
    uuid: UUID | None = None
    commit_time: int = 0
    tables: Mapping[str, TableState] = field(default_factory=dict)
    collected: frozenset[UUID] = frozenset()

    def table(self, name: str) -> TableState:
        if name not in self.tables:
            raise UnknownTable(
                f"Writer {self.writer!r} has no table {name!r} in {self.database} at revision {self.revision}.",
                help=f"It has: {', '.join(sorted(self.tables)) or 'none'}.",
            )
        return self.tables[name]

    def live_keys(self) -> frozenset[str]:
        return frozenset(key for table in self.tables.values() for key in table.parts["key"].to_pylist())

    def equals(self, other: "Snapshot") -> bool:
        """Tell whether both are the same state, reached by whatever path: replay or checkpoint."""
        return self == other


def apply(snapshot: Snapshot, transaction: Transaction) -> Snapshot:
    """Return the state after `transaction`, or raise without a trace if it does not fit."""
    if transaction.revision != snapshot.revision + 1 or transaction.previous != snapshot.uuid:
        raise BrokenChain(
            f"Revision {transaction.revision} follows transaction {transaction.previous}, "
            f"but revision {snapshot.revision} is {snapshot.uuid}.",
            help="The log was overwritten or mixed up; restore its objects, or rebuild the catalog.",
        )
    if transaction.uuid in snapshot.collected:
        raise TransactionCollected(
            f"Transaction {transaction.uuid} was given up as an orphan, and its files may be gone.",
            help="Write the parts again under a new transaction.",
        )
    state = replace(snapshot, revision=transaction.revision, uuid=transaction.uuid, commit_time=transaction.commit_time)
    for action in transaction.actions:
        state = _apply_action(state, action, transaction.uuid)
    return _seal_merged_origins(snapshot, state, transaction)


def _apply_action(state: Snapshot, action: Action, transaction: UUID) -> Snapshot:
    match action:
        case CreateTable():
            return _create_table(state, action)
        case AddParts():
            return _with_table(state, _add_parts(state.table(action.table), action, transaction))
        case RemoveParts():
            return _with_table(state, _remove_parts(state.table(action.table), action))
        case SetFlags():
            return _with_table(state, _set_flags(state.table(action.table), action))
        case Collect():
            return replace(state, collected=state.collected | set(action.transactions))


def _with_table(state: Snapshot, table: TableState) -> Snapshot:
    return replace(state, tables={**state.tables, table.schema.name.table: table})


def _create_table(state: Snapshot, action: CreateTable) -> Snapshot:
    name = action.schema.name
    if name.database != state.database:
        raise InvalidAction(f"{name} does not belong to database {state.database!r}.", help="Use its own timeline.")
    if name.table in state.tables:
        raise InvalidAction(f"{name} exists already.", help="Choose another name, or write to the table that is there.")
    return _with_table(state, TableState(action.schema))


def _add_parts(table: TableState, action: AddParts, transaction: UUID) -> TableState:
    if not pc.all(pc.equal(action.parts["transaction"], str(transaction)), min_count=0).as_py():
        raise InvalidParts(
            f"A part of {table.schema.name} was written by another transaction than {transaction}.",
            help="Commit parts under the uuid that they were written with.",
        )
    if pc.any(table.live(action.keys), min_count=0).as_py():
        raise InvalidAction(f"A part is in {table.schema.name} already.", help="A part is added once.")
    parts = pa.concat_tables([table.parts, action.parts], promote_options="permissive")
    if parts["key"].num_chunks > _MOST_CHUNKS:
        parts = parts.combine_chunks()
    origins = {run.origin: OriginState(run.generation, transaction) for run in action.runs}
    return replace(table, parts=parts, origins={**table.origins, **origins})


def _remove_parts(table: TableState, action: RemoveParts) -> TableState:
    gone = table.live(action.keys)
    if pc.sum(gone, min_count=0).as_py() != len(action.keys):
        missing = set(action.keys) - set(table.parts["key"].to_pylist())
        raise InvalidAction(
            f"{table.schema.name} has no live part {min(missing)}.",
            help="Another transaction has replaced it; plan again on the newest revision.",
        )
    return replace(table, parts=table.parts.filter(pc.invert(gone)))


def _set_flags(table: TableState, action: SetFlags) -> TableState:
    if action.version <= table.flags_version:
        raise InvalidAction(
            f"{table.schema.name} has flags of version {table.flags_version}; {action.version} is not newer.",
            help="Read the flags again before changing them.",
        )
    return replace(table, flags=action.flags, flags_version=action.version)


def _seal_merged_origins(before: Snapshot, after: Snapshot, transaction: Transaction) -> Snapshot:
    """Seal each origin that a change of layout took parts of without giving it others.

    Its rows now sit in parts of another origin, where a later generation would not find them.
    """
    for action in transaction.actions:
        if not isinstance(action, RemoveParts) or action.data_change:
            continue
        old = before.table(action.table)
        removed = set(old.parts.filter(old.live(action.keys))["origin"].to_pylist())
        kept = {
            origin
            for other in added(transaction.actions)
            if other.table == action.table
            for origin in other.parts["origin"].to_pylist()
        }
        table = after.table(action.table)
        sealed = {
            origin: replace(table.origins[origin], sealed=True) for origin in removed - kept if origin in table.origins
        }
        after = _with_table(after, replace(table, origins={**table.origins, **sealed}))
    return after
