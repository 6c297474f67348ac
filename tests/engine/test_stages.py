import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from instar.catalog.actions import AddParts
from instar.catalog.commit import Change, commit
from instar.demo.faulty_encoder import append_with_wrong_value
from instar.demo.live import LOCATION, LiveIngest
from instar.engine.catalog_checkpoint import catalog_checkpoint
from instar.engine.compaction import compaction
from instar.engine.dual_write import dual_write
from instar.engine.orphan_gc import OrphanArguments, orphan_gc
from instar.engine.read_switchover import read_switchover
from instar.engine.shadow_validation import shadow_validation
from instar.engine.stage import StageArguments, StageReport
from instar.model.part import PartFormat, statistics_name
from instar.model.settings import TableSettings
from instar.parts.footer import Provenance
from instar.plan.scan import plan_scan
from instar.plan.write import WriteTask, as_updates, write_parts
from instar.quality.gate import Verdict, judge, rows_frame
from instar.rollout.evidence import dual_write_evidence
from instar.rollout.stages import TRANSITIONS, Stage
from instar.sources.line_protocol import parse
from instar.storage.config import StoreConfig
from tests.engine.sample import LiveTable, hour_lines, live_table

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

FILTER = "time >= timestamp '2026-01-01 02:00:00' and state = 'CA'"
PARAMETERS = {"most_growth": 20.0, "most_slowdown": 1000.0}  # of tiny parts, on a busy machine
WORK: dict[Stage, Callable[[SparkSession, StageArguments], StageReport]] = {
    Stage.DUAL_WRITE: dual_write,
    Stage.SHADOW_VALIDATION: shadow_validation,
    Stage.READ_SWITCHOVER: read_switchover,
    Stage.COMPACTION: compaction,
    Stage.CATALOG_CHECKPOINT: catalog_checkpoint,
}


@pytest.fixture
def live(tmp_path: Path) -> LiveTable:
    return live_table(StoreConfig((tmp_path / "lake").as_uri()), hours=4)


@pytest.fixture
def verdict(tmp_path: Path) -> Callable[[str, list[dict[str, Any]]], Verdict]:
    def judged(suite: str, rows: list[dict[str, Any]]) -> Verdict:
        return judge(suite, rows_frame(rows), tmp_path, f"{suite}.html", PARAMETERS)

    return judged


def arguments(live: LiveTable) -> StageArguments:
    return StageArguments(live.store, str(live.table.name))


def run_stage(spark: SparkSession, live: LiveTable, stage: Stage) -> StageReport:
    """Do the work of a stage between the flags that it sets before and after."""
    live.set_flags(TRANSITIONS[stage].enter)
    report = WORK[stage](spark, arguments(live))
    live.set_flags(TRANSITIONS[stage].leave)
    return report


def formats(live: LiveTable) -> set[str]:
    return set(live.table.state().parts["format"].to_pylist())


def test_after_every_stage_a_reader_sees_what_the_oracle_holds_while_ingest_goes_on(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    hours = itertools.count(4)
    live.table.scan(FILTER, ["location", "surface_degrees"]).to_arrow()
    for stage in WORK:
        report = run_stage(spark, live, stage)
        assert verdict(stage.label, report.to_json()["evidence"]).passed, report
        if stage is Stage.SHADOW_VALIDATION:
            assert verdict("pushdown", report.to_json()["pushdown"]).passed, report
        live.write_hour(next(hours))
        assert live.rows() == live.oracle.rows()
    planned = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0))
    assert verdict("orphan_plan", planned.evidence).passed
    live.write_hour(next(hours))
    swept = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0, planned.summary["plan"]))
    assert verdict("orphan_gc", swept.evidence).passed
    assert live.rows() == live.oracle.rows()
    assert formats(live) == {"structured"}


def test_what_lands_during_a_stage_is_reported_with_its_revision(spark: SparkSession, live: LiveTable) -> None:
    live.table.scan(FILTER).to_arrow()
    before = live.table.view().vector.entries[0][1]
    with LiveIngest(live.lake, live.table.name, seconds=0.02):  # a warm stage is over in half a second
        reports = [run_stage(spark, live, stage) for stage in WORK]
    revisions = [landed["revision"] for report in reports for landed in report.landed]
    assert all(revision > before for revision in revisions)
    assert len(reports[0].landed) > 0
    assert live.table.scan(f"location = '{LOCATION}'").to_arrow().num_rows >= len(revisions)


