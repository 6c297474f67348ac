"""The whole rollout, once, where it is meant to run: a scheduler, a standalone Spark cluster, and a lake on S3."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from instar.demo.live import LiveIngest, live_row
from instar.flags import Flags
from instar.orchestrate.api import FINISHED, AirflowApi
from instar.plan.write import fit_rows
from instar.rollout.stages import Stage
from tests.engine.sample import KEY, LiveTable, live_table
from tests.services.airflow import run_airflow
from tests.services.command_lines import command_lines
from tests.services.s3 import S3Server
from tests.services.spark_cluster import WORKERS, SparkCluster

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.cluster,
    pytest.mark.s3,
    pytest.mark.spark,
    pytest.mark.timeout(900),
]

DAG = "instar_rollout"
JOBS = (*(stage.label for stage in Stage if stage is not Stage.ORPHAN_GC), "orphan_plan", "orphan_gc")
"""The Spark jobs, in the order in which they run."""
QUESTIONS = (
    ("time >= timestamp '2026-01-01 02:00:00' and state = 'CA'", ("location", "time", "surface_degrees")),
    ("time < timestamp '2026-01-01 01:00:00'", ("location", "bottom_degrees")),
    ("location = 'hilo_bay' and time >= timestamp '2026-01-01 03:00:00'", ("time", "note")),
)
INGEST_SECONDS = 1.5
"""Between two commits: often enough for several in each job, and parts few enough for a small machine."""
LEFTOVER = f"main/weather/data/-/h2o_temperature/{UUID(int=1, version=4)}-0-00000.parquet"
PARAMETERS = {"grace_seconds": 20, "most_growth": 100.0, "most_slowdown": 1000.0}  # tiny parts, a busy machine


@dataclass(frozen=True)
class RolledOut:
    """What a rollout left, and what was seen of it while it ran."""

    state: str
    failures: dict[str, str]
    reports: dict[str, dict[str, Any]]
    rendered: str
    """All fields of all tasks, as the UI shows them."""
    logs: Path
    command_lines: frozenset[str]
    applications: list[str]
    """Of the cluster, in the order of their start."""
    live: LiveTable
    live_commits: int


@pytest.fixture(scope="module")
def rolled_out(s3_server: S3Server, spark_cluster: SparkCluster) -> Iterator[RolledOut]:
    """Roll a table out while rows keep coming in. The way to the store is configured; its credentials are not."""
    config = s3_server.config("rollout")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_PROFILE", raising=False)
        for name, value in s3_server.environment().items():
            patch.setenv(name, value)
        live = live_table(config, hours=4)
        for where, columns in QUESTIONS:
            live.table.scan(where, columns).to_arrow()
        live.lake.store.put(LEFTOVER, b"of a write that was never committed")
        before = spark_cluster.applications()
        with run_airflow(
            lake_uri=config.uri,
            s3_endpoint=s3_server.endpoint,
            s3_region=s3_server.region,
            spark_master=spark_cluster.master,
            spark_executors=WORKERS,
        ) as airflow:
            api = airflow.api
            with LiveIngest(live.lake, live.table.name, seconds=INGEST_SECONDS) as ingest:
                run_id = api.trigger(DAG, {"tables": [str(live.table.name)], **PARAMETERS})
                state, seen = watch(api, run_id)
            tasks = api.tasks(DAG, run_id)
            failed = {task["task_id"]: task["map_index"] for task in tasks if task["state"] == "failed"}
            yield RolledOut(
                state,
                {task: api.log(DAG, run_id, task, map_index=index)[-4_000:] for task, index in failed.items()},
                {job: api.result(DAG, run_id, job, map_index=0) for job in JOBS} if state == "success" else {},
                json.dumps([task["rendered_fields"] for task in tasks]),
                airflow.settings.work / "logs",
                frozenset(seen),
                sorted(spark_cluster.applications() - before),
                live,
                len(ingest.revisions),
            )


def watch(api: AirflowApi, run_id: str) -> tuple[str, set[str]]:
    """Wait for the run; return its state and the command lines that could be seen meanwhile."""
    seen: set[str] = set()
    while (state := api.run(DAG, run_id)["state"]) not in FINISHED:
        seen |= command_lines()
        time.sleep(0.5)
    return str(state), seen


def tasks_run(cluster: SparkCluster, worker: int, application: str) -> int:
    """Return how many tasks of an application a worker's executors ran."""
    logs = cluster.work(worker).glob(f"{application}/*/stderr")
    return sum(log.read_text(errors="replace").count("Running task ") for log in logs)


def test_the_rollout_succeeds_and_a_reader_sees_the_oracles_rows_and_the_live_ones(rolled_out: RolledOut) -> None:
    assert rolled_out.state == "success", rolled_out.failures
    live = rolled_out.live
    state = live.table.state()
    assert state.flags == Flags.parse({"write_format": "structured", "read_format": "structured", "pushdown": "on"})
    assert set(state.parts["format"].to_pylist()) == {"structured"}
    arrived = [row for n in range(rolled_out.live_commits) for row in fit_rows(live_row(n), state.schema).to_pylist()]
    expected = sorted(live.oracle.rows() + arrived, key=lambda row: tuple(row[name] for name in KEY))
    assert live.rows() == expected
    assert LEFTOVER not in {info.key for info in live.lake.store.list("main/")}


def test_at_least_one_ingest_commit_lands_inside_every_job(rolled_out: RolledOut) -> None:
    landed = {job: len(report["result"]["landed"]) for job, report in rolled_out.reports.items()}
    assert list(landed) == list(JOBS)
    assert [job for job, commits in landed.items() if not commits] == []


def test_the_work_is_spread_over_both_workers(rolled_out: RolledOut, spark_cluster: SparkCluster) -> None:
    ran = {
        job: [tasks_run(spark_cluster, worker, application) for worker in range(WORKERS)]
        for job, application in zip(JOBS, rolled_out.applications, strict=True)
    }
    assert [job for job, tasks in ran.items() if not any(tasks)] == []
    for job in ("dual_write", "shadow_validation", "read_switchover", "compaction"):
        assert all(ran[job]), ran


def test_the_stores_secret_is_in_no_log_rendered_template_or_command_line(
    rolled_out: RolledOut, spark_cluster: SparkCluster, s3_server: S3Server
) -> None:
    secret, uri = s3_server.secret_key, rolled_out.live.store.uri
    folders = (rolled_out.logs, spark_cluster.folder)
    logs = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".log", ""} and path.is_file()]
    # Each of these places is one where the way to the store can be seen.
    assert uri in rolled_out.rendered
    assert any("SparkSubmit" in line and uri in line for line in rolled_out.command_lines)
    assert any("CoarseGrainedExecutorBackend" in line for line in rolled_out.command_lines)
    assert any(uri in path.read_text(errors="replace") for path in logs)
    assert secret not in rolled_out.rendered
    assert [line for line in rolled_out.command_lines if secret in line] == []
    assert [path for path in logs if secret in path.read_text(errors="replace")] == []
