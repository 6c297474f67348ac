"""Bytes of the log: the only place where the catalog's values meet protobuf."""

import hashlib
import json
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

import pyarrow as pa
from google.protobuf.message import DecodeError, Message

from instar.catalog import transaction_pb2 as pb
from instar.catalog.actions import Action, AddParts, Collect, CreateTable, RemoveParts, Run, SetFlags, Transaction
from instar.catalog.snapshot import OriginState, Snapshot, TableState
from instar.errors import InstarError
from instar.flags import Flags, Pushdown, ReadFormat, WriteFormat
from instar.model.schema import TableSchema

READER_VERSION = 1
"""The newest format that this version reads, and the one that it writes."""

_M = TypeVar("_M", bound=Message)
_K = TypeVar("_K")
_N = TypeVar("_N")

# Zero is unspecified in each, and hence an error.
_WRITE_FORMATS = {
    WriteFormat.CODEC: pb.WRITE_FORMAT_CODEC,
    WriteFormat.DUAL: pb.WRITE_FORMAT_DUAL,
    WriteFormat.STRUCTURED: pb.WRITE_FORMAT_STRUCTURED,
}
_READ_FORMATS = {
    ReadFormat.CODEC: pb.READ_FORMAT_CODEC,
    ReadFormat.SHADOW: pb.READ_FORMAT_SHADOW,
    ReadFormat.STRUCTURED: pb.READ_FORMAT_STRUCTURED,
}
_PUSHDOWNS = {Pushdown.OFF: pb.PUSHDOWN_OFF, Pushdown.SOFT: pb.PUSHDOWN_SOFT, Pushdown.ON: pb.PUSHDOWN_ON}


class DamagedObject(InstarError):
    """Bytes of a log that are not what was written."""


class UnknownFormat(InstarError):
    """A log that a newer version wrote."""


def encode_transaction(transaction: Transaction) -> bytes:
    body = pb.Transaction(
        actions=[_action_to_pb(action) for action in transaction.actions],
        commit=_commit_to_pb(transaction.revision, transaction.uuid, transaction.previous, transaction.commit_time),
    )
    return _seal(pb.KIND_TRANSACTION, body)


def decode_transaction(data: bytes) -> Transaction:
    body = _open(pb.KIND_TRANSACTION, data, pb.Transaction)
    commit = body.commit
    return Transaction(
        commit.revision,
        UUID(bytes=commit.uuid),
        UUID(bytes=commit.previous_uuid) if commit.previous_uuid else None,
        commit.commit_time_micros,
        tuple(_action_from_pb(action) for action in body.actions),
    )


def encode_checkpoint(snapshot: Snapshot) -> bytes:
    body = pb.Checkpoint(
        writer=snapshot.writer,
        database=snapshot.database,
        commit=_commit_to_pb(snapshot.revision, snapshot.uuid, None, snapshot.commit_time),
        tables=[_table_to_pb(snapshot.tables[name]) for name in sorted(snapshot.tables)],
        collected=sorted(uuid.bytes for uuid in snapshot.collected),
    )
    return _seal(pb.KIND_CHECKPOINT, body)


def decode_checkpoint(data: bytes) -> Snapshot:
    body = _open(pb.KIND_CHECKPOINT, data, pb.Checkpoint)
    tables = [_table_from_pb(table) for table in body.tables]
    return Snapshot(
        body.writer,
        body.database,
        body.commit.revision,
        UUID(bytes=body.commit.uuid),
        body.commit.commit_time_micros,
        {table.schema.name.table: table for table in tables},
        frozenset(UUID(bytes=uuid) for uuid in body.collected),
    )


def _seal(kind: pb.Kind, body: Message) -> bytes:
    encoded = body.SerializeToString(deterministic=True)
    envelope = pb.Envelope(kind=kind, min_reader_version=READER_VERSION, body=encoded)
    envelope.sha256 = _checksum(envelope)
    return envelope.SerializeToString(deterministic=True)


def _open(kind: pb.Kind, data: bytes, message: type[_M]) -> _M:
    """Return the body, checked in this order: whole, of a version that we know, of the kind we expect."""
    try:
        envelope = pb.Envelope.FromString(data)
    except DecodeError:
        raise DamagedObject(f"These {len(data)} bytes are no object of a log.") from None
    if envelope.sha256 != _checksum(envelope):
        raise DamagedObject(f"The checksum over these {len(data)} bytes is wrong.")
    if not 1 <= envelope.min_reader_version <= READER_VERSION:
        raise UnknownFormat(
            f"This needs a reader of version {envelope.min_reader_version}; this one has version {READER_VERSION}.",
            help="Upgrade Instar here before reading this lake.",
        )
    if envelope.kind != kind:
        raise DamagedObject(f"This is a {pb.Kind.Name(envelope.kind)}, where a {pb.Kind.Name(kind)} belongs.")
    return message.FromString(envelope.body)


