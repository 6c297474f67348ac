import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from instar.catalog.actions import CreateTable, Run, SetFlags
from instar.catalog.commit import Change, CommitConflict, Committed, commit
from instar.catalog.origins import OriginConflict
from instar.catalog.orphans import Reason, plan_orphans
from instar.catalog.snapshot import TableState
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.flags import Flags, WriteFormat
from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.model.settings import Counted, TableSettings
from instar.parts.footer import Provenance
from instar.parts.names import escape_name
from instar.parts.reader import read_footer
from instar.plan.observation import log_observation
from instar.plan.read import answer
from instar.plan.scan import plan_scan
from instar.plan.write import FlagsKeepChanging, InvalidRows, WriteTask, as_updates, commit_run, fit_rows, write_parts
from instar.storage.protocol import Store
from tests.catalog.samples import Ticks, numbered_uuids

COLUMNS = {"k": "int64", "f": "float64", "b": "bool", "s": "string", "at": "timestamp"}
SCHEMA = TableSchema.create("db.t", COLUMNS, ids=itertools.count(1).__next__, key=["k"], merge_mode="upsert")
WRITER = "w"


class Process:
    """A process that writes to one timeline, with a memory, a clock and uuids of its own."""

    def __init__(self, store: Store, seed: int = 0) -> None:
        self.store = store
        self.timeline = Timeline(store, WRITER, "db")
        self.clock = Ticks()
        self.uuids = numbered_uuids(seed)

    def create(self) -> None:
        commit(self.timeline, Change(self.uuids(), (CreateTable(SCHEMA),)), clock=self.clock)

    def set_format(self, format: WriteFormat) -> None:
        version = self.timeline.load().table("t").flags_version + 1
        action = SetFlags("t", Flags(write_format=format), version)
        commit(self.timeline, Change(self.uuids(), (action,)), clock=self.clock)

    def run(
        self,
        rows: Sequence[dict[str, Any]],
        *,
        t: int = 0,
        origin: str = "o",
        generation: int = 0,
        before_commit: Callable[[], object] = lambda: None,
    ) -> Committed:
        """Write rows as a run; `before_commit` is called each time that its parts are stored and not yet committed."""

        def write(state: TableState, transaction: UUID) -> pa.Table:
            of = Provenance(WRITER, SCHEMA.name, "", transaction, origin, generation, 0)
            updates = as_updates(
                fit_rows(pa.Table.from_pylist(list(rows), pa.schema([("k", pa.int64()), ("f", pa.float64())])), SCHEMA),
                t,
            )
            records = write_parts(self.store, updates, WriteTask(SCHEMA, PartFormat(state.flags.write_format), of))
            before_commit()
            return records

        return commit_run(self.timeline, "t", Run(origin, generation), write, clock=self.clock, uuids=self.uuids)

    def rows(self) -> list[tuple[int, float]]:
        """Return k and f of the table's rows, as somebody sees them who comes anew."""
        view = Catalog(self.store).view()
        table = view.table(SCHEMA.name)
        plan = plan_scan(table.schema, table.parts, table.flags, view.vector, columns=["k", "f"])
        found = answer(self.store, plan, log_observation).to_pylist()
        return [(row["k"], row["f"]) for row in found]

    def parts(self) -> pa.Table:
        return Timeline(self.store, WRITER, "db").load().table("t").parts


@pytest.fixture
def process(store: Store) -> Process:
    process = Process(store)
    process.create()
    return process


def test_a_run_is_committed_once(process: Process) -> None:
    first = process.run([{"k": 1, "f": 1.0}])
    again = Process(process.store, seed=1).run([{"k": 1, "f": 2.0}])
    assert (first.already, again.already) == (False, True)
    assert again.revision == first.revision
    assert process.rows() == [(1, 1.0)]


def test_a_run_that_is_in_the_log_is_not_written_again(process: Process) -> None:
    process.run([{"k": 1}])
    before = {info.key for info in process.store.list("")}
    process.run([{"k": 1}])
    assert {info.key for info in process.store.list("")} == before


