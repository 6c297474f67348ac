"""Rebuild: make a catalog from what part files say of themselves, when its log is lost."""

import enum
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from instar.catalog.actions import Reset, ResetReason, Transaction
from instar.catalog.apply import apply
from instar.catalog.checkpoint import store_checkpoint
from instar.catalog.names import data_prefix, parse_part_name
from instar.catalog.origin_set import OriginSet, OriginState
from instar.catalog.part_set import PartSet
from instar.catalog.snapshot import Snapshot, TableState
from instar.catalog.timeline import Timeline
from instar.clock import Clock, UuidSource
from instar.errors import InstarError
from instar.model.schema import TableSchema
from instar.parts.footer import Footer
from instar.parts.layout import BLOBS
from instar.parts.reader import open_part
from instar.parts.writer import part_record
from instar.storage.protocol import AlreadyExists, MayHaveHappened, StoreError

UNKNOWABLE = (
    "flags of tables (they start from the defaults)",
    "tables without a part, and runs that gave no row",
    "tombstones, adoptions, and parts that were removed without being replaced",
    "origins that were sealed",
    "parts that were written but never committed, where nothing else tells",
    "history before this revision",
)
"""What footers don't tell."""


class CannotRebuild(InstarError):
    """Files from which no catalog can be made without a guess."""


class Left(enum.StrEnum):
    """Why a file is left out."""

    UNREADABLE = "it can't be read as a part"
    ELSEWHERE = "it says that it belongs elsewhere"
    FOREIGN = "it is no part by its name"
    REPLACED = "other parts took its place"
    NOT_NEEDED = "the parts that it would replace are all here"
    OLDER_GENERATION = "a later run of its origin is here"
    OTHER_ATTEMPT = "a later attempt of its task is here"
    OTHER_WRITE = "another write of the same run is here, and which one was committed is a guess"


_GUESSES = (Left.UNREADABLE, Left.ELSEWHERE, Left.OTHER_WRITE)


@dataclass(frozen=True)
class FoundPart:
    """A part file: what it says, and what the store says."""

    key: str
    ordinal: int
    footer: Footer
    modified_micros: int
    record: pa.Table


@dataclass(frozen=True)
class RebuildPlan:
    """The tables that were found, what was left out and why, and what had to be guessed."""

    writer: str
    database: str
    revision: int
    """The revision that the rebuilt catalog gets: the first that was never used."""
    tables: tuple[TableState, ...]
    left: tuple[tuple[str, Left, str], ...]
    """Key, reason, detail."""
    guesses: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "writer": self.writer,
            "database": self.database,
            "revision": self.revision,
            "tables": {str(table.schema.name): len(table.part_set) for table in self.tables},
            "left_out": [{"key": key, "reason": str(reason), "detail": detail} for key, reason, detail in self.left],
            "guesses": list(self.guesses),
            "unknowable": list(UNKNOWABLE),
        }


def plan_rebuild(timeline: Timeline, *, lenient: bool = False) -> RebuildPlan:
    """Read every footer below the timeline's data prefix, and decide which parts are the data.

    Strict, it refuses wherever footers leave a choice. Lenient, it chooses and says so.
    """
    found, left = _read_footers(timeline)
    kept, more = choose_parts(found)
    left = sorted([*left, *more])
    guesses = [f"{key}: {reason}. {detail}".rstrip() for key, reason, detail in left if reason in _GUESSES]
    by_table: dict[str, list[FoundPart]] = defaultdict(list)
    for part in kept:
        by_table[part.footer.provenance.table.table].append(part)
    tables = []
    for name in sorted(by_table):
        state, guess = _table(by_table[name])
        tables.append(state)
        guesses += guess
    if guesses and not lenient:
        raise CannotRebuild(
            f"The files of {timeline} leave {len(guesses)} choices open; the first: {guesses[0]}",
            help="Look at these files. With --lenient the choice is made for you, and reported.",
        )
    listing = timeline.listing()
    revision = max((*listing.transactions[-1:], *listing.checkpoints[-1:]), default=0) + 1
    return RebuildPlan(timeline.writer, timeline.database, revision, tuple(tables), tuple(left), tuple(guesses))


def rebuild(timeline: Timeline, plan: RebuildPlan, *, clock: Clock, uuids: UuidSource) -> Snapshot:
    """Commit what was found as a revision that begins anew, with a checkpoint.

    The checkpoint comes first and counts for nothing until the transaction is there; so a rebuild that dies leaves the
    log as it was, and one that is through needs nothing of the log before it.
    """
    before = Snapshot(timeline.writer, timeline.database, plan.revision - 1)
    reset = Reset(ResetReason.REBUILD, 0, plan.tables)
    transaction = Transaction(plan.revision, uuids(), None, clock(), (reset,))
    after = apply(before, transaction)
    store_checkpoint(timeline, after)
    try:
        timeline.append(transaction)
    except (AlreadyExists, MayHaveHappened) as error:
        found = timeline.header(plan.revision)
        if found is None:
            raise
        if found.uuid != transaction.uuid:
            raise CannotRebuild(
                f"Revision {plan.revision} of {timeline} was committed meanwhile.",
                help="Somebody writes to it. Plan again.",
            ) from error
    return timeline.remember(after, anyway=True)


