import itertools
import json
import math
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.demo.faulty_encoder import dual_part_with_wrong_value
from instar.expr.nodes import And, Expr
from instar.expr.sql import to_sql
from instar.flags import Pushdown, ReadFormat
from instar.model.part import PartFormat, statistics_name
from instar.model.schema import D_COLUMN, T_COLUMN, ColumnId, MergeMode, TableSchema
from instar.parts.compare import Difference
from instar.parts.reader import UnreadablePart
from instar.plan.observation import EncodingsDiffer, ShadowFailed, WronglySkipped, log_observation
from instar.plan.read import differing_rows, first_difference, read_updates, same_rows
from instar.pushdown.prune import Verdict
from tests.expr.strategies import comparisons, expressions
from tests.plan.oracle import Update, counted, matching, to_updates
from tests.plan.parts import Shelf
from tests.plan.strategies import tables, updates

MODES = list(itertools.product(Pushdown, ReadFormat))
each_pushdown = pytest.mark.parametrize("pushdown", Pushdown)
each_read_format = pytest.mark.parametrize("read_format", ReadFormat)
each_format = pytest.mark.parametrize("format", PartFormat)


def table(key: str | None = "k", **columns: str) -> TableSchema:
    """Define a table whose columns have the ids 1, 2, ..."""
    mode = MergeMode.UPSERT if key else MergeMode.APPEND
    return TableSchema.create(
        "db.t", columns, ids=itertools.count(1).__next__, key=[key] if key else [], merge_mode=mode
    )


def version(k: Any, f: Any, t: int = 0, **other: Any) -> Update:
    return Update({"k": k, "f": f}, t, **other)


def bounds(column: int, lower: Any, upper: Any) -> dict[str, Any]:
    return {statistics_name(ColumnId(column), "lower"): lower, statistics_name(ColumnId(column), "upper"): upper}


@st.composite
def shelves(draw: st.DrawFn) -> tuple[Shelf, list[Update]]:
    """Draw a table whose updates lie in parts of any formats, some of them without statistics."""
    shelf = Shelf(draw(tables()))
    drawn = draw(updates(shelf.schema, max_size=10))
    random.Random(draw(st.integers(0, 999))).shuffle(drawn)
    of_one_run = itertools.groupby(sorted(drawn, key=lambda u: u.age[1:3]), key=lambda u: u.age[1:3])
    for _, run in of_one_run:
        several = list(run)
        while several:
            cut = draw(st.integers(1, len(several)))
            known: dict[str, Any] | None = draw(st.sampled_from([None, None, None, {}]))
            shelf.write(several[:cut], draw(st.sampled_from(PartFormat)), known=known)
            several = several[cut:]
    return shelf, drawn


@settings(max_examples=150)
@given(st.data(), shelves())
def test_every_way_of_reading_gives_the_answer_of_the_model(
    data: st.DataObject, drawn: tuple[Shelf, list[Update]]
) -> None:
    shelf, updates = drawn
    schema = shelf.schema
    several = st.builds(And, st.lists(comparisons(schema), min_size=2, max_size=3).map(tuple))
    expr: Expr | None = data.draw(st.none() | several | comparisons(schema) | expressions(schema))
    names = [column.name for column in schema.columns]
    columns = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    where = None if expr is None else to_sql(expr, schema)
    expected = matching(updates, schema, expr, columns)
    for pushdown, read_format in MODES:
        rows, noticed = shelf.answer(where, columns=columns, pushdown=pushdown, read_format=read_format)
        assert counted(rows) == expected
        assert rows.column_names == columns
        assert noticed == []


OLD, NEW = version(1, 5, 1), version(1, 50, 2)
APART = version(9, 5, 1)


@each_pushdown
@each_format
@pytest.mark.parametrize(
    "layout",
    [[[OLD], [NEW]], [[NEW], [OLD]], [[OLD, NEW]], [[OLD, APART], [NEW]], [[OLD], [NEW, APART]], [[NEW], [APART, OLD]]],
)
def test_an_old_version_of_a_row_never_comes_back(
    layout: list[list[Update]], format: PartFormat, pushdown: Pushdown
) -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    for part in layout:
        shelf.write(part, format)
    rows, noticed = shelf.answer("f = 5", pushdown=pushdown)
    assert rows.to_pylist() == [APART.row] * any(APART in part for part in layout)
    assert noticed == []
    assert shelf.answer("f = 50", pushdown=pushdown)[0].to_pylist() == [NEW.row]