def test_a_run_that_another_process_commits_meanwhile_is_committed_once(process: Process) -> None:
    other = Process(process.store, seed=1)
    done = process.run([{"k": 1, "f": 1.0}], before_commit=lambda: other.run([{"k": 1, "f": 2.0}]))
    assert done.already
    assert process.rows() == [(1, 2.0)]


def test_a_higher_generation_replaces_a_lower_one(process: Process) -> None:
    process.run([{"k": 1, "f": 1.0}, {"k": 2, "f": 1.0}], generation=1)
    process.run([{"k": 2, "f": 5.0}], generation=2)
    assert process.rows() == [(2, 5.0)]


def test_a_higher_generation_without_rows_takes_away_what_was_there(process: Process) -> None:
    process.run([{"k": 1, "f": 1.0}])
    done = process.run([], generation=1)
    assert not done.already
    assert process.rows() == []


def test_an_older_generation_is_refused_before_anything_is_written(process: Process) -> None:
    process.run([{"k": 1, "f": 2.0}], generation=2)
    before = {info.key for info in process.store.list("")}
    with pytest.raises(OriginConflict, match="generation 2; 1 is older"):
        process.run([{"k": 1, "f": 1.0}], generation=1)
    assert {info.key for info in process.store.list("")} == before


@pytest.mark.parametrize("order", [("january", "february"), ("february", "january")])
def test_older_values_never_overwrite_newer_ones_whichever_come_last(process: Process, order: list[str]) -> None:
    times = {"january": 1, "february": 2}
    for origin in order:
        process.run([{"k": 1, "f": float(times[origin])}], t=times[origin], origin=origin)
    process.run([{"k": 1, "f": 1.5}], t=1, origin="january", generation=1)
    assert process.rows() == [(1, 2.0)]


def test_flags_that_change_during_a_write_have_it_written_anew_in_the_new_format(process: Process) -> None:
    other = Process(process.store, seed=1)
    changes = [WriteFormat.DUAL]

    def change() -> None:
        if changes:
            other.set_format(changes.pop())

    done = process.run([{"k": 1, "f": 1.0}], before_commit=change)
    assert process.rows() == [(1, 1.0)]
    assert process.parts()["format"].to_pylist() == ["dual"]
    (key,) = process.parts()["key"].to_pylist()
    assert read_footer(process.store, key).format is PartFormat.DUAL
    assert done.snapshot.uuid == UUID(process.parts()["transaction"][0].as_py())
    plan = plan_orphans(process.timeline, now=2**62, grace=0)
    assert [orphan.reason for orphan in plan.orphans] == [Reason.NEVER_COMMITTED]
    assert read_footer(process.store, plan.orphans[0].key).format is PartFormat.CODEC


def test_a_write_gives_up_where_the_flags_never_rest(process: Process) -> None:
    other = Process(process.store, seed=1)
    formats = itertools.cycle(WriteFormat)
    with pytest.raises(FlagsKeepChanging, match="changed 5 times"):
        process.run([{"k": 1}], before_commit=lambda: other.set_format(next(formats)))
    assert process.rows() == []


def test_a_conflict_that_is_not_about_flags_is_raised(process: Process) -> None:
    transaction = UUID(int=5, version=4)
    updates = as_updates(fit_rows(pa.table({"k": [1]}), SCHEMA), 0)
    of = Provenance(WRITER, SCHEMA.name, "", transaction, "", 0, 0)
    records = write_parts(process.store, updates, WriteTask(SCHEMA, PartFormat.CODEC, of))

    def run(origin: str) -> None:
        commit_run(
            process.timeline,
            "t",
            Run(origin, 0),
            lambda *_: records,
            clock=process.clock,
            uuids=lambda: transaction,
        )

    run("o")
    with pytest.raises(CommitConflict, match=r"A part is in db\.t already"):
        run("p")


def test_two_committers_of_one_revision_both_get_in(process: Process) -> None:
    others = [Process(process.store, seed) for seed in (1, 2)]
    ready = threading.Barrier(len(others), timeout=60)

    def run(number: int) -> Committed:
        return others[number].run([{"k": number, "f": float(number)}], origin=f"o{number}", before_commit=ready.wait)

    with ThreadPoolExecutor() as threads:
        revisions = [done.revision for done in threads.map(run, range(len(others)))]
    assert sorted(revisions) == [2, 3]
    assert process.rows() == [(0, 0.0), (1, 1.0)]