def choose_parts(found: Iterable[FoundPart]) -> tuple[list[FoundPart], list[tuple[str, Left, str]]]:
    """Return the parts that are the data, as far as they tell, and why each of the others is not."""
    parts = {part.key: part for part in found}
    left: list[tuple[str, Left, str]] = []

    def leave(keys: Iterable[str], reason: Left, detail: str = "") -> None:
        gone = [key for key in sorted(keys) if parts.pop(key, None) is not None]
        left.extend((key, reason, detail) for key in gone)

    leave(_earlier_attempts(parts.values()), Left.OTHER_ATTEMPT)
    # A part that was rewritten had been committed; of the rewriting we do not know. So inputs win if all are here. If
    # one is gone then it was swept, long after the rewriting was committed, and the outputs win.
    on_disk = frozenset(parts)
    for outputs, inputs in _rewritings(parts.values()):
        if inputs <= on_disk:
            leave(outputs, Left.NOT_NEEDED)
        else:
            leave(inputs, Left.REPLACED)
    runs: dict[tuple[str, str], list[FoundPart]] = defaultdict(list)
    for part in parts.values():
        provenance = part.footer.provenance
        if provenance.origin:
            runs[provenance.table.table, provenance.origin].append(part)
    for run in runs.values():
        newest = max(part.footer.provenance.generation for part in run)
        leave([part.key for part in run if part.footer.provenance.generation < newest], Left.OLDER_GENERATION)
        writes = _writes([part for part in run if part.footer.provenance.generation == newest])
        for uuid, write in writes[:-1]:
            keys = [part.key for part in write]
            leave(keys, Left.OTHER_WRITE, f"Transaction {writes[-1][0]} was kept, the latest; not {uuid}.")
    return [parts[key] for key in sorted(parts)], left


def _read_footers(timeline: Timeline) -> tuple[list[FoundPart], list[tuple[str, Left, str]]]:
    prefix = data_prefix(timeline.writer, timeline.database)
    found: list[FoundPart] = []
    left: list[tuple[str, Left, str]] = []
    for info in timeline.store.list(prefix):
        name = parse_part_name(info.key.removeprefix(prefix))
        if name is None:
            left.append((info.key, Left.FOREIGN, ""))
            continue
        try:
            with open_part(timeline.store, info.key) as part:
                footer = part.footer
                codec_bytes = _stored_bytes(part.file.metadata, BLOBS)
        except StoreError:
            raise  # the store fails, not the file
        except InstarError as error:
            left.append((info.key, Left.UNREADABLE, str(error)))
            continue
        provenance = footer.provenance
        if (provenance.writer, provenance.table.database) != (timeline.writer, timeline.database):
            left.append((info.key, Left.ELSEWHERE, f"{provenance.writer}/{provenance.table.database}"))
            continue
        record = part_record(info.key, footer, size=info.size, codec_bytes=codec_bytes)
        found.append(FoundPart(info.key, name.ordinal, footer, info.modified_micros, record))
    return found, left


def _earlier_attempts(parts: Iterable[FoundPart]) -> list[str]:
    """Return the keys whose place in their transaction a later attempt has filled too."""
    newest: dict[tuple[str, UUID, int], FoundPart] = {}
    earlier = []
    for part in sorted(parts, key=lambda part: part.footer.provenance.attempt):
        provenance = part.footer.provenance
        place = (provenance.table.table, provenance.transaction, part.ordinal)
        if place in newest:
            earlier.append(newest[place].key)
        newest[place] = part
    return earlier


def _rewritings(parts: Iterable[FoundPart]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the outputs and the inputs of each rewriting whose outputs are here."""
    outputs: dict[tuple[UUID, frozenset[str]], set[str]] = defaultdict(set)
    for part in parts:
        provenance = part.footer.provenance
        if provenance.replaces:
            outputs[provenance.transaction, frozenset(provenance.replaces)].add(part.key)
    return [(frozenset(keys), inputs) for (_, inputs), keys in outputs.items()]


def _writes(parts: list[FoundPart]) -> list[tuple[UUID, list[FoundPart]]]:
    """Return the parts of one run by the transaction that wrote them, the latest last.

    Parts that different rewritings made stand beside each other, and beside what was never rewritten.
    """
    plain: dict[UUID, list[FoundPart]] = defaultdict(list)
    for part in parts:
        if not part.footer.provenance.replaces:
            plain[part.footer.provenance.transaction].append(part)
    return sorted(plain.items(), key=lambda item: (max(part.modified_micros for part in item[1]), str(item[0])))


def _table(parts: list[FoundPart]) -> tuple[TableState, list[str]]:
    """Return a table of these parts, and what was guessed of it."""
    newest = max(parts, key=lambda part: (part.modified_micros, part.key))
    schema = newest.footer.schema
    schemas: set[str] = {str(part.footer.schema.to_json()) for part in parts}
    guesses = []
    if len(schemas) > 1:
        guesses.append(f"{schema.name}: its parts have {len(schemas)} schemas; that of {newest.key} was taken.")
        schema = _with_all_ids(schema, parts)
    provenances = [part.footer.provenance for part in parts]
    origins = {of.origin: OriginState(of.generation, of.transaction) for of in provenances if of.origin}
    records = pa.concat_tables([part.record for part in parts], promote_options="permissive").combine_chunks()
    origin_set = OriginSet(OriginSet(None, origins).table())
    return TableState(schema, PartSet(records), origins=origin_set), guesses


def _with_all_ids(schema: TableSchema, parts: list[FoundPart]) -> TableSchema:
    """Return the schema with every id that any part uses: columns that it lacks count as dropped."""
    live = {column.id for column in schema.columns}
    used = {column.id for part in parts for column in part.footer.schema.columns}
    dropped = {*schema.dropped, *(number for part in parts for number in part.footer.schema.dropped), *(used - live)}
    return replace(schema, dropped=tuple(sorted(dropped - live)))


def _stored_bytes(metadata: pq.FileMetaData, columns: tuple[str, ...]) -> int:
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    chunks = (group.column(number) for group in groups for number in range(group.num_columns))
    return sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in columns)
