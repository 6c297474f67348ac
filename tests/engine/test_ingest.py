import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from instar.catalog.orphans import Reason, plan_orphans
from instar.config import Settings
from instar.engine.ingest import IngestArguments, NothingLanded, ingest
from instar.engine.java import find_java
from instar.engine.job import to_argv
from instar.engine.session import session_environment
from instar.engine.stage import StageReport
from instar.sources.line_protocol import parse
from instar.storage.config import StoreConfig
from tests.engine.sample import FIRST, HOUR, LiveTable, hour_lines, land, live_table, micros, origin_of
from tests.services.airflow import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


@pytest.fixture
def live(tmp_path: Path) -> LiveTable:
    return live_table(StoreConfig((tmp_path / "lake").as_uri()), hours=0)


def arguments(live: LiveTable, landing: Path, hour: int, generation: int) -> IngestArguments:
    start = (FIRST + hour * HOUR).isoformat()
    return IngestArguments(live.store, str(live.table.name), "main", landing.as_uri(), "buoys", start, generation)


def expect(live: LiveTable, hour: int, *files: bytes) -> None:
    """Tell the oracle what an hour's files hold: later lines win over earlier ones."""
    rows = parse(b"".join(files), live.table.schema).rows
    live.oracle.put(origin_of(FIRST + hour * HOUR), micros(FIRST + hour * HOUR), rows)


def run(spark: SparkSession, live: LiveTable, landing: Path, hour: int, generation: int) -> StageReport:
    return ingest(spark, arguments(live, landing, hour, generation))


def test_an_interval_becomes_rows_and_rejected_lines_are_quarantined_with_a_reason(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    data = hour_lines(0, bad_lines=5)
    land(tmp_path / "landing", 0, data)
    report = run(spark, live, tmp_path / "landing", 0, 1)
    expect(live, 0, data)
    assert live.rows() == live.oracle.rows()
    row = report.evidence[0]
    assert row["rejects"] == 5
    assert row["lines"] == row["accounted"] == data.count(b"\n")
    keys = [info.key for info in live.lake.store.list(report.summary["quarantine"])]
    rejects = pq.read_table(live.lake.store.open_input(keys[0])).to_pylist()
    assert len(rejects) == 5
    assert all(reject["reason"] and reject["line"] in data for reject in rejects)


def test_of_two_lines_with_one_key_the_one_of_the_later_file_wins(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    first, second = hour_lines(0, seed=1), hour_lines(0, seed=2)
    land(tmp_path, 0, second, "b.lp")
    land(tmp_path, 0, first, "a.lp")
    run(spark, live, tmp_path, 0, 1)
    expect(live, 0, first, second)
    assert live.rows() == live.oracle.rows()
    versions = live.table.state().parts["rows"].to_numpy().sum()
    assert versions == len(live.oracle.rows())


def test_the_same_run_again_changes_nothing_and_a_later_one_replaces(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    land(tmp_path, 0, hour_lines(0, seed=1))
    run(spark, live, tmp_path, 0, 1)
    before = live.table.view().vector
    again = run(spark, live, tmp_path, 0, 1)
    assert again.summary["already"]
    assert live.table.view().vector == before
    data = hour_lines(0, seed=2)[:2000].rsplit(b"\n", 1)[0]
    land(tmp_path, 0, data)
    run(spark, live, tmp_path, 0, 2)
    expect(live, 0, data)
    assert live.rows() == live.oracle.rows()


def test_backfilling_an_old_interval_does_not_overwrite_newer_values(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    later = hour_lines(0, seed=1)  # an hour later the source corrects what it sent
    land(tmp_path, 1, later)
    land(tmp_path, 0, hour_lines(0, seed=2))
    run(spark, live, tmp_path, 1, 1)
    run(spark, live, tmp_path, 0, 2)
    expect(live, 0, hour_lines(0, seed=2))
    expect(live, 1, later)
    assert live.rows() == live.oracle.rows()


def test_an_interval_without_files_is_an_error_and_keeps_what_there_is(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    live.write_hour(0)
    with pytest.raises(NothingLanded, match="20260101T000000Z"):
        run(spark, live, tmp_path, 0, 5)
    assert live.rows() == live.oracle.rows()


def test_a_driver_killed_before_the_commit_leaves_orphans_and_the_retry_gives_the_same_table(
    spark: SparkSession, live: LiveTable, tmp_path: Path
) -> None:
    data = hour_lines(0)
    land(tmp_path / "landing", 0, data)
    wanted = arguments(live, tmp_path / "landing", 0, 1)
    killed = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "spark_jobs" / "ingest_killed.py"), *to_argv(vars(wanted))],
        env={
            **session_environment(find_java(Settings().work)),
            "PYTHONPATH": str(ROOT / "spark_jobs"),
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr
    assert live.rows() == []
    ingest(spark, wanted)
    expect(live, 0, data)
    assert live.rows() == live.oracle.rows()
    timeline = live.lake.catalog.timeline("main", "weather")
    plan = plan_orphans(timeline, now=live.lake.clock(), grace=0)
    assert [orphan.reason for orphan in plan.orphans] == [Reason.NEVER_COMMITTED]


def test_rows_are_written_in_the_format_of_the_flags(spark: SparkSession, live: LiveTable, tmp_path: Path) -> None:
    land(tmp_path, 0, hour_lines(0))
    live.set_flags({"write_format": "structured"})
    run(spark, live, tmp_path, 0, 1)
    assert live.table.state().parts["format"].to_pylist() == ["structured"]
