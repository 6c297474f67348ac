import json
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog import transaction_pb2 as pb
from instar.catalog.actions import (
    AddParts,
    AddTombstones,
    Adopt,
    AlterTable,
    Collect,
    CreateTable,
    RemoveParts,
    Reset,
    ResetReason,
    RetireTombstones,
    Run,
    Seal,
    SetFlags,
    Transaction,
    Upgrade,
)
from instar.catalog.apply import READER_VERSION, WRITER_VERSION, UnknownFormat, apply
from instar.catalog.encoding import (
    DamagedObject,
    _checksum,
    decode_checkpoint,
    decode_transaction,
    encode_checkpoint,
    encode_transaction,
)
from instar.catalog.names import LogKind
from instar.catalog.origin_set import OriginSet, OriginState
from instar.catalog.part_set import PartSet
from instar.catalog.snapshot import Adoption, Protocol, Snapshot, TableState
from instar.catalog.timeline import Timeline
from instar.catalog.tombstones import KeyTombstone, PlacedTombstone, PredicateTombstone
from instar.catalog.vector import RevisionVector
from instar.flags import Flags, Pushdown, ReadFormat, WriteFormat
from tests.catalog.samples import Writer, numbered_uuids, part_rows, schema

UUIDS = numbered_uuids()
UUID, OTHER = UUIDS(), UUIDS()
STATISTICS = {"101.lower": pa.array([None, 3], pa.timestamp("us")), "103.nan": pa.array([True, None])}
TRANSACTION = Transaction(
    7,
    UUID,
    OTHER,
    123,
    (
        CreateTable(schema()),
        AddParts("h2o", part_rows(UUID, 2, statistics=STATISTICS), empty_runs=(Run("jan", 2),)),
        AddParts("h2o", part_rows(UUID, 1, attempt=1), data_change=False),
        RemoveParts("h2o", ("a", "ü"), data_change=False),
        SetFlags("h2o", Flags(WriteFormat.DUAL, ReadFormat.SHADOW, Pushdown.SOFT), 4),
        Collect((OTHER,)),
        AlterTable(schema()),
        AddTombstones("h2o", (PredicateTombstone(UUID, "degrees > 3", RevisionVector.parse("w1/weather@7")),)),
        AddTombstones("h2o", (KeyTombstone(OTHER, pa.table({"state": ["CA"]}), 5),)),
        RetireTombstones("h2o", (UUID,)),
        Seal("w2"),
        Adopt("w3", 9, OTHER, (TableState(schema(), PartSet(part_rows(OTHER))),)),
        Reset(ResetReason.RESTORE, 4, (TableState(schema()),), {"w3": Adoption(9, OTHER, 5)}),
        Upgrade(1, 2),
    ),
)
SNAPSHOT = Snapshot(
    "w1",
    "weather",
    7,
    UUID,
    123,
    {
        "h2o": TableState(
            schema(),
            PartSet(part_rows(UUID, 2, statistics=STATISTICS)),
            Flags(WriteFormat.DUAL),
            3,
            OriginSet(None, {"jan": OriginState(1, OTHER), "feb": OriginState(2, UUID, sealed=True)}),
            (PlacedTombstone(PredicateTombstone(UUID, "true", RevisionVector()), 6),),
            99,
        ),
        "air": TableState(schema("air")),
    },
    frozenset({OTHER}),
    {"w3": Adoption(9, OTHER, 5)},
    "w2",
    Protocol(1, 2),
)


def test_a_transaction_round_trips() -> None:
    assert decode_transaction(encode_transaction(TRANSACTION)) == TRANSACTION


def test_the_first_transaction_has_no_previous_one() -> None:
    first = Transaction(1, UUID, None, 5, ())
    assert decode_transaction(encode_transaction(first)) == first


def test_a_checkpoint_round_trips() -> None:
    assert decode_checkpoint(encode_checkpoint(SNAPSHOT)).equals(SNAPSHOT)


