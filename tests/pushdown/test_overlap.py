import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.expr.nodes import ColumnRef
from instar.model.schema import ColumnId, TableSchema
from instar.pushdown.overlap import isolated
from tests.pushdown.parts import Statistics, parts_table

SCHEMA = TableSchema.create("db.t", {"a": "int64", "b": "string"}, ids=iter([1, 2]).__next__)
A, B = (ColumnRef(c.id, c.type) for c in SCHEMA.columns)
Box = tuple[int | None, int | None, str | None, str | None]

integers, letters = st.none() | st.integers(0, 12), st.none() | st.sampled_from("abcdef")
boxes = st.lists(
    st.tuples(integers, integers, letters, letters).filter(
        lambda box: (box[0] or 0) <= (99 if box[1] is None else box[1]) and (box[2] or "") <= (box[3] or "z")
    ),
    max_size=8,
)


def _isolated(drawn: list[Box], key: tuple[ColumnRef, ...], among: list[bool] | None = None) -> list[bool]:
    known: list[dict[ColumnId, Statistics]] = [
        {
            A.id: {"lower": box[0], "upper": box[1], "nulls": 0, "nan": None},
            B.id: {"lower": box[2], "upper": box[3], "nulls": 0, "nan": None},
        }
        for box in drawn
    ]
    parts = parts_table(SCHEMA, [([{}] * 5, statistics) for statistics in known])
    mask = np.ones(len(drawn), np.bool_) if among is None else np.array(among)
    return [bool(flag) for flag in isolated(parts, key, mask)]


def _meet(one: Box, other: Box, columns: int) -> bool:
    axes = [(0, -1, 99), (2, "", "z")][:columns]
    for at, least, greatest in axes:
        low, high = (least if one[at] is None else one[at]), (greatest if one[at + 1] is None else one[at + 1])
        other_low = least if other[at] is None else other[at]
        other_high = greatest if other[at + 1] is None else other[at + 1]
        if high < other_low or other_high < low:  # type: ignore[operator]
            return False
    return True


@settings(max_examples=200, deadline=None)
@given(boxes)
def test_with_one_key_column_isolation_is_exact(drawn: list[Box]) -> None:
    alone = [not any(_meet(box, other, 1) for j, other in enumerate(drawn) if i != j) for i, box in enumerate(drawn)]
    assert _isolated(drawn, (A,)) == alone


@settings(max_examples=200, deadline=None)
@given(boxes)
def test_an_isolated_part_meets_no_other(drawn: list[Box]) -> None:
    alone = _isolated(drawn, (A, B))
    for (i, one), (j, other) in itertools.permutations(enumerate(drawn), 2):
        assert not (alone[i] and _meet(one, other, 2)), (i, j)


def test_a_grid_is_isolated_by_its_columns_together() -> None:
    grid: list[Box] = [(a, a + 1, b, b) for a in range(0, 10, 2) for b in "abc"]
    assert _isolated(grid, (A, B)) == [True] * len(grid)
    assert _isolated(grid, (A,)) == [False] * len(grid)


def test_a_later_column_breaks_a_chain_in_an_earlier_one() -> None:
    chain: list[Box] = [(0, 5, "a", "a"), (4, 9, "c", "c"), (8, 12, "a", "a")]
    assert _isolated(chain, (A, B)) == [True, True, True]


def test_parts_that_are_not_asked_for_do_not_count() -> None:
    drawn: list[Box] = [(0, 5, "a", "a"), (4, 9, "a", "a"), (8, 12, "a", "a")]
    assert _isolated(drawn, (A,), [True, False, True]) == [True, False, True]
