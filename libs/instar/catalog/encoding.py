"""Bytes of the log: the envelope, and the two kinds of objects in it. Values meet protobuf here and in `*_encoding`."""

import hashlib
from dataclasses import dataclass
from uuid import UUID

from google.protobuf.message import DecodeError, Message

from instar.catalog import transaction_pb2 as pb
from instar.catalog.action_encoding import action_from_pb, action_to_pb
from instar.catalog.actions import Transaction
from instar.catalog.apply import READER_VERSION, UnknownFormat
from instar.catalog.snapshot import Protocol, Snapshot
from instar.catalog.state_encoding import (
    adopted_from_pb,
    adopted_to_pb,
    table_from_bytes,
    table_to_pb,
    unknown_fields,
)
from instar.catalog.wire import NotProtobuf, split
from instar.errors import InstarError


class DamagedObject(InstarError):
    """Bytes of a log that are not what was written."""


@dataclass(frozen=True)
class Header:
    """Which transaction it is, without what it did."""

    revision: int
    uuid: UUID
    previous: UUID | None
    commit_time: int


def encode_transaction(transaction: Transaction) -> bytes:
    body = pb.Transaction(
        actions=[action_to_pb(action) for action in transaction.actions],
        commit=_commit_to_pb(transaction.revision, transaction.uuid, transaction.previous, transaction.commit_time),
    )
    return _seal(pb.KIND_TRANSACTION, body)


def decode_transaction(data: bytes) -> Transaction:
    body = pb.Transaction.FromString(bytes(_open(pb.KIND_TRANSACTION, data)))
    header = _header(body.commit)
    actions = tuple(action_from_pb(action) for action in body.actions)
    return Transaction(header.revision, header.uuid, header.previous, header.commit_time, actions)


def decode_header(data: bytes) -> Header:
    """Return which transaction `data` is. All of it is checked, nothing of what it did is looked at."""
    _, rest = split(_open(pb.KIND_TRANSACTION, data), frozenset({pb.Transaction.ACTIONS_FIELD_NUMBER}))
    return _header(pb.Transaction.FromString(rest).commit)


def encode_checkpoint(snapshot: Snapshot) -> bytes:
    body = pb.Checkpoint(
        writer=snapshot.writer,
        database=snapshot.database,
        commit=_commit_to_pb(snapshot.revision, snapshot.uuid, None, snapshot.commit_time),
        tables=[table_to_pb(snapshot.tables[name]) for name in sorted(snapshot.tables)],
        collected=sorted(uuid.bytes for uuid in snapshot.collected),
        adopted=adopted_to_pb(snapshot.adopted),
        heir=snapshot.heir,
        min_reader=snapshot.protocol.min_reader,
        min_writer=snapshot.protocol.min_writer,
    )
    body.MergeFromString(snapshot.unknown)
    return _seal(pb.KIND_CHECKPOINT, body)


def decode_checkpoint(data: bytes) -> Snapshot:
    number = pb.Checkpoint.TABLES_FIELD_NUMBER
    taken, rest = split(_open(pb.KIND_CHECKPOINT, data), frozenset({number}))
    tables = [table_from_bytes(table) for table in taken[number]]
    body = pb.Checkpoint.FromString(rest)
    return Snapshot(
        body.writer,
        body.database,
        body.commit.revision,
        UUID(bytes=body.commit.uuid),
        body.commit.commit_time_micros,
        {table.schema.name.table: table for table in tables},
        frozenset(UUID(bytes=uuid) for uuid in body.collected),
        adopted_from_pb(body.adopted),
        body.heir if body.HasField("heir") else None,
        Protocol(body.min_reader, body.min_writer),
        unknown_fields(body),
    )


def _seal(kind: pb.Kind, body: Message) -> bytes:
    encoded = body.SerializeToString(deterministic=True)
    envelope = pb.Envelope(kind=kind, min_reader_version=READER_VERSION, body=encoded)
    envelope.sha256 = _checksum(envelope.kind, envelope.min_reader_version, encoded)
    return envelope.SerializeToString(deterministic=True)


def _open(kind: pb.Kind, data: bytes) -> memoryview:
    """Return the body, checked in this order: whole, of a version that we know, of the kind we expect."""
    number = pb.Envelope.BODY_FIELD_NUMBER
    try:
        taken, rest = split(memoryview(data), frozenset({number}))
        envelope = pb.Envelope.FromString(rest)
    except (DecodeError, NotProtobuf):
        raise DamagedObject(f"These {len(data)} bytes are no object of a log.") from None
    body = taken[number][0] if len(taken[number]) == 1 else memoryview(b"")
    if envelope.sha256 != _checksum(envelope.kind, envelope.min_reader_version, body):
        raise DamagedObject(f"The checksum over these {len(data)} bytes is wrong.")
    if not 1 <= envelope.min_reader_version <= READER_VERSION:
        raise UnknownFormat(
            f"This needs a reader of version {envelope.min_reader_version}; this one has version {READER_VERSION}.",
            help="Upgrade Instar here before reading this lake.",
        )
    if envelope.kind != kind:
        raise DamagedObject(f"This is a {pb.Kind.Name(envelope.kind)}, where a {pb.Kind.Name(kind)} belongs.")
    return body


def _checksum(kind: int, version: int, body: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(int(kind).to_bytes(4, "big", signed=True) + version.to_bytes(4, "big"))
    digest.update(body)
    return digest.digest()


def _header(commit: pb.Commit) -> Header:
    previous = UUID(bytes=commit.previous_uuid) if commit.previous_uuid else None
    return Header(commit.revision, UUID(bytes=commit.uuid), previous, commit.commit_time_micros)


def _commit_to_pb(revision: int, uuid: UUID | None, previous: UUID | None, commit_time: int) -> pb.Commit:
    return pb.Commit(
        revision=revision,
        uuid=uuid.bytes if uuid else b"",
        previous_uuid=previous.bytes if previous else b"",
        commit_time_micros=commit_time,
    )
