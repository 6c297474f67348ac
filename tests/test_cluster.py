"""Drive real Spark beyond one process: a standalone cluster on an S3 store, and a shared session."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.overhead import connect_server, spark_submit
from instar.config import Settings, variable
from instar.engine.java import find_java
from instar.engine.job import to_argv
from instar.engine.session import session_conf, session_environment
from instar.engine.shipping import library_zip
from instar.orchestrate.environment import HOST
from instar.orchestrate.resources import SPARK_CONNECTION
from tests.services.airflow import ROOT, free_port, lay_out_home
from tests.services.command_lines import command_lines
from tests.services.s3 import S3Server
from tests.services.spark_cluster import WORKERS, SparkCluster

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

IMPATIENT = """
import sys
import doctor
import instar.engine.doctor
instar.engine.doctor.REGISTER_SECONDS = 20.0
sys.exit(doctor.main(sys.argv[1:]))
"""
OPERATOR = """
import sys
from types import SimpleNamespace
from instar.orchestrate.spark_job import SparkJobOperator
session = sys.argv[1]
ti = SimpleNamespace(dag_id="dag", run_id=session, task_id="job", map_index=-1, try_number=1)
SparkJobOperator(task_id="job", job="smallest", arguments={"rows": 10}, session=session).execute({"ti": ti})
"""


@dataclasses.dataclass(frozen=True)
class Ran:
    """What a command left, and the command lines of all processes that these tests had meanwhile."""

    code: int
    output: str
    command_lines: frozenset[str]


def run(command: list[str], env: dict[str, str], log: Path) -> Ran:
    seen: set[str] = set()
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=env, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            seen |= command_lines()
            time.sleep(0.25)
    return Ran(process.returncode, log.read_text(), frozenset(seen))


def settings_environment(settings: Settings) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("INSTAR_", "AIRFLOW_"))}
    return inherited | {
        variable(field.name): str(getattr(settings, field.name)) for field in dataclasses.fields(settings)
    }


@pytest.fixture(scope="module")
def on_cluster(spark_cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = lay_out_home(tmp_path_factory.mktemp("on-cluster") / "home")
    (settings.home / "spark_jobs" / "impatient_doctor.py").write_text(IMPATIENT)
    return dataclasses.replace(settings, spark_master=spark_cluster.master, spark_executors=WORKERS)


def examine(settings: Settings, server: S3Server, job: str, executors: int) -> tuple[Ran, dict[str, Any]]:
    """Submit the doctor's job as the operator does; return what was seen of it, and its report."""
    java = find_java(settings.work)
    report = settings.work / "reports" / f"{job}.json"
    store = server.config(f"doctor-{job}")
    arguments = {"store": store, "executors": executors, "racers": 8, "report": str(report), "parent": os.getpid()}
    command = [
        *spark_submit(settings, session_conf(settings, java)),
        f"--py-files={library_zip(settings)}",
        str(settings.home / "spark_jobs" / f"{job}.py"),
        *to_argv(arguments),
    ]
    env = settings_environment(settings) | session_environment(java) | server.environment()
    ran = run(command, env, settings.work / f"{job}.log")
    assert ran.code == 0, ran.output
    return ran, json.loads(report.read_text())


@pytest.fixture(scope="module")
def examined(on_cluster: Settings, s3_server: S3Server) -> tuple[Ran, dict[str, Any]]:
    return examine(on_cluster, s3_server, "doctor", WORKERS)


def executors_finding(report: dict[str, Any]) -> dict[str, str]:
    finding: dict[str, str]
    (finding,) = [row for row in report["result"] if row["check"] == "executors"]
    return finding


@pytest.mark.cluster
@pytest.mark.s3
def test_every_executor_answers_and_reaches_the_store_with_its_own_credentials(
    examined: tuple[Ran, dict[str, Any]],
) -> None:
    _, report = examined
    assert executors_finding(report)["level"] == "ok"
    assert executors_finding(report)["found"] == "2 of 2 answered"
    access = [row for row in report["result"] if row["check"] == "store access"]
    assert len({row["where"] for row in access}) == WORKERS
    assert {row["found"] for row in access} == {"wrote, read, listed, deleted"}
    promises = {row["check"]: row["level"] for row in report["result"] if row["area"] == "store"}
    assert promises["put if absent"] == "ok"
    assert set(promises.values()) == {"ok"}


