import pyarrow as pa
import pytest

from instar.catalog.actions import (
    Action,
    AddParts,
    Collect,
    CreateTable,
    InvalidParts,
    RemoveParts,
    Run,
    SetFlags,
    Transaction,
)
from instar.catalog.apply import BrokenChain, TransactionCollected, apply
from instar.catalog.errors import InvalidAction
from instar.catalog.origin_set import OriginState
from instar.catalog.snapshot import Snapshot, UnknownTable
from instar.flags import Flags, WriteFormat
from tests.catalog.samples import numbered_uuids, part_rows, schema

UUIDS = numbered_uuids()
A, B, C = UUIDS(), UUIDS(), UUIDS()
EMPTY = Snapshot("w1", "weather")


def step(snapshot: Snapshot, uuid: object, *actions: Action) -> Snapshot:
    assert isinstance(uuid, type(A))
    return apply(snapshot, Transaction(snapshot.revision + 1, uuid, snapshot.uuid, snapshot.commit_time + 1, actions))


CREATED = step(EMPTY, A, CreateTable(schema()))


def test_a_created_table_is_empty_with_default_flags() -> None:
    state = CREATED.table("h2o")
    assert (len(state.parts), state.flags, state.flags_version, dict(state.origins)) == (0, Flags(), 0, {})
    assert (CREATED.revision, CREATED.uuid, CREATED.commit_time) == (1, A, 1)


def test_applying_leaves_the_older_snapshot_as_it_was() -> None:
    step(CREATED, B, AddParts("h2o", part_rows(B)))
    assert len(CREATED.table("h2o").parts) == 0


def test_parts_with_different_statistics_are_held_side_by_side() -> None:
    first = step(CREATED, B, AddParts("h2o", part_rows(B, statistics={"101.nulls": pa.array([4])})))
    second = step(first, C, AddParts("h2o", part_rows(C, statistics={"102.lower": pa.array(["CA"])})))
    parts = second.table("h2o").parts
    assert parts["101.nulls"].to_pylist() == [4, None]
    assert parts["102.lower"].to_pylist() == [None, "CA"]


def test_many_additions_do_not_pile_up_chunks() -> None:
    state = CREATED
    for _ in range(200):
        uuid = UUIDS()
        state = step(state, uuid, AddParts("h2o", part_rows(uuid)))
    assert len(state.table("h2o").parts) == 200
    assert state.table("h2o").parts["key"].num_chunks <= 65


def test_removed_parts_are_gone_and_others_stay() -> None:
    rows = part_rows(B, 3)
    keys = rows["key"].to_pylist()
    after = step(step(CREATED, B, AddParts("h2o", rows)), C, RemoveParts("h2o", (keys[1],)))
    assert after.table("h2o").parts["key"].to_pylist() == [keys[0], keys[2]]
    assert after.live_keys() == {keys[0], keys[2]}


def test_a_part_that_is_not_live_can_not_be_removed() -> None:
    with pytest.raises(InvalidAction, match=r"weather\.h2o has no live part nowhere"):
        step(CREATED, B, RemoveParts("h2o", ("nowhere",)))


def test_a_part_can_not_be_added_twice() -> None:
    rows = part_rows(B)
    added = step(CREATED, B, AddParts("h2o", rows))
    with pytest.raises(InvalidAction, match="already"):
        apply(added, Transaction(added.revision + 1, B, added.uuid, 9, (AddParts("h2o", rows),)), check=True)


def test_a_part_of_another_transaction_can_not_be_added() -> None:
    with pytest.raises(InvalidParts, match=f"another transaction than {C}"):
        step(CREATED, C, AddParts("h2o", part_rows(B)))


@pytest.mark.parametrize(
    "action", [AddParts("air", part_rows(B)), RemoveParts("air", ("x",)), SetFlags("air", Flags(), 1)]
)
def test_an_unknown_table_is_named_with_those_that_exist(action: Action) -> None:
    with pytest.raises(UnknownTable, match=r"no table 'air' in weather at revision 2\. It has: h2o"):
        step(CREATED, B, action)


def test_a_table_is_created_once_and_in_its_own_database() -> None:
    with pytest.raises(InvalidAction, match=r"weather\.h2o exists already"):
        step(CREATED, B, CreateTable(schema()))
    with pytest.raises(InvalidAction, match="does not belong to database 'weather'"):
        step(CREATED, B, CreateTable(schema("air", "other")))


def test_a_table_can_be_created_and_filled_at_once() -> None:
    state = step(EMPTY, B, CreateTable(schema()), AddParts("h2o", part_rows(B)))
    assert len(state.table("h2o").parts) == 1


def test_flags_change_under_a_growing_version_only() -> None:
    dual = Flags(WriteFormat.DUAL)
    state = step(CREATED, B, SetFlags("h2o", dual, 3))
    assert (state.table("h2o").flags, state.table("h2o").flags_version) == (dual, 3)
    for version in (2, 3):
        with pytest.raises(InvalidAction, match=f"version 3; {version} is not newer"):
            step(state, C, SetFlags("h2o", Flags(), version))


def test_origins_are_remembered_with_their_generation_and_transaction() -> None:
    rows = part_rows(B, origin="jan", generation=4)
    state = step(CREATED, B, AddParts("h2o", rows, empty_runs=(Run("feb", 1),)))
    assert dict(state.table("h2o").origins) == {"jan": OriginState(4, B), "feb": OriginState(1, B)}


def test_a_merge_that_keeps_origins_apart_leaves_them_open() -> None:
    rows = part_rows(B, 2, origin="jan", generation=4)
    state = step(CREATED, B, AddParts("h2o", rows))
    merged = AddParts("h2o", part_rows(C, origin="jan", generation=4), data_change=False)
    after = step(state, C, RemoveParts("h2o", tuple(rows["key"].to_pylist()), data_change=False), merged)
    assert dict(after.table("h2o").origins) == {"jan": OriginState(4, B)}


def test_a_merge_that_mixes_origins_seals_them() -> None:
    rows = part_rows(B, 2, origin="jan", generation=4)
    state = step(CREATED, B, AddParts("h2o", rows))
    after = step(
        state,
        C,
        RemoveParts("h2o", tuple(rows["key"].to_pylist()), data_change=False),
        AddParts("h2o", part_rows(C), data_change=False),
    )
    assert dict(after.table("h2o").origins) == {"jan": OriginState(4, B, sealed=True)}


def test_a_collected_transaction_is_fenced_off() -> None:
    fenced = step(CREATED, B, Collect((C,)))
    with pytest.raises(TransactionCollected, match=f"{C} was given up"):
        step(fenced, C, AddParts("h2o", part_rows(C)))


def test_a_transaction_of_another_past_is_refused() -> None:
    with pytest.raises(BrokenChain):
        apply(CREATED, Transaction(2, B, C, 9, ()))
    with pytest.raises(BrokenChain):
        apply(CREATED, Transaction(3, B, A, 9, ()))


def test_snapshots_are_equal_by_state_and_not_by_chunks() -> None:
    rows = part_rows(B, 2)
    whole = step(CREATED, B, AddParts("h2o", rows))
    chunked = step(CREATED, B, AddParts("h2o", pa.concat_tables([rows.slice(0, 1), rows.slice(1)])))
    assert whole.equals(chunked)
    assert not whole.equals(step(CREATED, B, AddParts("h2o", rows.slice(0, 1))))
