import itertools
import math
import uuid
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import instar
from instar.catalog.actions import AddParts, AddTombstones, AlterTable, CreateTable, SetFlags
from instar.catalog.commit import Change, commit
from instar.catalog.timeline import UnknownRevision
from instar.catalog.tombstones import PredicateTombstone
from instar.catalog.union import UnknownTableName
from instar.catalog.vector import InvalidVector
from instar.demo.faulty_encoder import dual_part_with_wrong_value
from instar.flags import Flags, Pushdown, WriteFormat
from instar.lake import AmbiguousRevision, DuplicateTable, Lake, MissingTime, Scan, Table, UnappliedDeletes
from instar.model import evolve
from instar.model.part import PartFormat
from instar.model.schema import TableName, TableSchema
from instar.parts.footer import Provenance
from instar.parts.reader import read_footer, read_part
from instar.plan.observation import EncodingsDiffer, Observation
from instar.plan.queries import Query, recorded_queries
from instar.plan.write import InvalidRows, WriteTask, as_updates, write_parts
from instar.storage.config import StoreConfig
from instar.storage.faulty import Fault, FaultKind, FaultyStore
from tests.services.s3 import S3Server

COLUMNS = {"k": "int64", "f": "float64", "note": "string"}
UPSERT = TableSchema.create("db.t", COLUMNS, ids=itertools.count(1).__next__, key=["k"], merge_mode="upsert")
APPEND = TableSchema.create("db.log", COLUMNS, ids=itertools.count(11).__next__)

OpenLake = Callable[..., Lake]


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def open_lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenLake:
    """Return a way to open one lake, each time as another process would."""
    if request.param == "local":
        config = StoreConfig(tmp_path.as_uri())
    else:
        server: S3Server = request.getfixturevalue("s3_server")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        config = server.config(uuid.uuid4().hex)
    return lambda **options: Lake(config, **options)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(StoreConfig(tmp_path.as_uri()))


def rows(*pairs: tuple[int, float | None]) -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in pairs]), "f": pa.array([f for _, f in pairs], pa.float64())})


def pairs(scan: Scan) -> list[tuple[int, float | None]]:
    return [(row["k"], row["f"]) for row in scan.to_arrow().to_pylist()]


def set_flags(table: Table, **flags: Any) -> None:
    """Set the flags of a table in all timelines that hold it."""
    for writer, state in table.state().timelines.items():
        action = SetFlags(table.name.table, Flags.parse(flags, state.flags), state.flags_version + 1)
        timeline = table.lake.catalog.timeline(writer, table.name.database)
        commit(timeline, Change(table.lake.uuids(), (action,)), clock=table.lake.clock)


def test_rows_that_are_appended_are_read(open_lake: OpenLake) -> None:
    table = open_lake().create_table(APPEND)
    table.append(rows((1, 0.5), (2, None)))
    table.append(rows((1, 0.5)))
    found = open_lake().table("db.log").scan().to_arrow()
    assert found.schema.equals(APPEND.arrow_schema())
    assert found.to_pylist() == [
        {"k": 1, "f": 0.5, "note": None},
        {"k": 2, "f": None, "note": None},
        {"k": 1, "f": 0.5, "note": None},
    ]


def test_a_lake_is_opened_by_its_uri(tmp_path: Path) -> None:
    instar.open(tmp_path.as_uri()).create_table(UPSERT)
    assert instar.open(tmp_path.as_uri(), writer="other").tables() == [TableName("db", "t")]