def _checksum(envelope: pb.Envelope) -> bytes:
    head = int(envelope.kind).to_bytes(4, "big", signed=True) + envelope.min_reader_version.to_bytes(4, "big")
    return hashlib.sha256(head + envelope.body).digest()


def _commit_to_pb(revision: int, uuid: UUID | None, previous: UUID | None, commit_time: int) -> pb.Commit:
    return pb.Commit(
        revision=revision,
        uuid=uuid.bytes if uuid else b"",
        previous_uuid=previous.bytes if previous else b"",
        commit_time_micros=commit_time,
    )


def _action_to_pb(action: Action) -> pb.Action:
    change = pb.CHANGE_DATA if action.data_change else pb.CHANGE_LAYOUT
    match action:
        case CreateTable():
            return pb.Action(change=change, create_table=pb.CreateTable(schema_json=_schema_to_json(action.schema)))
        case AddParts():
            runs = [pb.Run(origin=run.origin, generation=run.generation) for run in action.empty_runs]
            added = pb.AddParts(table=action.table, parts=_parts_to_bytes(action.parts), empty_runs=runs)
            return pb.Action(change=change, add_parts=added)
        case RemoveParts():
            return pb.Action(change=change, remove_parts=pb.RemoveParts(table=action.table, keys=action.keys))
        case SetFlags():
            flags = pb.SetFlags(table=action.table, flags=_flags_to_pb(action.flags), version=action.version)
            return pb.Action(change=change, set_flags=flags)
        case Collect():
            collect = pb.Collect(transactions=[uuid.bytes for uuid in action.transactions])
            return pb.Action(change=change, collect=collect)


def _action_from_pb(action: pb.Action) -> Action:
    data_change = _data_change(action.change)
    match action.WhichOneof("action"):
        case "create_table":
            return CreateTable(_schema_from_json(action.create_table.schema_json))
        case "add_parts":
            added = action.add_parts
            runs = tuple(Run(run.origin, run.generation) for run in added.empty_runs)
            return AddParts(added.table, _parts_from_bytes(added.parts), data_change, runs)
        case "remove_parts":
            return RemoveParts(action.remove_parts.table, tuple(action.remove_parts.keys), data_change)
        case "set_flags":
            return SetFlags(action.set_flags.table, _flags_from_pb(action.set_flags.flags), action.set_flags.version)
        case "collect":
            return Collect(tuple(UUID(bytes=uuid) for uuid in action.collect.transactions))
        case _:
            raise UnknownFormat("A transaction has an action that this version does not know.", help="Upgrade Instar.")


def _data_change(change: pb.Change) -> bool:
    if change not in (pb.CHANGE_DATA, pb.CHANGE_LAYOUT):
        raise UnknownFormat(
            f"An action's change is {change}, which this version does not know.", help="Upgrade Instar."
        )
    return change == pb.CHANGE_DATA


def _table_to_pb(table: TableState) -> pb.TableState:
    return pb.TableState(
        schema_json=_schema_to_json(table.schema),
        parts=_parts_to_bytes(table.parts),
        flags=_flags_to_pb(table.flags),
        flags_version=table.flags_version,
        origins=[
            pb.Origin(
                origin=origin, generation=state.generation, transaction=state.transaction.bytes, sealed=state.sealed
            )
            for origin, state in sorted(table.origins.items())
        ],
    )


def _table_from_pb(table: pb.TableState) -> TableState:
    return TableState(
        _schema_from_json(table.schema_json),
        _parts_from_bytes(table.parts),
        _flags_from_pb(table.flags),
        table.flags_version,
        {
            origin.origin: OriginState(origin.generation, UUID(bytes=origin.transaction), origin.sealed)
            for origin in table.origins
        },
    )


def _flags_to_pb(flags: Flags) -> pb.Flags:
    return pb.Flags(
        write_format=_WRITE_FORMATS[flags.write_format],
        read_format=_READ_FORMATS[flags.read_format],
        pushdown=_PUSHDOWNS[flags.pushdown],
    )


def _flags_from_pb(flags: pb.Flags) -> Flags:
    return Flags(
        _named(_WRITE_FORMATS, flags.write_format, "write_format"),
        _named(_READ_FORMATS, flags.read_format, "read_format"),
        _named(_PUSHDOWNS, flags.pushdown, "pushdown"),
    )


def _named(numbers: Mapping[_K, _N], number: _N, flag: str) -> _K:
    for name, candidate in numbers.items():
        if candidate == number:
            return name
    raise UnknownFormat(f"{flag} has the value {number}, which this version does not know.", help="Upgrade Instar.")


def _schema_to_json(schema: TableSchema) -> str:
    return json.dumps(schema.to_json(), sort_keys=True)


def _schema_from_json(text: str) -> TableSchema:
    return TableSchema.from_json(json.loads(text))


def _parts_to_bytes(parts: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, parts.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(parts.combine_chunks())
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def _parts_from_bytes(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
