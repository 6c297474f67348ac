import json
import os
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from instar.orchestrate.processes import Process
from instar.orchestrate.stack import Running
from tests.cli.command import instar
from tests.services.airflow import ROOT, free_port

pytestmark = pytest.mark.spark

Findings = dict[tuple[str, str], dict[str, str]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a work folder that shares what is slow to make."""
    classes = ROOT / ".work" / "java-classes"
    classes.mkdir(parents=True, exist_ok=True)
    (tmp_path / "java-classes").symlink_to(classes)
    return tmp_path


def examined(work: Path, *options: str) -> tuple[int, Findings]:
    done = instar("doctor", "--json", "--racers", "4", *options, work=work)
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        pytest.fail(f"This is not JSON: {done.stdout}\n{done.stderr}")
    return done.returncode, {(finding["area"], finding["check"]): finding for finding in findings}


def levels(findings: Findings, area: str) -> set[str]:
    return {finding["level"] for (of, _), finding in findings.items() if of == area}


def test_a_machine_without_a_running_stack_is_fit_and_told_to_start_one(work: Path) -> None:
    code, findings = examined(work)
    assert code == 0, findings
    assert {area for area, _ in findings} == {"driver", "executor", "store", "airflow"}
    assert levels(findings, "store") == {"ok"}
    assert findings["executor", "store access"]["level"] == "ok"
    stack = findings["airflow", "stack"]
    assert (stack["level"], stack["found"], stack["remedy"]) == ("warning", "not up", "Start it: make up.")


def test_a_lake_that_can_not_be_and_an_airflow_that_does_not_answer_are_errors(work: Path) -> None:
    this = psutil.Process(os.getpid())
    silent = Running(free_port(), (Process("api-server", this.pid, this.create_time()),))
    (work / "stack.json").write_text(json.dumps(asdict(silent)))
    code, findings = examined(work, "--lake", "hdfs://lake")
    assert code == 1
    assert findings["store", "access"]["level"] == findings["executor", "store access"]["level"] == "error"
    assert "file:///" in findings["executor", "store access"]["remedy"]
    stack = findings["airflow", "stack"]
    assert stack["level"] == "error"
    assert stack["found"].startswith(f"no answer from {silent.url}")
    assert str(work) in stack["remedy"]
