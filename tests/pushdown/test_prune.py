import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.expr.evaluate import evaluate
from instar.expr.nodes import And, Expr
from instar.expr.parse import parse_filter
from instar.model.schema import ColumnId, MergeMode, TableSchema
from instar.pushdown.prune import Verdict, prune
from tests.expr.reference import holds
from tests.expr.strategies import SCHEMA, Row, comparisons, expressions, rows, to_table
from tests.pushdown.parts import KINDS, Statistics, known_statistics, parts_table, sharp_parts


@dataclass(frozen=True)
class Version:
    """One update of an upsert table."""

    row: Row
    t: int
    d: int


@settings(max_examples=200, deadline=None)
@given(st.data(), expressions())
def test_a_skipped_part_of_an_append_table_holds_no_match(data: st.DataObject, expr: Expr) -> None:
    drawn = data.draw(st.lists(st.lists(rows(), min_size=1, max_size=3), min_size=1, max_size=4))
    known = [{c.id: data.draw(known_statistics(c, part)) for c in SCHEMA.columns} for part in drawn]
    pruning = prune(expr, parts_table(SCHEMA, list(zip(drawn, known, strict=True))), SCHEMA)
    for part, kept in zip(drawn, pruning.keep, strict=True):
        assert kept or not any(holds(expr, row, SCHEMA) for row in part)


def _merge(parts: list[list[Version]], schema: TableSchema) -> list[Row]:
    """Return the rows of an upsert table: per key the last value of each field that is not null; deletes clear."""
    keys = [column.name for column in schema.key_columns]
    merged: dict[tuple[Any, ...], Row] = {}
    for version in sorted(itertools.chain.from_iterable(parts), key=lambda v: v.t):
        identity = tuple(_same_key(version.row[name]) for name in keys)
        if version.d < 0:
            merged.pop(identity, None)
        else:
            before = merged.get(identity, {})
            merged[identity] = {k: before.get(k) if v is None else v for k, v in version.row.items()}
    return list(merged.values())


