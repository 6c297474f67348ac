import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, Collect, CreateTable, InvalidParts, RemoveParts, Run, SetFlags, Transaction
from instar.flags import Flags
from tests.catalog.samples import numbered_uuids, part_rows, schema

UUID = numbered_uuids()()


def test_only_rows_that_come_or_go_change_the_data() -> None:
    rows = part_rows(UUID)
    layout = (
        CreateTable(schema()),
        SetFlags("h2o", Flags(), 1),
        Collect((UUID,)),
        AddParts("h2o", rows, data_change=False),
        RemoveParts("h2o", ("a",), data_change=False),
    )
    assert not Transaction(1, UUID, None, 1, layout).data_change
    assert Transaction(1, UUID, None, 1, (*layout, AddParts("h2o", rows))).data_change
    assert Transaction(1, UUID, None, 1, (*layout, RemoveParts("h2o", ("a",)))).data_change


def test_the_runs_of_an_addition_are_those_of_its_parts_and_those_that_gave_none() -> None:
    rows = pa.concat_tables(
        [part_rows(UUID, 2, origin="jan", generation=1), part_rows(UUID, 1, origin="feb", generation=3, attempt=1)]
    )
    assert AddParts("h2o", rows, empty_runs=(Run("mar", 2),)).runs == (Run("feb", 3), Run("jan", 1), Run("mar", 2))


def test_rows_without_an_origin_and_changes_of_layout_are_no_runs() -> None:
    assert AddParts("h2o", part_rows(UUID)).runs == ()
    assert AddParts("h2o", part_rows(UUID, origin="jan", generation=1), data_change=False).runs == ()


def test_parts_without_a_fixed_column_are_refused() -> None:
    with pytest.raises(InvalidParts, match="lack a column last_t of type int64"):
        AddParts("h2o", part_rows(UUID).drop_columns(["last_t"]))


def test_parts_with_a_null_in_a_fixed_column_are_refused() -> None:
    rows = part_rows(UUID)
    index = rows.column_names.index("rows")
    rows = rows.set_column(index, pa.field("rows", pa.int64()), pa.array([None], pa.int64()))
    with pytest.raises(InvalidParts, match="null in rows"):
        AddParts("h2o", rows)


def test_one_part_twice_is_refused() -> None:
    rows = part_rows(UUID)
    with pytest.raises(InvalidParts, match="share a key"):
        AddParts("h2o", pa.concat_tables([rows, rows]))
    with pytest.raises(InvalidParts, match="removed twice"):
        RemoveParts("h2o", ("a", "a"))