@given(st.data())
def test_any_flipped_bit_is_noticed(data: st.DataObject) -> None:
    encoded = bytearray(encode_transaction(TRANSACTION))
    position = data.draw(st.integers(0, len(encoded) - 1))
    encoded[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(DamagedObject):
        decode_transaction(bytes(encoded))


@given(st.integers(0, len(encode_checkpoint(SNAPSHOT)) - 1))
def test_any_torn_object_is_noticed(length: int) -> None:
    with pytest.raises(DamagedObject):
        decode_checkpoint(encode_checkpoint(SNAPSHOT)[:length])


def test_a_checkpoint_is_no_transaction() -> None:
    with pytest.raises(DamagedObject, match="KIND_CHECKPOINT, where a KIND_TRANSACTION belongs"):
        decode_transaction(encode_checkpoint(SNAPSHOT))


def resealed(envelope: pb.Envelope) -> bytes:
    envelope.sha256 = _checksum(envelope.kind, envelope.min_reader_version, envelope.body)
    return envelope.SerializeToString()


@pytest.mark.parametrize("version", [0, READER_VERSION + 1])
def test_a_version_that_is_not_known_is_refused_before_its_body_is_parsed(version: int) -> None:
    future = pb.Envelope(kind=pb.KIND_TRANSACTION, min_reader_version=version, body=b"\xff of another kind")
    with pytest.raises(UnknownFormat, match=f"needs a reader of version {version}.*Upgrade"):
        decode_transaction(resealed(future))


def changed(mutate: object) -> bytes:
    envelope = pb.Envelope.FromString(encode_transaction(TRANSACTION))
    body = pb.Transaction.FromString(envelope.body)
    assert callable(mutate)
    mutate(body)
    envelope.body = body.SerializeToString()
    return resealed(envelope)


def unspecified_change(body: pb.Transaction) -> None:
    body.actions[0].change = pb.CHANGE_UNSPECIFIED


def unknown_action(body: pb.Transaction) -> None:
    body.actions[0].ClearField("create_table")


def unspecified_flag(body: pb.Transaction) -> None:
    body.actions[4].set_flags.flags.pushdown = pb.PUSHDOWN_UNSPECIFIED


@pytest.mark.parametrize("mutate", [unspecified_change, unknown_action, unspecified_flag])
def test_what_is_unspecified_or_unknown_is_refused(mutate: object) -> None:
    with pytest.raises(UnknownFormat):
        decode_transaction(changed(mutate))


FUTURE = b"\xf2\x3f\x03new"  # field 1022, the bytes "new"


def with_future_fields(mutate: Callable[[pb.Checkpoint], None]) -> bytes:
    envelope = pb.Envelope.FromString(encode_checkpoint(SNAPSHOT))
    body = pb.Checkpoint.FromString(envelope.body)
    mutate(body)
    envelope.body = body.SerializeToString()
    return resealed(envelope)


def into_the_checkpoint(body: pb.Checkpoint) -> None:
    body.MergeFromString(FUTURE)


def into_a_table(body: pb.Checkpoint) -> None:
    body.tables[1].MergeFromString(FUTURE)


def into_the_schema(body: pb.Checkpoint) -> None:
    value = json.loads(body.tables[1].schema_json)
    value["future"] = "new"
    value["columns"][0]["future"] = "new"
    value["settings"]["future"] = "new"
    body.tables[1].schema_json = json.dumps(value)


@pytest.mark.parametrize("mutate", [into_the_checkpoint, into_a_table, into_the_schema])
def test_what_a_newer_version_added_survives_a_checkpoint_of_this_one(mutate: Callable[[pb.Checkpoint], None]) -> None:
    old = decode_checkpoint(encode_checkpoint(SNAPSHOT))
    read = decode_checkpoint(with_future_fields(mutate))
    assert read.tables["h2o"].schema == old.tables["h2o"].schema
    uuid = UUIDS()
    unsealed = replace(read, heir=None)
    later = apply(unsealed, Transaction(8, uuid, read.uuid, 200, (AddParts("h2o", part_rows(uuid)),)))
    written = encode_checkpoint(later)
    assert written.count(b"new") == with_future_fields(mutate).count(b"new")
    assert decode_checkpoint(written).equals(later)


def test_what_a_newer_version_added_to_a_new_table_survives_a_checkpoint() -> None:
    envelope = pb.Envelope.FromString(encode_transaction(Transaction(1, UUID, None, 5, (CreateTable(schema()),))))
    body = pb.Transaction.FromString(envelope.body)
    body.actions[0].create_table.MergeFromString(FUTURE)
    body.actions[0].create_table.MergeFromString(b"\x12\x01x")  # a number that means something else in a state
    envelope.body = body.SerializeToString()
    state = apply(Snapshot("w1", "weather"), decode_transaction(resealed(envelope)))
    assert state.table("h2o").unknown.fields == FUTURE
    assert b"new" in encode_checkpoint(state)
    altered = apply(state, Transaction(2, OTHER, UUID, 6, (AlterTable(schema()),)))
    assert altered.table("h2o").unknown.fields == FUTURE


def test_a_transaction_of_a_newer_version_is_refused_before_any_of_it_is_applied() -> None:
    writer = Writer()
    writer.create()
    key = writer.timeline.key(2, LogKind.TRANSACTION)
    envelope = pb.Envelope.FromString(writer.store.get(writer.timeline.key(1, LogKind.TRANSACTION)))
    envelope.min_reader_version = READER_VERSION + 1
    writer.store.put(key, resealed(envelope))
    fresh = Timeline(writer.store, "w1", "weather")
    with pytest.raises(UnknownFormat):
        fresh.load()
    assert fresh.load(1).revision == 1
    with pytest.raises(UnknownFormat):
        Writer(writer.store, seed=1).add()


def test_an_upgrade_is_refused_by_readers_and_writers_that_are_too_old() -> None:
    writer = Writer()
    writer.create()
    with pytest.raises(UnknownFormat, match="needs a reader of version 2 from revision 2 on"):
        writer.commit(Upgrade(READER_VERSION + 1, 1))
    writer.commit(Upgrade(1, WRITER_VERSION + 1))
    with pytest.raises(UnknownFormat, match="needs a writer of version 2"):
        writer.add()
    assert Timeline(writer.store, "w1", "weather").load().revision == 2
