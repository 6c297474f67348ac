"""The pure step from one revision to the next."""

from dataclasses import replace
from uuid import UUID

import pyarrow.compute as pc

from instar.catalog.actions import (
    Action,
    AddParts,
    AddTombstones,
    Adopt,
    AlterTable,
    Collect,
    CreateTable,
    InvalidParts,
    RemoveParts,
    Reset,
    RetireTombstones,
    Seal,
    SetFlags,
    Transaction,
    Upgrade,
    added,
)
from instar.catalog.adopt import adopt_table
from instar.catalog.alter import InvalidAlteration, check_alteration
from instar.catalog.errors import InvalidAction
from instar.catalog.origin_set import OriginState
from instar.catalog.snapshot import Adoption, Protocol, Snapshot, TableState
from instar.catalog.tombstones import KeyTombstone, PlacedTombstone
from instar.errors import InstarError
from instar.model.schema import MergeMode

READER_VERSION = 1
"""The newest format that this version reads."""
WRITER_VERSION = 1
"""The newest format that this version writes."""


class BrokenChain(InstarError):
    """A transaction that does not follow the one before it."""


class UnknownFormat(InstarError):
    """A log that a newer version wrote."""


class TransactionCollected(InvalidAction):
    """A transaction that a sweep has fenced off."""


class TimelineSealed(InvalidAction):
    """A timeline that was retired."""


def apply(snapshot: Snapshot, transaction: Transaction, *, check: bool = False) -> Snapshot:
    """Return the state after `transaction`, or raise without a trace if it does not fit.

    `check` looks for what a log can't hold, because each committer has looked for it: a part that is added twice.
    """
    check_link(snapshot, transaction)
    if snapshot.heir is not None:
        raise TimelineSealed(
            f"Writer {snapshot.writer!r} was retired from {snapshot.database} at revision {snapshot.revision}.",
            help=f"Write as {snapshot.heir!r}.",
        )
    if transaction.uuid in snapshot.collected:
        raise TransactionCollected(
            f"Transaction {transaction.uuid} was given up as an orphan, and its files may be gone.",
            help="Write the parts again under a new transaction.",
        )
    state = replace(snapshot, revision=transaction.revision, uuid=transaction.uuid, commit_time=transaction.commit_time)
    for action in transaction.actions:
        if check and isinstance(action, AddParts):
            _check_new(state, action)
        state = _apply_action(state, action, transaction)
    return _seal_merged_origins(snapshot, state, transaction)


def check_link(snapshot: Snapshot, transaction: Transaction) -> None:
    linked = transaction.begins_anew or transaction.previous == snapshot.uuid
    if transaction.revision != snapshot.revision + 1 or not linked:
        raise BrokenChain(
            f"Revision {transaction.revision} follows transaction {transaction.previous}, "
            f"but revision {snapshot.revision} is {snapshot.uuid}: the log of {snapshot.writer}/{snapshot.database} "
            "forks there.",
            help="It was overwritten or mixed up; restore its objects, or rebuild the catalog.",
        )


def _apply_action(state: Snapshot, action: Action, transaction: Transaction) -> Snapshot:  # noqa: C901, PLR0911
    match action:
        case CreateTable():
            return _create_table(state, action)
        case AlterTable():
            return _with_table(state, _alter_table(state.table(action.table), action, state.commit_time))
        case AddParts():
            return _with_table(state, _add_parts(state.table(action.table), action, transaction.uuid))
        case RemoveParts():
            return _with_table(state, _remove_parts(state.table(action.table), action))
        case AddTombstones():
            return _with_table(state, _add_tombstones(state.table(action.table), action, state.revision))
        case RetireTombstones():
            return _with_table(state, _retire_tombstones(state.table(action.table), action))
        case SetFlags():
            return _with_table(state, _set_flags(state.table(action.table), action))
        case Collect():
            return replace(state, collected=state.collected | set(action.transactions))
        case Seal():
            return _seal(state, action)
        case Adopt():
            return _adopt(state, action)
        case Reset():
            tables = {table.schema.name.table: table for table in action.tables}
            return replace(state, tables=tables, adopted=dict(action.adopted))
        case Upgrade():
            return _upgrade(state, action)


def _with_table(state: Snapshot, table: TableState) -> Snapshot:
    return replace(state, tables={**state.tables, table.schema.name.table: table})


def _create_table(state: Snapshot, action: CreateTable) -> Snapshot:
    name = action.schema.name
    if name.database != state.database:
        raise InvalidAction(f"{name} does not belong to database {state.database!r}.", help="Use its own timeline.")
    if name.table in state.tables:
        raise InvalidAction(f"{name} exists already.", help="Choose another name, or write to the table that is there.")
    return _with_table(state, TableState(action.schema, schema_time=state.commit_time, unknown=action.unknown))


def _alter_table(table: TableState, action: AlterTable, commit_time: int) -> TableState:
    try:
        check_alteration(table.schema, action.schema)
    except InvalidAlteration as error:
        raise InvalidAction(error.fact, help=error.help) from error
    unknown = replace(action.unknown, fields=table.unknown.fields + action.unknown.fields)
    return replace(table, schema=action.schema, schema_time=commit_time, unknown=unknown)