def test_an_upsert_table_shows_the_newest_version_by_logical_time(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    table.append(rows((1, 5.0), (2, 5.0)), t=2)
    table.append(rows((1, 4.0), (3, 4.0)), t=1)
    assert pairs(table.scan()) == [(1, 5.0), (2, 5.0), (3, 4.0)]


def test_of_one_append_the_later_row_of_a_key_wins_field_by_field(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    table.append(pa.table({"k": [1, 1, 1], "f": [1.0, 2.0, None], "note": ["a", None, None]}), t=0)
    assert table.scan().to_arrow().to_pylist() == [{"k": 1, "f": 2.0, "note": "a"}]
    assert table.state().parts["rows"].to_pylist() == [1]


@pytest.mark.parametrize("name", [".a", "[0]", "a.b", 'say "so"'])
def test_a_key_may_have_any_name(lake: Lake, name: str) -> None:
    schema = TableSchema.create(
        "db.odd", {name: "float64", ".f": "int64"}, ids=itertools.count(1).__next__, key=[name], merge_mode="upsert"
    )
    table = lake.create_table(schema)
    table.append(pa.table({name: [0.0, -0.0, 0.0, math.nan, math.nan], ".f": [1, 2, 3, 4, 5]}), t=0)
    assert table.scan(columns=[".f"]).to_arrow()[".f"].to_pylist() == [3, 5]


def test_an_append_without_rows_is_a_revision_without_parts(lake: Lake) -> None:
    for schema, t in ((UPSERT, 0), (APPEND, None)):
        table = lake.create_table(schema)
        done = table.append(schema.arrow_schema().empty_table(), t=t, origin="o")
        assert not done.already
        assert table.scan().to_arrow().num_rows == table.state().parts.num_rows == 0
        assert table.append(rows((1, 1.0)), t=t, origin="o").already


def test_the_same_origin_and_generation_commit_once_and_a_higher_one_replaces(open_lake: OpenLake) -> None:
    open_lake().create_table(UPSERT)
    for generation, value, already in ((0, 1.0, False), (0, 2.0, True), (1, 3.0, False)):
        table = open_lake().table("db.t")
        assert table.append(rows((1, value)), t=0, origin="o", generation=generation).already == already
    assert pairs(open_lake().table("db.t").scan()) == [(1, 3.0)]


def test_appends_without_an_origin_are_each_their_own(lake: Lake) -> None:
    table = lake.create_table(APPEND)
    for _ in range(2):
        table.append(rows((1, 1.0)))
    assert table.scan().to_arrow().num_rows == 2


def test_an_upsert_without_a_logical_time_is_refused(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    with pytest.raises(MissingTime, match=r"db\.t .* no logical time"):
        table.append(rows((1, 1.0)))


def test_rows_that_do_not_fit_leave_no_trace(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    before = [info.key for info in lake.store.list("")]
    for bad in (pa.table({"k": [None], "f": [1.0]}), pa.table({"k": ["x"]}), pa.table({"x": [1]})):
        with pytest.raises(InvalidRows):
            table.append(bad, t=0)
    assert [info.key for info in lake.store.list("")] == before


def test_a_data_frame_is_appended_like_a_table(lake: Lake) -> None:
    table = lake.create_table(APPEND)
    frame = pd.DataFrame({"k": [1, 2], "f": [0.5, None], "note": ["a", None]}, index=pd.Index([7, 8]))
    table.append(frame)
    assert table.scan().to_arrow().to_pylist() == [
        {"k": 1, "f": 0.5, "note": "a"},
        {"k": 2, "f": None, "note": None},
    ]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"k": [1, "a"]}),
        pd.DataFrame([[1, 2]], columns=["k", "k"]),
        pd.DataFrame({"k": [1], "f": [object()]}),
    ],
    ids=["mixed", "twice", "objects"],
)
def test_a_data_frame_that_arrow_can_not_hold_is_refused(lake: Lake, frame: pd.DataFrame) -> None:
    table = lake.create_table(APPEND)
    with pytest.raises(InvalidRows):
        table.append(frame)


