"""Drive a real scheduler: trigger over the API, wait, read logs."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest

from instar.orchestrate.environment import password
from tests.services.airflow import Airflow

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(600)]


def drivers(airflow: Airflow) -> list[psutil.Process]:
    """Return the processes of Spark drivers that this Airflow started."""
    home = str(airflow.settings.home)
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = " ".join(process.info["cmdline"] or [])
        if home in command and ("SparkSubmit" in command or "spark_jobs" in command):
            found.append(process)
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def wait_for_driver(airflow: Airflow, dag_id: str, run_id: str) -> None:
    """Wait until the job's own code runs."""

    def is_in_its_work() -> bool:
        running = airflow.api.task(dag_id, run_id, "job")["state"] == "running"
        return running and "misbehaving" in airflow.api.log(dag_id, run_id, "job")

    assert wait_until(is_in_its_work, 60)


@pytest.fixture(scope="module")
def doctor_run(airflow: Airflow) -> str:
    run_id, state = airflow.run("instar_doctor")
    assert state == "success", airflow.api.log("instar_doctor", run_id, "gate")
    return run_id


def test_the_doctor_examines_every_area_and_its_gate_passes(airflow: Airflow, doctor_run: str) -> None:
    findings = airflow.api.result("instar_doctor", doctor_run, "findings")
    assert {finding["area"] for finding in findings} == {"driver", "executor", "store", "airflow"}
    assert {finding["level"] for finding in findings} <= {"ok", "warning"}
    verdict = airflow.api.result("instar_doctor", doctor_run, "gate")
    assert verdict["passed"] is True
    assert len(verdict["outcomes"]) == 4


def test_a_gates_page_is_linked_from_its_task_and_shown_to_logged_in_users_only(
    airflow: Airflow, doctor_run: str
) -> None:
    links = airflow.api.request("GET", f"/dags/instar_doctor/dagRuns/{doctor_run}/taskInstances/gate/links")
    link = links["extra_links"]["Data Docs"]
    page = airflow.api.page(link)
    assert page.status_code == 200
    assert "Every area was examined" in page.text or "doctor" in page.text
    assert httpx.get(airflow.running.url + link, trust_env=False).status_code == 401
    assert airflow.api.page("/instar/data-docs/..%2f..%2fairflow%2fsecrets.json").status_code == 404


def test_plugins_and_dags_import_without_errors(airflow: Airflow) -> None:
    assert airflow.api.import_errors() == []
    assert airflow.api.request("GET", "/plugins/importErrors")["import_errors"] == []


def test_a_store_that_overwrites_on_put_if_absent_fails_the_dag(airflow: Airflow) -> None:
    run_id, state = airflow.run("instar_faulty_doctor")
    assert state == "failed"
    assert airflow.api.task("instar_faulty_doctor", run_id, "examine_spark")["state"] == "success"
    assert airflow.api.task("instar_faulty_doctor", run_id, "gate")["state"] == "failed"
    log = airflow.api.log("instar_faulty_doctor", run_id, "gate")
    assert "put if absent" in log
    assert "Do not keep a lake there" in log


def test_a_job_that_fails_says_why_in_its_log_and_leaves_no_driver(airflow: Airflow) -> None:
    run_id, state = airflow.run("misbehave_fail")
    assert state == "failed"
    log = airflow.api.log("misbehave_fail", run_id, "job")
    assert "The moon is in the wrong phase. Wait a week." in log
    assert wait_until(lambda: not drivers(airflow))


def test_a_job_that_hangs_past_its_timeout_fails_and_leaves_no_driver(airflow: Airflow) -> None:
    run_id, state = airflow.run("misbehave_hang")
    assert state == "failed"
    log = airflow.api.log("misbehave_hang", run_id, "job")
    assert "misbehaving: hang" in log
    assert "Timeout" in log
    assert wait_until(lambda: not drivers(airflow))


def test_a_job_that_is_cancelled_in_the_ui_leaves_no_driver(airflow: Airflow) -> None:
    run_id = airflow.api.trigger("misbehave_cancel")
    wait_for_driver(airflow, "misbehave_cancel", run_id)
    assert drivers(airflow)
    airflow.api.fail_task("misbehave_cancel", run_id, "job")
    assert airflow.api.wait("misbehave_cancel", run_id, timeout=60) == "failed"
    assert wait_until(lambda: not drivers(airflow))


def test_a_job_whose_task_is_killed_ends_by_itself(airflow: Airflow) -> None:
    run_id = airflow.api.trigger("misbehave_cancel")
    wait_for_driver(airflow, "misbehave_cancel", run_id)
    (submit,) = [process for process in drivers(airflow) if "SparkSubmit" in " ".join(process.cmdline())]
    os.kill(submit.ppid(), signal.SIGKILL)
    assert wait_until(lambda: not drivers(airflow))
    assert airflow.api.wait("misbehave_cancel", run_id, timeout=120) == "failed"


def test_no_secret_is_in_a_log_or_a_rendered_template(airflow: Airflow, doctor_run: str) -> None:
    kept = (airflow.settings.work / "airflow" / "secrets.json").read_text()
    secrets = [password(airflow.settings), *(part for part in kept.split('"') if len(part) > 20)]
    logs = [path for path in (airflow.settings.work / "logs").rglob("*") if path.is_file()]
    assert len(logs) > 5
    leaks = [(path, secret) for path in logs for secret in secrets if secret in path.read_text(errors="replace")]
    assert leaks == []
    for task in airflow.api.tasks("instar_doctor", doctor_run):
        assert not any(secret in str(task["rendered_fields"]) for secret in secrets)


def test_every_socket_listens_on_loopback_only(airflow: Airflow) -> None:
    addresses = set()
    for process in airflow.running.processes:
        live = process.running()
        assert live is not None
        for one in [live, *live.children(recursive=True)]:
            addresses |= {c.laddr.ip for c in one.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    assert addresses == {"127.0.0.1"}


def test_work_stays_in_the_work_folder(airflow: Airflow, doctor_run: str) -> None:
    left = {path.name for path in Path(airflow.settings.home).iterdir()} - {"__pycache__"}
    assert left == {"dags", "spark_jobs", "plugins", "requirements.txt", ".work"}