def _same_key(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _answers(expr: Expr, parts: list[list[Version]], schema: TableSchema) -> Counter[str]:
    return Counter(repr(sorted(row.items())) for row in _merge(parts, schema) if holds(expr, row, schema))


@st.composite
def upsert_tables(draw: st.DrawFn) -> tuple[TableSchema, list[list[Version]], pa.Table]:
    """Draw a table of few columns and few keys, so that parts share keys, but not all of them."""
    chosen = draw(st.lists(st.sampled_from(SCHEMA.columns), min_size=2, max_size=4, unique=True))
    key = tuple(c.id for c in chosen[: draw(st.integers(1, len(chosen) - 1))])
    schema = replace(SCHEMA, columns=tuple(chosen), key=key, merge_mode=MergeMode.UPSERT)
    times = iter(draw(st.permutations(range(12))))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        part = []
        for row in draw(st.lists(rows(schema.columns, not_null=frozenset(key)), min_size=1, max_size=3)):
            deletes = draw(st.integers(0, 4)) == 0
            shown = {c.name: row[c.name] if c.id in key or not deletes else None for c in schema.columns}
            part.append(Version(shown, next(times), -1 if deletes else 1))
        parts.append(part)
    known: list[dict[ColumnId, Any]] = [
        {c.id: draw(known_statistics(c, [version.row for version in part])) for c in schema.columns} for part in parts
    ]
    table = parts_table(schema, [([v.row for v in part], k) for part, k in zip(parts, known, strict=True)])
    return schema, parts, table


@settings(max_examples=500, deadline=None)
@given(st.data(), upsert_tables())
def test_an_upsert_table_answers_the_same_with_pruning_and_without(
    data: st.DataObject, drawn: tuple[TableSchema, list[list[Version]], pa.Table]
) -> None:
    schema, parts, table = drawn
    several = st.builds(And, st.lists(comparisons(schema), min_size=2, max_size=3).map(tuple))
    expr = data.draw(several | comparisons(schema) | expressions(schema))
    pruning = prune(expr, table, schema)
    kept = [part for part, keep in zip(parts, pruning.keep, strict=True) if keep]
    assert _answers(expr, kept, schema) == _answers(expr, parts, schema)


UPSERT = TableSchema.create(
    "db.t", {"k": "int64", "v": "int64"}, ids=itertools.count(1).__next__, key=["k"], merge_mode="upsert"
)


def _verdicts(text: str, parts: Sequence[Sequence[tuple[int, int | None]]], schema: TableSchema = UPSERT) -> list[str]:
    table = sharp_parts(schema, [[{"k": k, "v": v} for k, v in part] for part in parts])
    return [verdict.name for verdict in prune(parse_filter(text, schema), table, schema).reasons]


def test_a_newer_version_that_does_not_match_is_kept_so_that_the_old_one_stays_hidden() -> None:
    old, new, apart = [(1, 10), (5, 10)], [(3, 0)], [(9, 0)]
    assert _verdicts("v = 10", [old, new, apart]) == [
        "KEPT_MAY_MATCH",
        "KEPT_NEWER_VERSION_MAY_HIDE",
        "ROWS_CANNOT_MATCH",
    ]


def test_a_delete_is_kept_where_it_may_hide_and_skipped_where_its_key_can_not_match() -> None:
    live, delete = [(1, 10), (5, 10)], [(3, None)]
    assert _verdicts("v = 10", [live, delete]) == ["KEPT_MAY_MATCH", "KEPT_NEWER_VERSION_MAY_HIDE"]
    assert _verdicts("v = 10 AND k = 5", [live, delete]) == ["KEPT_MAY_MATCH", "KEYS_CANNOT_MATCH"]


def test_a_part_skipped_by_key_no_longer_makes_others_overlap() -> None:
    wide, narrow = [(1, 10), (5, 10)], [(5, 0), (9, 0)]
    assert _verdicts("v = 10 AND k > 5", [wide, narrow]) == ["KEYS_CANNOT_MATCH", "ROWS_CANNOT_MATCH"]


def test_a_key_below_or_does_not_skip_by_key() -> None:
    assert _verdicts("k = 1 OR v = 10", [[(1, 0)], [(3, 0), (5, 0)], [(4, 10)]]) == [
        "KEPT_MAY_MATCH",
        "KEPT_NEWER_VERSION_MAY_HIDE",
        "KEPT_MAY_MATCH",
    ]


def test_a_part_without_statistics_is_kept_and_overlaps_all() -> None:
    k, v = (column.id for column in UPSERT.columns)
    unknown: dict[ColumnId, Statistics] = {k: dict.fromkeys(KINDS), v: dict.fromkeys(KINDS)}
    known: dict[ColumnId, Statistics] = {
        k: {"lower": 1, "upper": 2, "nulls": 0, "nan": None},
        v: {"lower": 0, "upper": 0, "nulls": 0, "nan": None},
    }
    parts = parts_table(UPSERT, [([{}] * 3, unknown), ([{}] * 3, known)])
    pruning = prune(parse_filter("v = 10", UPSERT), parts, UPSERT)
    assert pruning.reasons == [Verdict.KEPT_MAY_MATCH, Verdict.KEPT_NEWER_VERSION_MAY_HIDE]
    assert pruning.counts == {Verdict.KEPT_MAY_MATCH: 1, Verdict.KEPT_NEWER_VERSION_MAY_HIDE: 1}


def test_an_append_table_skips_by_any_column() -> None:
    schema = replace(UPSERT, key=(), merge_mode=MergeMode.APPEND)
    assert _verdicts("v = 10", [[(1, 10)], [(1, 0)]], schema) == ["KEPT_MAY_MATCH", "ROWS_CANNOT_MATCH"]


PARTS, ROWS_PER_PART = 50, 40
STATES = [f"S{number:03d}" for number in range(20)]


def _sorted_rows() -> list[list[Row]]:
    """Return readings sorted by state and time, cut into parts; late ones carry NaN and null readings."""
    total = PARTS * ROWS_PER_PART
    per_state = total // len(STATES)
    readings: list[Row] = [
        {
            "state": STATES[i // per_state],
            "time": 1_767_225_600_000_000 + (i % per_state) * 60_000_000,
            "at": 1_767_225_600_000_000_000 + i * 10**9,
            "n": i,
            "x": math.nan if i > total * 0.95 else i / 4,
            "ok": i % per_state < per_state // 2,
            "note": None if i < total // 2 else f"note {i:06d}",
        }
        for i in range(total)
    ]
    return [readings[start : start + ROWS_PER_PART] for start in range(0, total, ROWS_PER_PART)]


def _sensor(**options: Any) -> TableSchema:
    types = {"state": "string", "time": "timestamp", "at": "timestamp_ns", "n": "int64", "x": "float64"}
    return TableSchema.create(
        "db.sensor", types | {"ok": "bool", "note": "string"}, ids=itertools.count(1).__next__, **options
    )


PREDICATES = [
    "state = 'S007'",
    "state >= 'S018' AND n < 1900",
    "n = 1234",
    "n > 100.5 AND n <= 299.5",
    "1500 < n",
    "NOT (n < 1800)",
    "n < 50 OR n > 1950",
    "x > 450",
    "x = 'NaN'",
    "at >= timestamp '2026-01-01 00:10:00.000000001' AND at < '2026-01-01 00:15:00'",
    "time < '2026-01-01 00:05:00' AND state = 'S003'",
    "note IS NULL",
    "note IS NOT NULL AND note < 'note 001200'",
    "(n > 1000) IS FALSE AND NOT ok",
]


@pytest.mark.parametrize("text", PREDICATES)
@pytest.mark.parametrize("options", [{}, {"key": ["at"], "merge_mode": "upsert"}], ids=["append", "upsert"])
def test_on_sorted_data_hardly_more_parts_are_kept_than_hold_matches(text: str, options: dict[str, Any]) -> None:
    keep, optimum = _kept_and_needed(text, _sensor(**options))
    assert 0 < optimum < PARTS
    assert keep <= 1.1 * optimum


def test_columns_are_judged_apart_so_the_part_at_a_border_may_be_kept_in_vain() -> None:
    # It ends with rows of the next state, which are ok; those of S010 in it are not.
    keep, optimum = _kept_and_needed("ok AND state = 'S010'", _sensor())
    assert (keep, optimum) == (3, 2)


def _kept_and_needed(text: str, schema: TableSchema) -> tuple[int, int]:
    parts = _sorted_rows()
    expr = parse_filter(text, schema)
    matching = (evaluate(expr, to_table(part, schema), schema) for part in parts)
    needed = sum(bool(pc.any(mask).as_py()) for mask in matching)
    return int(prune(expr, sharp_parts(schema, parts), schema).keep.sum()), needed
