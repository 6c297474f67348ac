import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog import transaction_pb2 as pb
from instar.catalog.actions import AddParts, Collect, CreateTable, RemoveParts, Run, SetFlags, Transaction
from instar.catalog.apply import READER_VERSION, UnknownFormat
from instar.catalog.encoding import (
    DamagedObject,
    _checksum,
    decode_checkpoint,
    decode_transaction,
    encode_checkpoint,
    encode_transaction,
)
from instar.catalog.origin_set import OriginSet, OriginState
from instar.catalog.part_set import PartSet
from instar.catalog.snapshot import Snapshot, TableState
from instar.flags import Flags, Pushdown, ReadFormat, WriteFormat
from tests.catalog.samples import numbered_uuids, part_rows, schema

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
        ),
        "air": TableState(schema("air")),
    },
    frozenset({OTHER}),
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
