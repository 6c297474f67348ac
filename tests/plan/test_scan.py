import functools
import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from instar.catalog.union import WRITER_COLUMN
from instar.catalog.vector import RevisionVector, TimelineId
from instar.expr.evaluate import evaluate
from instar.expr.parse import parse_filter
from instar.flags import Flags, Pushdown, ReadFormat
from instar.model.part import PartFormat
from instar.model.schema import TableSchema, UnknownColumn
from instar.model.settings import TableSettings
from instar.parts.footer import Provenance
from instar.parts.reader import read_part
from instar.plan.merge import newest_versions
from instar.plan.scan import ScanPlan, plan_scan
from instar.plan.write import WriteTask, as_updates, write_parts
from instar.pushdown.prune import Verdict
from instar.sources.line_protocol import parse
from instar.sources.sample import sample_lines, sample_schema
from instar.storage.memory import MemoryStore
from tests.plan.oracle import Update
from tests.plan.parts import Shelf

SCHEMA = TableSchema.create(
    "db.t",
    {"k": "int64", "f": "int64", "g": "string"},
    ids=itertools.count(1).__next__,
    key=["k"],
    merge_mode="upsert",
)


def three_parts() -> tuple[Shelf, list[str]]:
    shelf = Shelf(SCHEMA)
    return shelf, [shelf.write([Update({"k": k, "f": 10 * k, "g": None}, 0)]) for k in (1, 2, 3)]


def test_pushdown_on_reads_what_the_proof_leaves_and_others_read_all() -> None:
    shelf, keys = three_parts()
    plans = {pushdown: shelf.plan("k = 2", pushdown=pushdown) for pushdown in Pushdown}
    assert {pushdown: plan.kept["key"].to_pylist() for pushdown, plan in plans.items()} == {
        Pushdown.OFF: keys,
        Pushdown.SOFT: keys,
        Pushdown.ON: [keys[1]],
    }
    assert {pushdown: plan.proven.tolist() for pushdown, plan in plans.items()} == {
        Pushdown.OFF: [True, True, True],
        Pushdown.SOFT: [False, True, False],
        Pushdown.ON: [False, True, False],
    }
    assert plans[Pushdown.ON].skipped["key"].to_pylist() == [keys[0], keys[2]]
    assert plans[Pushdown.OFF].pruning is None


def test_without_a_filter_nothing_is_skipped() -> None:
    shelf, keys = three_parts()
    assert shelf.plan().kept["key"].to_pylist() == keys
    assert shelf.plan().pruning is None


def test_a_scan_reads_what_it_shows_what_it_filters_by_and_the_key() -> None:
    shelf, _ = three_parts()

    def read(where: str | None, *columns: str) -> list[str]:
        return [column.name for column in shelf.plan(where, columns=columns).read_columns]

    assert read(None, "g") == ["k", "g"]
    assert read("f = 1", "g", "k") == ["k", "f", "g"]
    assert read(None) == ["k"]


def test_columns_are_shown_as_asked_whatever_their_case() -> None:
    shelf, _ = three_parts()
    assert [column.name for column in shelf.plan(columns=["G", "k"]).columns] == ["g", "k"]
    assert shelf.plan().columns == SCHEMA.columns
    with pytest.raises(UnknownColumn, match="'h'"):
        shelf.plan(columns=["h"])


def test_the_same_question_is_planned_anew_under_other_flags() -> None:
    shelf, keys = three_parts()
    off = shelf.plan("k = 2", columns=["g"], pushdown=Pushdown.OFF)
    on = off.under(Flags(read_format=ReadFormat.STRUCTURED, pushdown=Pushdown.ON))
    assert on.kept["key"].to_pylist() == [keys[1]]
    assert (on.where, on.columns, on.vector) == (off.where, off.columns, off.vector)
    assert on.flags.read_format is ReadFormat.STRUCTURED