def test_many_committers_lose_nothing(process: Process) -> None:
    def run(number: int) -> None:
        mine = Process(process.store, seed=number + 1)
        for step in range(3):
            mine.run([{"k": 10 * number + step, "f": 0.0}], origin=f"o{number}.{step}")

    with ThreadPoolExecutor() as threads:
        list(threads.map(run, range(4)))
    assert [k for k, _ in process.rows()] == sorted(10 * number + step for number in range(4) for step in range(3))


def task(**changes: Any) -> WriteTask:
    of = Provenance(WRITER, SCHEMA.name, "", UUID(int=5, version=4), "o", 0, 0)
    return WriteTask(SCHEMA, PartFormat.DUAL, of, **changes)


def test_updates_are_sorted_and_cut_into_parts_of_a_size(store: Store) -> None:
    updates = as_updates(fit_rows(pa.table({"k": [5, 3, 1, 4, 2]}), SCHEMA), 7)
    small = replace(SCHEMA, settings=TableSettings(part_rows=2))
    records = write_parts(store, updates, replace(task(first_ordinal=10), schema=small))
    assert records["rows"].to_pylist() == [2, 2, 1]
    assert records["1.lower"].to_pylist() == [1, 3, 5]
    assert records["first_t"].to_pylist() == [7, 7, 7]
    assert [key[-13:] for key in records["key"].to_pylist()] == ["00010.parquet", "00011.parquet", "00012.parquet"]
    assert [info.key for info in store.list("")] == records["key"].to_pylist()


def test_attempts_at_one_piece_of_work_leave_parts_of_their_own(store: Store) -> None:
    updates = as_updates(fit_rows(pa.table({"k": [1]}), SCHEMA), 0)
    keys = {write_parts(store, updates, task().for_attempt(number))["key"][0].as_py() for number in (0, 1)}
    assert len(keys) == 2


def test_no_updates_make_no_parts(store: Store) -> None:
    assert write_parts(store, SCHEMA.update_schema().empty_table(), task()).num_rows == 0
    assert list(store.list("")) == []


def test_rows_are_updates_that_add_at_one_time() -> None:
    updates = as_updates(pa.table({"k": [1, 2]}), -3)
    assert updates.to_pylist() == [{"k": 1, T_COLUMN: -3, D_COLUMN: 1}, {"k": 2, T_COLUMN: -3, D_COLUMN: 1}]