@pytest.mark.cluster
@pytest.mark.s3
def test_the_stores_secret_is_in_no_command_line_conf_output_report_or_log(
    examined: tuple[Ran, dict[str, Any]],
    on_cluster: Settings,
    s3_server: S3Server,
    spark_cluster: SparkCluster,
) -> None:
    ran, report = examined
    secret = s3_server.secret_key
    # The driver's and the executors' JVMs were seen, with the configuration that travels on their command lines.
    assert any("SparkSubmit" in line and "doctor.py" in line for line in ran.command_lines)
    assert any("CoarseGrainedExecutorBackend" in line for line in ran.command_lines)
    assert [line for line in ran.command_lines if secret in line] == []
    assert secret not in json.dumps(session_conf(on_cluster, find_java(on_cluster.work)))
    assert secret not in ran.output
    assert secret not in json.dumps(report)
    logs = [path for path in spark_cluster.folder.rglob("*") if path.is_file() and path.suffix in {".log", ""}]
    assert sum(path.name == "stderr" for path in logs) >= WORKERS
    assert [path for path in logs if secret in path.read_text(errors="replace")] == []


@pytest.mark.cluster
@pytest.mark.s3
def test_an_executor_that_does_not_answer_is_an_error(on_cluster: Settings, s3_server: S3Server) -> None:
    _, report = examine(on_cluster, s3_server, "impatient_doctor", WORKERS + 1)
    finding = executors_finding(report)
    assert finding["level"] == "error"
    assert finding["found"] == "2 of 3 answered"
    assert "INSTAR_SPARK_EXECUTORS" in finding["remedy"]


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Run a Spark Connect server, and return settings that name it."""
    laid_out = lay_out_home(tmp_path_factory.mktemp("connected") / "home")
    shutil.copy(ROOT / "bench" / "spark_jobs" / "smallest.py", laid_out.home / "spark_jobs")
    settings = dataclasses.replace(laid_out, spark_master="local[2]", spark_connect=f"sc://{HOST}:{free_port()}")
    with connect_server(settings, find_java(settings.work)):
        yield settings


def operate(settings: Settings, session: str, secret: str) -> tuple[Ran, dict[str, Any]]:
    """Execute the operator in a process of its own; return what was seen of it, and the job's report."""
    env = settings_environment(settings) | {
        "AIRFLOW_HOME": str(settings.work / "airflow"),
        "AWS_SECRET_ACCESS_KEY": secret,
        f"AIRFLOW_CONN_{SPARK_CONNECTION.upper()}": json.dumps({"conn_type": "spark", "host": settings.spark_master}),
    }
    ran = run([sys.executable, "-c", OPERATOR, session], env, settings.work / f"{session}.log")
    assert ran.code == 0, ran.output
    return ran, json.loads((settings.work / "reports" / "dag" / session / "job.-1.1.json").read_text())


def test_a_shared_session_gives_the_report_of_an_own_one_and_starts_no_driver(connected: Settings) -> None:
    secret = "hush-0f5c1d7e"
    own, own_report = operate(connected, "own", secret)
    shared, shared_report = operate(connected, "shared", secret)
    assert own_report["result"] == shared_report["result"]
    assert {row["found"] for row in shared_report["result"]} == {"10 rows, library shipped"}
    assert shared_report.keys() == own_report.keys()
    script = str(connected.home / "spark_jobs" / "smallest.py")
    drivers = {
        ran: any("SparkSubmit" in line and script in line for line in ran.command_lines) for ran in (own, shared)
    }
    assert drivers == {own: True, shared: False}
    for ran, report in ((own, own_report), (shared, shared_report)):
        assert any(script in line for line in ran.command_lines)
        assert [line for line in ran.command_lines if secret in line] == []
        assert secret not in ran.output + json.dumps(report)