@each_pushdown
def test_a_deleted_row_does_not_come_back_by_skipping_the_delete(pushdown: Pushdown) -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    shelf.write([OLD])
    shelf.write([version(1, None, 2, d=-1)])
    assert shelf.answer("f = 5", pushdown=pushdown)[0].num_rows == 0


@pytest.mark.parametrize("key", ["k", None], ids=["upsert", "append"])
@pytest.mark.parametrize("where", ["f > 100", "f = 'NaN'", "f >= 1", "NOT f < 1000"])
def test_a_part_with_a_nan_is_not_skipped_where_nan_matches(where: str, key: str | None) -> None:
    shelf = Shelf(table(key, k="int64", f="float64"))
    shelf.write([version(1, 1.0), version(2, math.nan)])
    needless = shelf.write([version(3, 0.5)])
    rows, _ = shelf.answer(where, columns=["k"])
    assert 2 in rows["k"].to_pylist()
    assert shelf.plan(where).skipped["key"].to_pylist() == [needless]


@pytest.mark.parametrize("key", ["k", None], ids=["upsert", "append"])
def test_a_part_of_nulls_alone_is_skipped_where_no_null_matches_and_only_there(key: str | None) -> None:
    shelf = Shelf(table(key, k="int64", f="float64"))
    nulls, other = shelf.write([version(1, None), version(2, None)]), shelf.write([version(3, 1.0)])
    assert shelf.answer("f IS NULL", columns=["k"])[0]["k"].to_pylist() == [1, 2]
    assert shelf.plan("f IS NULL").skipped["key"].to_pylist() == [other]
    assert shelf.plan("f IS NOT NULL").skipped["key"].to_pylist() == [nulls]


@pytest.mark.parametrize("key", ["k", None], ids=["upsert", "append"])
def test_a_part_without_statistics_is_never_skipped(key: str | None) -> None:
    shelf = Shelf(table(key, k="int64", f="int64"))
    unknown = shelf.write([version(1, 5)], known={})
    shelf.write([version(2, 6)])
    for where in ("f = 5", "k = 1", "f = 6", "k > 100"):
        assert unknown in shelf.plan(where).kept["key"].to_pylist()
    assert shelf.answer("f = 5")[0].to_pylist() == [{"k": 1, "f": 5}]


def test_soft_reports_a_wrong_statistic_with_part_filter_and_row_and_answers_from_all_parts() -> None:
    shelf = Shelf(table(None, k="int64", f="int64"))
    shelf.write([version(1, 5)])
    liar = shelf.write([version(2, 5), version(3, 6)], known=bounds(2, 100, 200))
    rows, noticed = shelf.answer("f = 5", pushdown=Pushdown.SOFT)
    assert rows["k"].to_pylist() == [1, 2]
    assert noticed == [WronglySkipped("db.t", "f = 5", liar, '{"k": 2, "f": 5}')]
    assert str(noticed[0]) == f'db.t: \'f = 5\' would skip {liar} and change the answer by {{"k": 2, "f": 5}}.'
    assert shelf.answer("f = 5", pushdown=Pushdown.ON)[0]["k"].to_pylist() == [1]  # what soft is there to find


def test_soft_reports_an_old_version_that_a_wrong_statistic_would_bring_back() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    shelf.write([OLD])
    liar = shelf.write([NEW], known=bounds(1, 8, 9))
    rows, noticed = shelf.answer("f = 5", pushdown=Pushdown.SOFT)
    assert rows.num_rows == 0
    assert noticed == [WronglySkipped("db.t", "f = 5", liar, '{"k": 1, "f": 5}')]


def test_soft_names_parts_together_that_are_missed_only_together() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    liars = [shelf.write([version(1, 5, t)], known=bounds(1, 8, 9)) for t in (1, 2)]
    _, noticed = shelf.answer("k = 1", pushdown=Pushdown.SOFT)
    assert noticed == [WronglySkipped("db.t", "k = 1", ", ".join(liars), '{"k": 1, "f": 5}')]