def test_rows_are_put_in_order_and_what_lacks_is_null() -> None:
    fitted = fit_rows(pa.table({"f": [0.5], "k": [1]}), SCHEMA)
    assert fitted.schema.names == list(COLUMNS)
    assert fitted.to_pylist() == [{"k": 1, "f": 0.5, "b": None, "s": None, "at": None}]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("k", pa.array([1], pa.int8())),
        ("k", pa.array([1.0])),
        ("f", pa.array([2**53])),
        ("f", pa.array([1.5, None], pa.float32())),
        ("f", pa.nulls(1)),
        ("s", pa.array(["a", None, "a"]).dictionary_encode()),
        ("s", pa.array(["a"], pa.large_string())),
        ("s", pa.array(["a"], pa.string_view())),
        ("at", pa.array([1_000], pa.timestamp("ns"))),
        ("at", pa.array([1], pa.timestamp("us", "Europe/Berlin"))),
        ("at", pa.array([1], pa.date32())),
        ("b", pa.array([True, None])),
    ],
    ids=str,
)
def test_values_are_cast_where_none_changes(column: str, values: pa.Array) -> None:
    rows = pa.table({"k": pa.array(range(len(values)), pa.int64())} | {column: values})
    fitted = fit_rows(rows, SCHEMA)
    assert fitted.schema.types == SCHEMA.arrow_schema().types
    assert fitted[column].null_count == values.null_count
    if pa.types.is_floating(values.type):
        assert fitted[column].to_pylist() == values.to_pylist()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pa.table({"k": [1], "x": [1]}), "The rows hold 'x', which db.t does not have. It has: k, f, b, s, at."),
        (pa.table({"f": [1.0]}), "The rows lack 'k', which db.t requires."),
        (pa.table([[1], [2]], names=["k", "k"]), "The rows hold 'k' twice."),
        (pa.table({"k": [1, None, 3]}), "Column 'k' of db.t is required, but null in row 1."),
        (pa.table({"k": pa.nulls(2)}), "Column 'k' of db.t is required, but null in row 0."),
        (pa.table({"k": [1.5]}), "Column 'k' of db.t is int64; double does not fit"),
        (pa.table({"k": ["one"]}), "Column 'k' of db.t is int64; string does not fit"),
        (pa.table({"k": [1], "f": [2**53 + 1]}), "Column 'f' of db.t is float64; int64 does not fit"),
        (pa.table({"k": [1], "f": [Decimal("0.1000000000000000000001")]}), "Column 'f' of db.t is float64; decimal"),
        (pa.table({"k": [1], "b": [5]}), "Column 'b' of db.t is bool; int64 does not fit: values would change."),
        (pa.table({"k": ["007"]}), "Column 'k' of db.t is int64; string does not fit: values would change."),
        (pa.table({"k": [1], "s": [b"\xff"]}), "Column 's' of db.t is string; binary does not fit"),
        (pa.table({"k": [1], "s": [[1]]}), "Column 's' of db.t is string; list<item: int64> does not fit"),
        (
            pa.table({"k": [1], "at": pa.array([1], pa.timestamp("ns"))}),
            "Column 'at' of db.t is timestamp; timestamp[ns]",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "rows",
)
def test_rows_that_do_not_fit_are_refused_with_the_reason(rows: pa.Table, message: str) -> None:
    with pytest.raises(InvalidRows) as raised:
        fit_rows(rows, SCHEMA)
    assert message in str(raised.value)
    assert raised.value.help


def wide_rows(count: int) -> pa.Table:
    random = np.random.default_rng(3)
    return pa.table({"k": list(range(count)), "note": [random.bytes(20).hex() for _ in range(count)]})


WIDE = TableSchema.create("d.wide", {"k": "int64", "note": "string"}, ids=itertools.count(1).__next__)


def sizes(store: Store, counted: Counted) -> list[dict[str, int]]:
    schema = replace(WIDE, settings=TableSettings(part_bytes=400_000, counted=counted))
    of = Provenance(WRITER, schema.name, "", UUID(int=5, version=4), "o", 0, 0)
    records = write_parts(store, as_updates(wide_rows(40_000), 0), WriteTask(schema, PartFormat.DUAL, of))
    assert pc.sum(records["rows"]).as_py() == 40_000
    parts: list[dict[str, int]] = records.select(["bytes", "codec_bytes", "rows"]).to_pylist()
    return parts[:-1]  # the last one has the rest


def test_parts_have_about_the_size_that_the_table_asks_for(store: Store) -> None:
    parts = sizes(store, Counted.ALL)
    assert len(parts) > 3
    assert all(0.8 < part["bytes"] / 400_000 < 1.2 for part in parts)


def test_the_structured_columns_of_dual_parts_may_come_on_top(store: Store) -> None:
    parts = sizes(store, Counted.CODEC)
    assert len(parts) > 3
    assert all(0.8 < part["codec_bytes"] / 400_000 < 1.2 for part in parts)
    assert all(part["bytes"] > 1.4 * 400_000 for part in parts)


def test_a_part_is_of_one_partition_and_its_folder_says_which(store: Store) -> None:
    schema = TableSchema.create(
        "d.t", {"state": "string", "k": "int64"}, ids=itertools.count(1).__next__, partition_by={"state": "value"}
    )
    of = Provenance(WRITER, schema.name, "", UUID(int=5, version=4), "o", 0, 0)
    rows = pa.table({"state": ["CA", "WA", "CA"], "k": [1, 2, 3]})
    records = write_parts(store, as_updates(rows, 0), WriteTask(schema, PartFormat.DUAL, of))
    assert records["partition"].to_pylist() == ["state=CA", "state=WA"]
    assert records["rows"].to_pylist() == [2, 1]
    for record in records.to_pylist():
        assert record["key"].split("/")[3] == escape_name(record["partition"])
        assert read_footer(store, record["key"]).provenance.partition == record["partition"]
