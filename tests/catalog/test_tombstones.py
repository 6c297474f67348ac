import pyarrow as pa
import pytest

from instar.catalog.actions import AddTombstones, CreateTable, RetireTombstones
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import CommitConflict
from instar.catalog.preconditions import NoTombstonesSince
from instar.catalog.timeline import Timeline
from instar.catalog.tombstones import InvalidTombstone, KeyTombstone, PredicateTombstone
from instar.catalog.vector import RevisionVector
from instar.model.schema import TableSchema
from tests.catalog.samples import Writer, numbered_uuids

UUIDS = numbered_uuids(31)
COVERS = RevisionVector.parse("w1/weather@2")


def begun() -> Writer:
    writer = Writer()
    writer.create()
    numbers = iter((7, 8))
    keyed = TableSchema.create(
        "weather.keyed", {"id": "int64", "name": "string"}, ids=lambda: next(numbers), key=["id"], merge_mode="upsert"
    )
    writer.commit(CreateTable(keyed))
    return writer


def by_key() -> KeyTombstone:
    return KeyTombstone(UUIDS(), pa.table({"id": [1, 2]}), 9)


def test_tombstones_are_kept_with_their_revision_through_a_checkpoint_until_they_are_retired() -> None:
    writer = begun()
    predicate, key = PredicateTombstone(UUIDS(), "degrees > 3", COVERS), by_key()
    writer.commit(AddTombstones("h2o", (predicate,)))
    writer.commit(AddTombstones("keyed", (key,)))
    write_checkpoint(writer.timeline, writer.timeline.load())
    state = Timeline(writer.store, "w1", "weather").load()
    ((placed,), (other,)) = (state.table(name).tombstones for name in ("h2o", "keyed"))
    assert (placed.tombstone, placed.revision) == (predicate, 3)
    assert (other.tombstone, other.revision) == (key, 4)
    writer.commit(RetireTombstones("h2o", (predicate.id,)))
    assert writer.timeline.load().table("h2o").tombstones == ()


def test_a_compaction_planned_before_a_delete_is_refused() -> None:
    writer = begun()
    writer.commit(AddTombstones("h2o", (PredicateTombstone(UUIDS(), "true", COVERS),)))
    with pytest.raises(CommitConflict, match="Rows of 'h2o' were deleted at revision 3"):
        writer.commit(expect=(NoTombstonesSince("h2o", 2),))


def test_a_tombstone_of_the_wrong_kind_or_key_is_refused() -> None:
    writer = begun()
    for table, tombstone in (
        ("h2o", by_key()),
        ("keyed", PredicateTombstone(UUIDS(), "true", COVERS)),
        ("keyed", KeyTombstone(UUIDS(), pa.table({"name": ["x"]}), 1)),
    ):
        with pytest.raises(CommitConflict):
            writer.commit(AddTombstones(table, (tombstone,)))
    with pytest.raises(CommitConflict, match="no tombstone"):
        writer.commit(RetireTombstones("h2o", (UUIDS(),)))


def test_a_tombstone_says_something() -> None:
    with pytest.raises(InvalidTombstone):
        PredicateTombstone(UUIDS(), "  ", COVERS)
    with pytest.raises(InvalidTombstone):
        KeyTombstone(UUIDS(), pa.table({"id": pa.array([], pa.int64())}), 1)