@pytest.mark.parametrize("pushdown", Pushdown)
def test_a_plan_for_some_parts_keeps_the_verdicts_that_they_have_among_all(pushdown: Pushdown) -> None:
    shelf = Shelf(SCHEMA)
    for f, t in ((5, 1), (50, 2)):
        shelf.write([Update({"k": 1, "f": f, "g": None}, t)])
    plan = shelf.plan("f = 5", pushdown=pushdown)
    newer = plan.restrict(np.array([1]))
    assert newer.parts["key"].to_pylist() == plan.parts["key"].to_pylist()[1:]
    assert newer.kept.num_rows == 1
    assert newer.pruning is None or newer.pruning.reasons == [Verdict.KEPT_NEWER_VERSION_MAY_HIDE]


START = datetime(2026, 1, 1, tzinfo=UTC)
SAMPLE = sample_schema(itertools.count(1).__next__)
VECTOR = RevisionVector.of({TimelineId("main", "weather"): 1})
FILTERS = {
    "a state from a time on": "state = 'CA' AND time >= timestamp '2026-01-01 12:00:00'",
    "a state in a range of time": "state = 'WA' AND time >= '2026-01-01 06:00:00' AND time < '2026-01-01 18:00:00'",
    "a time on": "time >= timestamp '2026-01-01 12:00:00'",
    "a range of time": "time >= '2026-01-01 03:00:00' AND time < '2026-01-01 15:00:00'",
    "a location": "location = 'kachemak_bay'",
    "a location in a range of time": "location = 'puget_sound' AND time < timestamp '2026-01-01 05:00:00'",
    "several locations": "location = 'hilo_bay' OR location = 'cannon_beach'",
    "another state": "NOT state = 'CA' AND location > 'hilo_bay'",
}


@functools.cache
def sample(hours_per_commit: int, part_rows: int) -> tuple[MemoryStore, pa.Table]:
    """Write a day of the sample, each commit sorted and cut into parts."""
    store, records = MemoryStore(), []
    for number in range(0, 24, hours_per_commit):
        start = START + timedelta(hours=number)
        end = start + timedelta(hours=hours_per_commit)
        lines = sample_lines(start, end, seed=1, stations=8, step_seconds=30)
        updates = as_updates(newest_versions(parse(lines, SAMPLE).rows, SAMPLE), number)
        of = Provenance("main", SAMPLE.name, "", UUID(int=number, version=4), f"hour {number}", 0, 0)
        task = WriteTask(replace(SAMPLE, settings=TableSettings(part_rows=part_rows)), PartFormat.STRUCTURED, of)
        records.append(write_parts(store, updates, task))
    parts = pa.concat_tables(records)
    return store, parts.append_column(WRITER_COLUMN, pa.array(["main"] * len(parts)))


def needed(store: MemoryStore, plan: ScanPlan, where: str) -> int:
    """Return how many parts hold a row of the answer: the fewest that any reader has to open."""
    expr = parse_filter(where, SAMPLE)
    contents = (read_part(store, key, SAMPLE) for key in plan.parts["key"].to_pylist())
    return sum(bool(pc.any(evaluate(expr, rows, SAMPLE)).as_py()) for rows in contents)


@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize(
    ("hours_per_commit", "part_rows"), [(24, 128), (1, 120)], ids=["one sorted run", "a commit per hour"]
)
def test_on_sorted_data_hardly_more_parts_are_read_than_hold_a_match(
    where: str, hours_per_commit: int, part_rows: int
) -> None:
    store, parts = sample(hours_per_commit, part_rows)
    plan = plan_scan(SAMPLE, parts, Flags(pushdown=Pushdown.ON), VECTOR, where=where)
    optimum = needed(store, plan, where)
    assert 0 < optimum < plan.parts.num_rows
    assert plan.kept.num_rows <= 1.1 * optimum


def test_coarse_parts_that_span_stations_are_read_in_vain_for_columns_are_judged_apart() -> None:
    # The bound above holds where a station fills many parts, or ends with one. Here it fills six.
    store, parts = sample(24, 500)
    where = FILTERS["a state from a time on"]
    plan = plan_scan(SAMPLE, parts, Flags(pushdown=Pushdown.ON), VECTOR, where=where)
    assert (plan.kept.num_rows, needed(store, plan, where)) == (18, 16)