def _check_new(state: Snapshot, action: AddParts) -> None:
    table = state.table(action.table)
    if table.part_set.present(action.keys):
        raise InvalidAction(f"A part is in {table.schema.name} already.", help="A part is added once.")


def _add_parts(table: TableState, action: AddParts, transaction: UUID) -> TableState:
    if not pc.all(pc.equal(action.parts["transaction"], str(transaction)), min_count=0).as_py():
        raise InvalidParts(
            f"A part of {table.schema.name} was written by another transaction than {transaction}.",
            help="Commit parts under the uuid that they were written with.",
        )
    origins = {run.origin: OriginState(run.generation, transaction) for run in action.runs}
    return replace(table, part_set=table.part_set.add(action.parts), origins=table.origins.updated(origins))


def _remove_parts(table: TableState, action: RemoveParts) -> TableState:
    if missing := set(action.keys) - table.part_set.present(action.keys):
        raise InvalidAction(
            f"{table.schema.name} has no live part {min(missing)}.",
            help="Another transaction has replaced it; plan again on the newest revision.",
        )
    return replace(table, part_set=table.part_set.remove(action.keys))


def _add_tombstones(table: TableState, action: AddTombstones, revision: int) -> TableState:
    known = {placed.tombstone.id for placed in table.tombstones}
    for tombstone in action.tombstones:
        if tombstone.id in known:
            raise InvalidAction(f"{table.schema.name} has tombstone {tombstone.id} already.", help="Draw another id.")
        known.add(tombstone.id)
        if isinstance(tombstone, KeyTombstone) != (table.schema.merge_mode is MergeMode.UPSERT):
            raise InvalidAction(
                f"{table.schema.name} is {table.schema.merge_mode}: tombstone {tombstone.id} is of the other kind.",
                help="Delete by key from an upsert table, by condition from an append table.",
            )
        if isinstance(tombstone, KeyTombstone) and tombstone.keys.column_names != [
            column.name for column in table.schema.key_columns
        ]:
            raise InvalidAction(
                f"Tombstone {tombstone.id} does not name the key of {table.schema.name}.",
                help="Its columns are those of the key, in order.",
            )
    placed = tuple(PlacedTombstone(tombstone, revision) for tombstone in action.tombstones)
    return replace(table, tombstones=(*table.tombstones, *placed))


def _retire_tombstones(table: TableState, action: RetireTombstones) -> TableState:
    if missing := set(action.ids) - {placed.tombstone.id for placed in table.tombstones}:
        raise InvalidAction(f"{table.schema.name} has no tombstone {min(missing)}.", help="It was retired before.")
    kept = tuple(placed for placed in table.tombstones if placed.tombstone.id not in action.ids)
    return replace(table, tombstones=kept)


def _set_flags(table: TableState, action: SetFlags) -> TableState:
    if action.version <= table.flags_version:
        raise InvalidAction(
            f"{table.schema.name} has flags of version {table.flags_version}; {action.version} is not newer.",
            help="Read the flags again before changing them.",
        )
    return replace(table, flags=action.flags, flags_version=action.version)


def _seal(state: Snapshot, action: Seal) -> Snapshot:
    if action.heir == state.writer:
        raise InvalidAction(f"Writer {state.writer!r} can't be its own heir.", help="Name another writer.")
    return replace(state, heir=action.heir)


def _adopt(state: Snapshot, action: Adopt) -> Snapshot:
    if action.writer in state.adopted:
        raise InvalidAction(f"Writer {action.writer!r} was adopted before.", help="Nothing is left to do.")
    tables = dict(state.tables)
    for brought in action.tables:
        name = brought.schema.name.table
        tables[name] = adopt_table(tables.get(name), brought, state.revision)
    adoption = Adoption(action.final, action.uuid, state.revision)
    return replace(state, tables=tables, adopted={**state.adopted, action.writer: adoption})


def _upgrade(state: Snapshot, action: Upgrade) -> Snapshot:
    if action.min_reader > READER_VERSION:
        raise UnknownFormat(
            f"{state.writer}/{state.database} needs a reader of version {action.min_reader} from revision "
            f"{state.revision} on; this one has version {READER_VERSION}.",
            help="Upgrade Instar here before reading this lake.",
        )
    protocol = state.protocol
    if action.min_reader < protocol.min_reader or action.min_writer < protocol.min_writer:
        raise InvalidAction("A timeline is never downgraded.", help="Keep the versions that it asks for.")
    return replace(state, protocol=Protocol(action.min_reader, action.min_writer))


def _seal_merged_origins(before: Snapshot, after: Snapshot, transaction: Transaction) -> Snapshot:
    """Seal each origin that a change of layout took parts of without giving it others.

    Its rows now sit in parts of another origin, where a later generation would not find them.
    """
    for action in transaction.actions:
        if not isinstance(action, RemoveParts) or action.data_change:
            continue
        old = before.table(action.table).parts
        removed = set(old.filter(pc.is_in(old["key"], pc.unique(list(action.keys))))["origin"].to_pylist())
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
        after = _with_table(after, replace(table, origins=table.origins.updated(sealed)))
    return after