@pytest.mark.parametrize(
    ("type_name", "value", "shown"),
    [
        ("timestamp", 2**63 - 1, "<value out of range: 9223372036854775807>"),
        ("timestamp_ns", -(2**63), "1677-09-21 00:12:43.145224192"),
        ("bytes", b"\xff", "ff"),
        ("string", "é'\"", "é'\""),
        ("float64", math.inf, math.inf),
        ("bool", None, None),
    ],
)
def test_soft_reports_a_row_with_any_value(type_name: str, value: Any, shown: Any) -> None:
    shelf = Shelf(table(None, k="int64", f=type_name))
    shelf.write([version(1, value)], known=bounds(1, 8, 9))
    _, (noticed,) = shelf.answer("k = 1", pushdown=Pushdown.SOFT)
    assert isinstance(noticed, WronglySkipped)
    assert json.loads(noticed.row) == {"k": 1, "f": shown}


def test_soft_has_nothing_to_say_where_nothing_is_skipped_or_asked() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    shelf.write([OLD])
    assert shelf.answer(pushdown=Pushdown.SOFT)[1] == shelf.answer("f = 5", pushdown=Pushdown.SOFT)[1] == []


def lying_shelf() -> tuple[Shelf, str]:
    """Return a table whose only part has the wrong value 8 in its structs."""
    shelf = Shelf(table(k="int64", f="int64"))
    truth = to_updates([version(1, 5), version(2, 6)], shelf.schema)
    part = dual_part_with_wrong_value(truth, shelf.schema, shelf.provenance(), row=1, column="f", value=8)
    return shelf, shelf.put(part)


def test_shadow_publishes_a_wrong_value_and_answers_from_the_codec() -> None:
    shelf, key = lying_shelf()
    rows, noticed = shelf.answer(read_format=ReadFormat.SHADOW)
    assert rows["f"].to_pylist() == [5, 6]
    assert noticed == [EncodingsDiffer("db.t", Difference(key, 1, "f", "6", "8"))]
    assert str(noticed[0]) == f"db.t: {key}, row 1, column 'f': codec 6, structured 8."
    assert shelf.answer(read_format=ReadFormat.STRUCTURED)[0]["f"].to_pylist() == [5, 8]


def test_shadow_compares_what_is_read_and_no_more() -> None:
    shelf, _ = lying_shelf()
    assert shelf.answer(columns=["k"], read_format=ReadFormat.SHADOW)[1] == []
    assert len(shelf.answer("f = 6", columns=["k"], read_format=ReadFormat.SHADOW)[1]) == 1


def damaged_shelf() -> tuple[Shelf, str]:
    """Return a table whose only part has a byte flipped in the struct of its values."""
    shelf = Shelf(table(k="int64", f="int64"))
    key = shelf.write([version(k, k) for k in range(1000)])
    data = bytearray(shelf.store.get(key))
    with shelf.store.open_input(key) as file:
        group = pq.read_metadata(file).row_group(0)
    chunk = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema == "v_s.f")
    data[chunk.data_page_offset + chunk.total_compressed_size - 1] ^= 0xFF
    shelf.store.put(key, bytes(data))
    return shelf, key


def test_structured_columns_that_can_not_be_read_are_published_and_not_raised() -> None:
    shelf, key = damaged_shelf()
    rows, (noticed,) = shelf.answer(read_format=ReadFormat.SHADOW)
    assert rows["f"].to_pylist() == list(range(1000))
    assert isinstance(noticed, ShadowFailed)
    assert (noticed.table, noticed.part) == ("db.t", key)
    assert str(noticed).startswith(f"db.t: the structured columns of {key} can't be read: ")


def test_structured_columns_that_can_not_be_read_fail_a_reader_who_relies_on_them() -> None:
    shelf, key = damaged_shelf()
    with pytest.raises(UnreadablePart, match=key):
        shelf.answer(read_format=ReadFormat.STRUCTURED)


def test_a_null_in_the_place_of_a_value_is_published() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    truth = to_updates([version(1, 5)], shelf.schema)
    key = shelf.put(dual_part_with_wrong_value(truth, shelf.schema, shelf.provenance(), row=0, column="f", value=None))
    _, noticed = shelf.answer(read_format=ReadFormat.SHADOW)
    assert noticed == [EncodingsDiffer("db.t", Difference(key, 0, "f", "5", None))]