def test_pandas_shows_what_arrow_shows(lake: Lake) -> None:
    types = {
        "k": "int64",
        "f": "float64",
        "s": "string",
        "b": "bool",
        "y": "bytes",
        "at": "timestamp",
        "ns": "timestamp_ns",
    }
    table = lake.create_table(TableSchema.create("db.all", types, ids=itertools.count(1).__next__))
    moment = datetime(2026, 1, 1, 12)  # noqa: DTZ001  # the column has no zone
    values = {"k": [1, 2], "f": [0.5, 1.5], "s": ["é", ""], "b": [True, False], "y": [b"\xff", b""]}
    table.append(pa.table(values | {"at": [moment] * 2, "ns": pa.array([1, 2], pa.timestamp("ns"))}))
    scan = table.scan("k > 0", columns=["ns", "k", "f", "s", "b", "y", "at"])
    frame = scan.to_pandas()
    assert pa.Table.from_pandas(frame, scan.to_arrow().schema, preserve_index=False).equals(scan.to_arrow())
    assert list(frame.columns) == ["ns", "k", "f", "s", "b", "y", "at"]
    assert frame["at"].tolist() == [moment] * 2


def test_a_table_that_exists_is_not_created_again_by_any_writer(open_lake: OpenLake) -> None:
    open_lake().create_table(UPSERT)
    other_columns = TableSchema.create("db.t", {"x": "int64"}, ids=itertools.count(1).__next__)
    for writer in ("main", "other"):
        for schema in (UPSERT, other_columns):
            with pytest.raises(DuplicateTable, match=r"db\.t exists"):
                open_lake(writer=writer).create_table(schema)
    assert open_lake().table("db.t").schema == UPSERT


def test_a_table_that_is_not_there_is_named_with_those_that_are(lake: Lake) -> None:
    lake.create_table(UPSERT)
    with pytest.raises(UnknownTableName, match=r"db\.nothing.*db\.t"):
        lake.table("db.nothing")


def test_a_second_writer_joins_with_columns_and_flags_and_readers_see_the_union(open_lake: OpenLake) -> None:
    first = open_lake(writer="a").create_table(UPSERT)
    set_flags(first, write_format="dual", pushdown="on")
    first.append(rows((1, 1.0), (2, 1.0)), t=1)
    second = open_lake(writer="b").table("db.t")
    second.append(rows((2, 2.0), (3, 2.0)), t=1)
    state = open_lake(writer="c").table("db.t").state()
    assert list(state.timelines) == ["a", "b"]
    assert state.timelines["b"].schema == UPSERT
    assert state.timelines["b"].flags == Flags(WriteFormat.DUAL, pushdown=Pushdown.ON)
    assert state.timelines["b"].flags_version == state.timelines["a"].flags_version
    assert state.parts["format"].to_pylist() == ["dual", "dual"]
    for reader in ("a", "b", "c"):  # at one logical time the greater writer is newer
        assert pairs(open_lake(writer=reader).table("db.t").scan()) == [(1, 1.0), (2, 2.0), (3, 2.0)]


def test_two_processes_of_a_writer_join_a_table_once(open_lake: OpenLake) -> None:
    open_lake(writer="a").create_table(UPSERT)
    one, two = (open_lake(writer="b").table("db.t") for _ in range(2))
    for table in (one, two):  # both know that the writer does not hold it yet
        table.lake.catalog.timeline("b", "db").load()
    one.append(rows((1, 1.0)), t=1)
    two.append(rows((2, 2.0)), t=1)
    assert pairs(open_lake().table("db.t").scan()) == [(1, 1.0), (2, 2.0)]


def test_a_reader_goes_back_by_number_vector_and_text(open_lake: OpenLake) -> None:
    table = open_lake().create_table(UPSERT)
    table.append(rows((1, 1.0)), t=1)
    then = table.view().vector
    table.append(rows((1, 2.0)), t=2)
    assert pairs(table.scan()) == [(1, 2.0)]
    for as_of in (2, then, str(then), "main/db@2"):
        assert pairs(table.scan(as_of=as_of)) == [(1, 1.0)]
        assert table.scan(as_of=as_of).plan().vector == then
    assert pairs(table.scan(as_of=1)) == []


