import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, CreateTable, RemoveParts, Run
from instar.catalog.origins import OriginConflict, OriginSealed
from instar.model.part import PART_FIELDS
from tests.catalog.samples import Writer, part_rows, schema


def begun() -> Writer:
    writer = Writer()
    writer.create()
    return writer


def test_one_run_is_committed_once_and_its_repetition_does_nothing() -> None:
    writer = begun()
    first = writer.add(2, origin="jan", generation=1)
    again = writer.add(3, origin="jan", generation=1)
    assert (again.already, again.revision) == (True, first.revision)
    assert not again.due.checkpoint
    assert len(writer.keys()) == 2


def test_a_repetition_is_noticed_though_the_first_one_lands_in_the_middle_of_it() -> None:
    writer = begun()
    late = Writer(writer.store, seed=5)
    late.timeline.load()
    writer.add(2, origin="jan", generation=1)
    assert late.add(2, origin="jan", generation=1).already
    assert len(writer.keys()) == 2


def test_a_repetition_that_also_creates_the_table_does_nothing() -> None:
    writer = Writer()
    for already in (False, True):
        uuid = writer.uuids()
        rows = part_rows(uuid, origin="jan", generation=1)
        committed = writer.commit(CreateTable(schema()), AddParts("h2o", rows), uuid=uuid)
        assert committed.already is already


def test_a_higher_generation_replaces_the_older_one_in_one_step_and_nothing_else() -> None:
    writer = begun()
    writer.add(2, origin="jan", generation=1)
    writer.add(2, origin="feb", generation=1)
    writer.add(1)
    others = set(writer.keys()[2:])
    committed = writer.add(1, origin="jan", generation=3)
    state = committed.snapshot.table("h2o")
    assert (committed.revision, state.origins["jan"].generation) == (5, 3)
    assert others < set(writer.keys())
    assert sorted(zip(state.parts["origin"].to_pylist(), state.parts["generation"].to_pylist(), strict=True)) == [
        ("", 0),
        ("feb", 1),
        ("feb", 1),
        ("jan", 3),
    ]
    (removal, _) = writer.timeline.read(5).actions
    assert isinstance(removal, RemoveParts)
    assert (len(removal.keys), removal.data_change) == (2, True)


def test_a_higher_generation_without_rows_leaves_nothing_of_the_older_one() -> None:
    writer = begun()
    writer.add(2, origin="jan", generation=1)
    writer.commit(AddParts("h2o", PART_FIELDS.empty_table(), empty_runs=(Run("jan", 2),)))
    assert writer.keys() == []
    assert writer.add(1, origin="jan", generation=2).already


def test_a_higher_generation_replaces_what_a_compaction_made_of_the_older_one() -> None:
    writer = begun()
    writer.add(2, origin="jan", generation=1)
    writer.add(2, origin="feb", generation=1)
    writer.compact(writer.keys(), [("jan", 1), ("feb", 1)])
    writer.add(1, origin="jan", generation=2)
    assert sorted(writer.timeline.load().table("h2o").parts["origin"].to_pylist()) == ["feb", "jan"]


def test_a_compaction_is_no_repetition_of_the_run_that_it_rewrites() -> None:
    writer = begun()
    writer.add(2, origin="jan", generation=1)
    assert not writer.compact(writer.keys(), [("jan", 1)]).already
    assert len(writer.keys()) == 1


def test_a_lower_generation_is_refused() -> None:
    writer = begun()
    writer.add(origin="jan", generation=2)
    with pytest.raises(OriginConflict, match="'jan' is in 'h2o' with generation 2; 1 is older"):
        writer.add(origin="jan", generation=1)


def test_an_origin_that_was_merged_with_others_can_be_repeated_but_not_replaced() -> None:
    writer = begun()
    writer.add(origin="jan", generation=1)
    writer.add(origin="feb", generation=1)
    writer.compact(writer.keys(), [("", 0)])
    assert writer.add(origin="jan", generation=1).already
    with pytest.raises(OriginSealed, match="'jan' in 'h2o' were merged with others"):
        writer.add(origin="jan", generation=2)


def test_a_repetition_that_adds_more_than_the_first_one_is_refused() -> None:
    writer = begun()
    writer.add(origin="jan", generation=1)
    uuid = writer.uuids()
    rows = pa.concat_tables(
        [
            part_rows(uuid, origin="jan", generation=1),
            part_rows(uuid, origin="feb", generation=1, attempt=1),
        ]
    )
    with pytest.raises(OriginConflict, match="Generation 1 of 'jan' is in 'h2o' already, but not all"):
        writer.commit(AddParts("h2o", rows), uuid=uuid)
    assert len(writer.keys()) == 1


def test_rows_without_an_origin_are_added_each_time() -> None:
    writer = begun()
    writer.add()
    writer.add()
    assert len(writer.keys()) == 2


def test_origins_of_different_tables_have_nothing_to_do_with_each_other() -> None:
    writer = begun()
    writer.create("air")
    writer.add(origin="jan", generation=2)
    assert not writer.add(table="air", origin="jan", generation=1).already