def test_what_nobody_listens_to_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    log_observation(ShadowFailed("db.t", "p", "it is gone."))
    assert caplog.messages == ["db.t: the structured columns of p can't be read: it is gone."]


@each_read_format
def test_skipped_parts_are_not_opened(read_format: ReadFormat) -> None:
    shelf = Shelf(table(None, k="int64", f="int64"))
    shelf.write([version(1, 5)])
    gone = shelf.write([version(2, 6)])
    shelf.store.delete([gone])
    assert shelf.answer("f = 5", read_format=read_format)[0]["k"].to_pylist() == [1]


def test_updates_come_with_their_writer_and_origin() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    key = shelf.write([version(1, 5, 3, writer="é", origin="landing/1")])
    ((found, updates),) = read_updates(shelf.store, shelf.plan(columns=["k"]), log_observation)
    assert found == key
    assert updates.to_pylist() == [
        {"k": 1, T_COLUMN: 3, D_COLUMN: 1, "_instar_writer": "é", "_instar_origin": "landing/1"}
    ]


def test_a_table_without_parts_has_no_rows() -> None:
    for key in ("k", None):
        rows, _ = Shelf(table(key, k="int64", f="int64")).answer("f = 5", columns=["f"])
        assert (rows.num_rows, rows.schema) == (0, pa.schema([("f", pa.int64())]))


def test_a_question_for_no_columns_counts_rows() -> None:
    shelf = Shelf(table(None, k="int64", f="int64"))
    shelf.write([version(1, 5), version(2, 6), version(3, 5)])
    for read_format in ReadFormat:
        assert shelf.answer("f = 5", columns=[], read_format=read_format)[0].num_rows == 2
        assert shelf.answer(columns=[], read_format=read_format)[0].num_rows == 3


def test_soft_counts_the_rows_of_a_question_for_no_columns() -> None:
    shelf = Shelf(table(None, k="int64", f="int64"))
    shelf.write([version(1, 5)])
    liar = shelf.write([version(2, 5)], known=bounds(2, 100, 200))
    rows, noticed = shelf.answer("f = 5", columns=[], pushdown=Pushdown.SOFT)
    assert rows.num_rows == 2
    assert noticed == [WronglySkipped("db.t", "f = 5", liar, "{}")]


def rows_of(*values: Any) -> pa.Table:
    return pa.table({"f": pa.array(values, pa.float64())})


def test_rows_differ_place_by_place_and_where_one_answer_has_more() -> None:
    assert differing_rows(rows_of(1.0, None, math.nan), rows_of(1.0, 2.0, math.nan, 4.0, 5.0)) == 3
    assert differing_rows(rows_of(1.0), rows_of()) == 1


def test_answers_are_the_same_row_by_row() -> None:
    assert same_rows(rows_of(1.0, None, math.nan, 0.0), rows_of(1.0, None, math.nan, -0.0))
    assert same_rows(rows_of(), rows_of())
    for other in (rows_of(), rows_of(2.0), rows_of(1.0, 1.0), rows_of(None), rows_of(math.nan)):
        assert not same_rows(rows_of(1.0), other)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [([1, 2], [2], 1), ([2], [1, 2], 1), ([1, 2], [1], 2), ([1], [1, 2], 2), ([1, 3], [2, 3], 1)],
)
def test_the_first_row_that_is_in_one_answer_alone_is_shown(left: list[int], right: list[int], shown: int) -> None:
    tables = (pa.table({"f": pa.array(side, pa.int64())}) for side in (left, right))
    assert first_difference(*tables) == f'{{"f": {shown}}}'


def test_verdicts_name_why_a_part_is_read_or_skipped() -> None:
    shelf = Shelf(table(k="int64", f="int64"))
    shelf.write([OLD])
    shelf.write([NEW])
    shelf.write([version(9, 1)])
    pruning = shelf.plan("f = 5").pruning
    assert pruning is not None
    assert pruning.reasons == [
        Verdict.KEPT_MAY_MATCH,
        Verdict.KEPT_NEWER_VERSION_MAY_HIDE,
        Verdict.ROWS_CANNOT_MATCH,
    ]