def test_a_revision_that_says_nothing_is_refused(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    with pytest.raises(UnknownRevision, match="no revision 9"):
        table.scan(as_of=9)
    with pytest.raises(InvalidVector):
        table.scan(as_of="yesterday")
    with pytest.raises(UnknownTableName):
        table.scan(as_of=0)


def test_a_number_is_no_revision_where_there_are_several_timelines(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    table.append(rows((1, 1.0)), t=1)
    then = str(table.view().vector)
    Table(Lake(lake.config, writer="b"), table.name).append(rows((1, 2.0)), t=2)
    with pytest.raises(AmbiguousRevision, match="2 timelines"):
        table.scan(as_of=2)
    assert pairs(table.scan(as_of=then)) == [(1, 1.0)]  # the other timeline had not begun
    assert pairs(table.scan(as_of=f"{then},b/db@2")) == [(1, 2.0)]


def test_a_scan_sees_the_revision_that_it_was_opened_at(open_lake: OpenLake) -> None:
    table = open_lake().create_table(UPSERT)
    table.append(rows((1, 1.0)), t=1, origin="o")
    scan = table.scan()
    open_lake().table("db.t").append(rows((1, 2.0)), t=2)
    open_lake().table("db.t").append(rows((7, 7.0)), t=1, origin="o", generation=1)
    assert pairs(scan) == [(1, 1.0)]
    assert pairs(table.scan()) == [(1, 2.0), (7, 7.0)]


def test_a_scan_obeys_the_flags_of_the_catalog(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    table.append(rows((1, 1.0)), t=1)
    table.append(rows((5, 5.0)), t=1)
    scans = {}
    for pushdown in Pushdown:
        set_flags(table, pushdown=pushdown)
        scans[pushdown] = table.scan("k = 5")
    assert {mode: scan.plan().kept.num_rows for mode, scan in scans.items()} == {"off": 2, "soft": 2, "on": 1}
    assert all(pairs(scan) == [(5, 5.0)] for scan in scans.values())


def test_new_parts_have_the_format_of_the_flags(lake: Lake) -> None:
    table = lake.create_table(UPSERT)
    for number, write_format in enumerate(WriteFormat):
        set_flags(table, write_format=write_format)
        table.append(rows((number, 1.0)), t=1)
    assert table.state().parts["format"].to_pylist() == ["codec", "dual", "structured"]
    assert [k for k, _ in pairs(table.scan())] == [0, 1, 2]


def test_each_question_that_a_scan_asks_is_recorded_once(open_lake: OpenLake) -> None:
    lake = open_lake()
    table = lake.create_table(UPSERT)
    assert list(recorded_queries(lake.store, table.name)) == []
    for _ in range(2):
        table.scan("k > 1", columns=["F"]).to_arrow()
        table.scan().to_pandas()
    table.scan("k = 9")  # was not asked in the end
    assert set(recorded_queries(open_lake().store, table.name)) == {
        Query("k > 1", ("f",)),
        Query(None, ("k", "f", "note")),
    }
    assert open_lake().tables() == [table.name]


@pytest.mark.parametrize(("read_format", "recorded"), [("codec", 1), ("shadow", 1), ("structured", 0)])
def test_questions_are_recorded_until_the_switchover(lake: Lake, read_format: str, recorded: int) -> None:
    table = lake.create_table(UPSERT)
    set_flags(table, read_format=read_format)
    table.scan().to_arrow()
    assert len(list(recorded_queries(lake.store, table.name))) == recorded


@pytest.mark.parametrize("kind", [FaultKind.FAIL_BEFORE, FaultKind.FAIL_AFTER, FaultKind.THROTTLE])
def test_a_store_that_refuses_the_record_does_not_stop_the_reader(
    lake: Lake, kind: FaultKind, caplog: pytest.LogCaptureFixture
) -> None:
    table = lake.create_table(UPSERT)
    table.append(rows((1, 1.0)), t=1)
    lake.store = FaultyStore(lake.store, [Fault("put_if_absent", 1, kind)])
    assert pairs(table.scan()) == [(1, 1.0)]
    assert [message.partition(":")[0] for message in caplog.messages] == ["A query of db.t was not recorded"]


def test_what_a_cautious_read_finds_goes_to_the_listener_and_else_to_the_log(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    table = lake.create_table(UPSERT)
    set_flags(table, write_format="dual", read_format="shadow")
    table.append(rows((1, 1.0)), t=1)
    scan = table.scan()
    _plant_wrong_value(scan)
    heard: list[Observation] = []
    assert scan.to_arrow(heard.append)["f"].to_pylist() == [1.0]
    assert isinstance(heard[0], EncodingsDiffer)
    assert caplog.messages == []
    scan.to_pandas()
    assert caplog.messages == [str(heard[0])]


def _plant_wrong_value(scan: Scan) -> None:
    """Replace the only part of a scan by one whose structs say f = 8."""
    store, schema = scan.lake.store, scan.plan().schema
    (key,) = scan.plan().parts["key"].to_pylist()
    truth = read_part(store, key, schema)
    provenance = read_footer(store, key).provenance
    store.put(key, dual_part_with_wrong_value(truth, schema, provenance, row=0, column="f", value=8.0).data)


def test_two_writers_that_evolve_a_table_on_their_own_are_read_as_one(tmp_path: Path) -> None:
    here, there = (Lake(StoreConfig(tmp_path.as_uri()), writer=writer) for writer in ("here", "there"))
    ids = itertools.count(100)
    base = TableSchema.create("weather.h2o", {"state": "string", "degrees": "float64"}, ids=lambda: next(ids))
    here.create_table(base)
    here.table("weather.h2o").alter(lambda schema: evolve.add_column(schema, "level", "int64", ids=lambda: 500))
    here.table("weather.h2o").append(pa.table({"state": ["CA"], "degrees": [1.0], "level": [1]}))
    other = evolve.add_column(base, "level", "int64", ids=lambda: 600)
    commit(
        there.catalog.timeline("there", "weather"),
        Change(there.uuids(), (CreateTable(other),)),
        clock=there.clock,
    )
    provenance = Provenance("there", base.name, "", transaction := there.uuids(), "", 0, attempt=0)
    rows = pa.table({"state": ["NY"], "degrees": [2.0], "level": [2]})
    records = write_parts(there.store, as_updates(rows, 0), WriteTask(other, PartFormat.DUAL, provenance))
    commit(
        there.catalog.timeline("there", "weather"),
        Change(transaction, (AddParts("h2o", records),)),
        clock=there.clock,
    )
    there.table("weather.h2o").append(pa.table({"state": ["WA"], "degrees": [3.0], "level": [3]}))
    reader = Lake(StoreConfig(tmp_path.as_uri()))
    found = reader.table("weather.h2o").scan("level >= 2").to_arrow().sort_by("state").to_pylist()
    assert [(row["state"], row["level"]) for row in found] == [("NY", 2), ("WA", 3)]
    commit(
        there.catalog.timeline("there", "weather"),
        Change(there.uuids(), (AlterTable(evolve.drop_column(other, "degrees")),)),
        clock=there.clock,
    )
    found = reader.table("weather.h2o").scan().to_arrow().sort_by("state").to_pylist()
    assert found == [{"state": state, "level": level} for state, level in (("CA", 1), ("NY", 2), ("WA", 3))]


def test_a_table_with_deletes_that_a_scan_would_miss_is_not_scanned(tmp_path: Path) -> None:
    lake = Lake(StoreConfig(tmp_path.as_uri()))
    ids = itertools.count(100)
    table = lake.create_table(TableSchema.create("weather.h2o", {"state": "string"}, ids=lambda: next(ids)))
    table.append(pa.table({"state": ["CA"]}))
    vector = table.view().vector
    tombstone = PredicateTombstone(lake.uuids(), "state = 'CA'", vector)
    timeline = lake.catalog.timeline("main", "weather")
    commit(timeline, Change(lake.uuids(), (AddTombstones("h2o", (tombstone,)),)), clock=lake.clock)
    with pytest.raises(UnappliedDeletes, match="has 1 tombstones"):
        table.scan()
    assert table.scan(as_of=vector).to_arrow().num_rows == 1
