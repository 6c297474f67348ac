from dataclasses import replace

import pytest

from instar.catalog.actions import AlterTable, RemoveParts
from instar.catalog.alter import InvalidAlteration, check_alteration, describe_alteration
from instar.catalog.commit import CommitConflict
from instar.catalog.preconditions import ColumnsLive, HeadIs, NoTombstonesSince, SchemaIs
from instar.model import evolve
from instar.model.schema import ColumnId, TableSchema
from instar.model.types import BOOL, FLOAT32, FLOAT64, INT16, INT32, INT64, STRING, UINT32, UINT64, widens, wider
from tests.catalog.samples import Writer, schema


def narrow() -> TableSchema:
    return evolve.add_column(schema(), "level", "int32", ids=lambda: 500)


def test_every_alteration_is_allowed_and_described() -> None:
    before = narrow()
    steps = [
        (evolve.add_column(before, "wind", "float64", ids=lambda: 501), "added column wind (float64)"),
        (evolve.drop_column(before, "degrees"), "dropped column degrees"),
        (evolve.rename_column(before, "level", "height"), "renamed column level to height"),
        (evolve.widen_column(before, "level", INT64), "widened column level from int32 to int64"),
        (evolve.set_default(before, "level", 3), "set the default of column level"),
        (evolve.set_sort_order(before, ("state",)), "sorted by state"),
    ]
    for after, phrase in steps:
        check_alteration(before, after)
        assert describe_alteration(before, after) == [phrase]


@pytest.mark.parametrize(
    "after",
    [
        replace(narrow(), columns=narrow().columns[:3]),
        replace(narrow(), columns=(*narrow().columns[:3], replace(narrow().columns[3], type=INT16))),
        replace(narrow(), columns=(*narrow().columns[:3], replace(narrow().columns[3], type=STRING))),
        replace(narrow(), columns=(*narrow().columns[:3], replace(narrow().columns[3], nullable=False))),
        replace(narrow(), columns=(*narrow().columns[:3], replace(narrow().columns[3], initial_default="1"))),
        replace(
            narrow(),
            columns=(*narrow().columns, replace(narrow().columns[3], id=ColumnId(9), name="x", nullable=False)),
        ),
        schema("air"),
    ],
)
def test_what_would_change_the_meaning_of_rows_is_refused(after: TableSchema) -> None:
    with pytest.raises(InvalidAlteration):
        check_alteration(narrow(), after)


def test_only_types_that_hold_every_value_are_wider() -> None:
    assert widens(INT16, INT64)
    assert widens(UINT32, INT64)
    assert widens(FLOAT32, FLOAT64)
    assert not any(widens(*pair) for pair in ((INT64, INT32), (UINT64, INT64), (INT64, FLOAT64), (BOOL, INT16)))
    assert (wider(INT32, INT64), wider(INT64, INT32), wider(INT32, STRING)) == (INT64, INT64, None)


def test_a_dropped_column_that_comes_back_is_another_one() -> None:
    writer = Writer()
    writer.create()
    dropped = evolve.drop_column(schema(), "degrees")
    writer.commit(AlterTable(dropped))
    with pytest.raises(CommitConflict, match="dropped columns"):
        writer.commit(AlterTable(replace(schema(), dropped=())))
    again = evolve.add_column(dropped, "degrees", "float64", ids=lambda: 777)
    writer.commit(AlterTable(again))
    table = writer.timeline.load().table("h2o")
    assert (table.schema.column("degrees").id, table.schema.dropped) == (777, (103,))


def test_of_two_alterations_of_one_schema_the_second_is_told() -> None:
    writer = Writer()
    writer.create()
    other = Writer(writer.store, seed=1)
    other.timeline.load()
    planned = evolve.add_column(schema(), "wind", "int64", ids=lambda: 501)
    writer.commit(AlterTable(narrow()), expect=(SchemaIs(schema()),))
    with pytest.raises(CommitConflict, match="'h2o' was altered"):
        other.commit(AlterTable(planned), expect=(SchemaIs(schema()),))


def test_preconditions_tell_what_has_changed() -> None:
    writer = Writer()
    writer.create()
    head = writer.timeline.load()
    assert HeadIs(head.revision, head.uuid).violation(head) is None
    assert ColumnsLive("h2o", (ColumnId(103),)).violation(head) is None
    assert NoTombstonesSince("h2o", 0).violation(head) is None
    later = writer.commit(AlterTable(evolve.drop_column(schema(), "degrees"))).snapshot
    assert ColumnsLive("h2o", (ColumnId(103),)).violation(later) == "Column 103 of 'h2o' was dropped."
    assert "Revision 2 was committed after revision 1" in (HeadIs(head.revision, head.uuid).violation(later) or "")
    with pytest.raises(CommitConflict):
        writer.commit(RemoveParts("h2o", ("x",)), expect=(HeadIs(1, head.uuid),))