def test_dual_write_gives_every_row_both_encodings_and_changes_none(spark: SparkSession, live: LiveTable) -> None:
    report = run_stage(spark, live, Stage.DUAL_WRITE)
    assert formats(live) == {"dual"}
    row = report.evidence[0]
    assert row["live_rows"] == row["dual_rows"] == live.table.state().parts["rows"].to_numpy().sum()
    assert 1.0 < row["growth"] < PARAMETERS["most_growth"]
    assert live.rows() == live.oracle.rows()


def test_dual_write_leaves_dual_parts_as_they_are(spark: SparkSession, live: LiveTable) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    parts = live.table.state().parts["key"].to_pylist()
    assert run_stage(spark, live, Stage.DUAL_WRITE).summary["parts_rewritten"] == 0
    assert live.table.state().parts["key"].to_pylist() == parts


def test_an_origin_can_be_replaced_after_its_parts_were_rewritten(spark: SparkSession, live: LiveTable) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    live.write_hour(1, seed=2, generation=1)
    assert live.rows() == live.oracle.rows()


def test_a_part_without_both_encodings_fails_the_dual_write_gate(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    live.set_flags({"write_format": "codec"})  # somebody turns dual write off again
    live.write_hour(4)
    assert not verdict("dual_write", [dual_write_evidence("t", live.table.state().parts)]).passed


def test_shadow_validation_names_part_row_column_and_both_values(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    rows = parse(hour_lines(9), live.table.schema).rows
    key = append_with_wrong_value(live.table, rows, t=9, origin="faulty", row=3, column="surface_degrees", value=999.0)
    run_stage(spark, live, Stage.DUAL_WRITE)
    report = shadow_validation(spark, arguments(live))
    found = [row for row in report.evidence if row["differences"]]
    assert [(row["part"], row["row"], row["column"], row["structured_value"]) for row in found] == [
        (key, 3, "surface_degrees", "999.0")
    ]
    judged = verdict("shadow_validation", report.to_json()["evidence"])
    assert not judged.passed
    for named in (key, "surface_degrees", found[0]["codec_value"], "999.0"):
        assert named in str(judged)


def test_shadow_validation_over_codec_parts_compares_nothing_and_fails(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    report = shadow_validation(spark, arguments(live))
    assert report.summary["rows_compared"] == 0
    assert not verdict("shadow_validation", report.to_json()["evidence"]).passed


def test_stages_over_an_empty_table_give_no_evidence_that_passes(
    spark: SparkSession, tmp_path: Path, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    empty = live_table(StoreConfig((tmp_path / "empty").as_uri()), hours=0)
    for stage, work in WORK.items():
        report = work(spark, arguments(empty)).to_json()
        if stage is not Stage.COMPACTION:  # which has nothing to do, and does it
            assert not verdict(stage.label, report["evidence"]).passed, stage


def test_soft_pushdown_reports_a_part_whose_statistics_lie(
    spark: SparkSession,
    live: LiveTable,
    verdict: Callable[[str, list[dict[str, Any]]], Verdict],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    time = live.table.schema.column("time")

    def lying(schema: Any, parts: pa.Table, *rest: Any, **options: Any) -> Any:
        for statistic in ("lower", "upper"):
            place = parts.schema.get_field_index(statistics_name(time.id, statistic))
            long_ago = pa.array([0] * parts.num_rows, pa.timestamp("ns"))
            parts = parts.set_column(place, parts.schema.field(place), long_ago)
        return plan_scan(schema, parts, *rest, **options)

    monkeypatch.setattr("instar.engine.shadow_validation.plan_scan", lying)
    report = shadow_validation(spark, arguments(live)).to_json()
    wrong = [row for row in report["pushdown"] if row["violations"]]
    assert wrong
    assert all(row["part"] and row["row"] for row in wrong)
    assert not verdict("pushdown", report["pushdown"]).passed


def test_a_switchover_without_recorded_queries_fails(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    report = read_switchover(spark, arguments(live))
    assert report.evidence == []
    assert not verdict("read_switchover", report.evidence).passed


def test_a_switchover_compares_what_readers_asked(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    asked = live.table.scan(FILTER, ["location", "surface_degrees"]).to_arrow()
    report = read_switchover(spark, arguments(live))
    assert [row["rows_codec"] for row in report.evidence] == [asked.num_rows]
    assert verdict("read_switchover", report.evidence).passed
    slow = [{**row, "slowdown": PARAMETERS["most_slowdown"] * 2} for row in report.evidence]
    assert not verdict("read_switchover", slow).passed


def test_a_switchover_sees_a_wrong_value_in_an_answer(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    rows = parse(hour_lines(9), live.table.schema).rows
    append_with_wrong_value(live.table, rows, t=9, origin="faulty", row=3, column="surface_degrees", value=999.0)
    live.table.scan("time >= timestamp '2026-01-01 09:00:00'", ["surface_degrees"]).to_arrow()
    report = read_switchover(spark, arguments(live))
    assert [row["differing"] for row in report.evidence] == [1]
    assert not verdict("read_switchover", report.evidence).passed


def test_compaction_refuses_a_part_whose_encodings_disagree(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    rows = parse(hour_lines(9), live.table.schema).rows
    append_with_wrong_value(live.table, rows, t=9, origin="faulty", row=3, column="surface_degrees", value=999.0)
    before = live.table.state().parts
    report = compaction(spark, arguments(live))
    assert live.table.state().parts.equals(before)
    assert not verdict("compaction", report.evidence).passed


def test_compaction_brings_all_rows_into_structured_parts(spark: SparkSession, live: LiveTable) -> None:
    report = run_stage(spark, live, Stage.COMPACTION)
    assert formats(live) == {"structured"}
    assert report.summary["groups_rewritten"] == 4
    assert live.rows() == live.oracle.rows()


def test_compaction_joins_the_small_parts_of_an_origin(spark: SparkSession, live: LiveTable) -> None:
    rows = parse(hour_lines(9), live.table.schema).rows
    timeline, uuid = live.table.join(), live.lake.uuids()
    provenance = Provenance("main", live.table.name, "", uuid, "split", generation=0, attempt=0)
    small = replace(live.table.schema, settings=TableSettings(part_rows=10))
    task = WriteTask(small, PartFormat.STRUCTURED, provenance)
    records = write_parts(live.lake.store, as_updates(rows, 9), task)
    assert records.num_rows > 1
    commit(timeline, Change(uuid, (AddParts("h2o_temperature", records),)), clock=live.lake.clock)
    before = live.rows()
    compaction(spark, arguments(live))
    origins = live.table.state().parts["origin"].to_pylist()
    assert origins.count("split") == 1
    assert live.rows() == before


def test_a_damaged_checkpoint_fails_its_gate(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    report = catalog_checkpoint(spark, arguments(live))
    assert verdict("catalog_checkpoint", report.evidence).passed
    disagreeing = [{**row, "agrees": False} for row in report.evidence]
    assert not verdict("catalog_checkpoint", disagreeing).passed


def test_a_sweep_deletes_only_what_its_plan_names(spark: SparkSession, live: LiveTable) -> None:
    run_stage(spark, live, Stage.DUAL_WRITE)
    store, orphan = live.lake.store, "main/weather/data/-/h2o_temperature/{}-0-00000.parquet"
    early, late = (orphan.format(f"0000000{n}-0000-4000-8000-000000000000") for n in (1, 2))
    store.put(early, b"left by a write that never committed")
    planned = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0))
    store.put(late, b"written after the plan")
    swept = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0, planned.summary["plan"]))
    assert swept.summary["deleted"] == 1
    keys = {info.key for info in store.list("main/")}
    assert early not in keys
    assert late in keys
    assert live.rows() == live.oracle.rows()


def test_a_missing_live_file_fails_the_gate_of_the_sweep(
    spark: SparkSession, live: LiveTable, verdict: Callable[[str, list[dict[str, Any]]], Verdict]
) -> None:
    planned = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0))
    live.lake.store.delete([live.table.state().parts["key"][0].as_py()])
    swept = orphan_gc(spark, OrphanArguments(live.store, str(live.table.name), 0, planned.summary["plan"]))
    assert swept.evidence[0]["missing"] == 1
    assert not verdict("orphan_gc", swept.evidence).passed


@pytest.mark.parametrize(
    "where", [None, FILTER, "surface_degrees > 60", "note is null and time < timestamp '2026-01-01 01:30:00'"]
)
def test_a_scan_as_a_data_frame_holds_the_same_rows(spark: SparkSession, live: LiveTable, where: str | None) -> None:
    live.write_hour(2, seed=3, generation=1)
    scan = live.table.scan(where)
    expected = scan.to_arrow()
    ns = expected.schema.get_field_index("time")
    expected = expected.set_column(ns, "time", expected["time"].cast(pa.int64()))
    found = scan.to_spark(spark).toArrow().select(expected.column_names)
    order = [("location", "ascending"), ("time", "ascending")]
    assert found.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()


def test_a_data_frame_of_a_scan_that_skips_everything_is_empty(spark: SparkSession, live: LiveTable) -> None:
    live.set_flags({"pushdown": "on"})
    frame = live.table.scan("time < timestamp '1999-01-01'", ["location", "time"]).to_spark(spark)
    assert frame.collect() == []
    assert frame.columns == ["location", "time"]
