import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.engine import job
from instar.engine.job import run_job, to_argv, write_report
from instar.errors import InstarError
from instar.storage.config import StoreConfig

NAME = "sample"


@dataclass(frozen=True)
class Arguments:
    store: StoreConfig
    label: str
    row_count: int = 3
    ratio: float = 0.5
    dry: bool = False
    columns: tuple[str, ...] = ()


REQUIRED = ["--store", '{"uri": "file:///lake"}', "--label", "x"]


@dataclass
class Session:
    """Stand in for Spark at the boundary: what is tried here is what becomes of arguments and failures."""

    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    session = Session()
    monkeypatch.setattr(job, "open_session", lambda _name: session)
    return session


def parsed(argv: list[str]) -> Arguments:
    seen: list[Arguments] = []
    assert run_job(NAME, argv, Arguments, lambda _spark, arguments: seen.append(arguments)) == 0
    return seen[0]


def fields(arguments: Arguments) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in asdict(arguments)}


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
stores = st.builds(
    StoreConfig,
    uri=st.sampled_from(["file:///lake", "s3://bucket/a b"]),
    profile=st.none() | texts,
    region=st.none() | texts,
)


@given(
    st.builds(
        Arguments,
        store=stores,
        label=texts,
        row_count=st.integers(),
        ratio=st.floats(allow_nan=False),
        dry=st.booleans(),
        columns=st.lists(texts, max_size=3).map(tuple),
    )
)
def test_arguments_come_back_from_the_command_line_as_they_went_in(arguments: Arguments) -> None:
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(job, "open_session", lambda _name: Session())
        assert parsed(to_argv(fields(arguments))) == arguments


def test_what_is_left_out_has_its_default() -> None:
    assert parsed(REQUIRED) == Arguments(StoreConfig("file:///lake"), "x")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--row-count", "many"),
        ("--row-count", "1.5"),
        ("--row-count", "true"),
        ("--ratio", '"0.5"'),
        ("--ratio", "true"),
        ("--dry", "1"),
        ("--dry", "yes"),
        ("--columns", "5"),
        ("--columns", '"abc"'),
        ("--columns", "[1, 2]"),
        ("--store", "[]"),
        ("--store", '{"url": "file:///lake"}'),
        ("--store", '{"uri": 5}'),
        ("--unheard-of", "1"),
        ("--row", "1"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_options_name(
    option: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused([*REQUIRED, option, text], tmp_path)
    assert option in error
    assert error in capsys.readouterr().err


def test_a_missing_argument_is_refused_with_the_options_name(tmp_path: Path) -> None:
    assert "--label" in refused(REQUIRED[:2], tmp_path)


def test_a_value_without_an_option_is_refused(tmp_path: Path) -> None:
    assert "without an option" in refused([*REQUIRED, "stray"], tmp_path)


def test_what_an_argument_itself_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    error = refused(to_argv({"store": {"uri": "s3://key:word@bucket"}, "label": "x"}), tmp_path)
    assert "--store: A store's address holds credentials. Put them in the environment" in error


@pytest.mark.parametrize(
    "argv",
    [
        ["--store", json.dumps({"uri": "s3://key:hunter2@bucket"})],
        ["--store", json.dumps({"uri": "s3://bucket", "password": "hunter2"})],
        ["--store", json.dumps({"uri": "s3://bucket", "hunter2": ""})],
        ["--store", json.dumps({"uri": ["hunter2"]})],
        ["--store", "s3://key:hunter2@bucket"],
        ["--row-count", "hunter2"],
        ["--parent", "hunter2"],
        ["--stoer=hunter2"],
        ['--stoer={"uri": "hunter2"}'],
        ["--stoer", "hunter2"],
        ["hunter2"],
    ],
)
def test_a_value_that_is_refused_is_never_shown_because_it_may_hold_a_secret(
    argv: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = refused([*REQUIRED, *argv], tmp_path) + "".join(capfd.readouterr())
    assert "hunter2" not in shown


def refused(argv: list[str], folder: Path) -> str:
    """Return the error that the report of a job tells when it is called with these arguments."""
    path = folder / "report.json"
    ran: list[Arguments] = []
    assert run_job(NAME, [*argv, f"--report={path}"], Arguments, lambda _spark, arguments: ran.append(arguments)) == 1
    assert ran == []
    error: str = json.loads(path.read_text())["error"]
    return error


def reported(folder: Path, body: Callable[[Any, Arguments], Any]) -> tuple[int, dict[str, Any]]:
    path = folder / "new" / "report.json"
    code = run_job(NAME, [*REQUIRED, "--report", str(path)], Arguments, body)
    assert [child.name for child in path.parent.iterdir()] == ["report.json"]
    return code, json.loads(path.read_text())


def test_the_result_is_in_the_report(tmp_path: Path, session: Session) -> None:
    before = time.time()
    code, report = reported(tmp_path, lambda spark, arguments: {"label": arguments.label, "same": spark is session})
    assert (code, report["job"], report["result"]) == (0, NAME, {"label": "x", "same": True})
    assert before <= report["started"] <= time.time()
    assert report["seconds"].keys() == {"session", "work"}
    assert "error" not in report
    assert session.stopped


def test_a_known_failure_is_in_the_log_and_in_the_report(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_spark: Any, _arguments: Arguments) -> None:
        raise InstarError("The lake is frozen.", help="Wait for spring.")

    code, report = reported(tmp_path, body)
    assert (code, report["error"]) == (1, "The lake is frozen. Wait for spring.")
    assert "result" not in report
    log = capsys.readouterr().err
    assert "sample failed: The lake is frozen." in log
    assert "Traceback" not in log
    assert session.stopped


def test_any_other_failure_is_in_the_report_and_its_trace_in_the_log(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = reported(tmp_path, lambda _spark, _arguments: int("seven"))
    assert code == 1
    assert report["error"].startswith("ValueError: invalid literal")
    assert "Traceback" in capsys.readouterr().err
    assert session.stopped


def test_a_session_that_does_not_open_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_name: str) -> None:
        raise ConnectionError("no master")

    monkeypatch.setattr(job, "open_session", refuse)
    code, report = reported(tmp_path, lambda _spark, _arguments: None)
    assert (code, report["error"], report["seconds"]) == (1, "ConnectionError: no master", {})


def test_a_result_that_is_not_json_is_reported_as_a_failure(tmp_path: Path) -> None:
    code, report = reported(tmp_path, lambda _spark, _arguments: {"when": object()})
    assert code == 1
    assert "not JSON serializable" in report["error"]


def test_without_a_place_for_it_there_is_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_job(NAME, REQUIRED, Arguments, lambda _spark, _arguments: 1) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_can_not_be_written_whole_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(path, {"result": 1})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_report(path, {"result": object()})
    assert json.loads(path.read_text()) == {"result": 1}


def test_a_new_report_takes_the_place_of_the_old_one_at_once(tmp_path: Path) -> None:
    """Whoever has the old one open goes on reading the old one."""
    path = tmp_path / "report.json"
    write_report(path, {"result": 1})
    with path.open() as old:
        write_report(path, {"result": 2})
        assert json.load(old) == {"result": 1}
    assert json.loads(path.read_text()) == {"result": 2}
    assert [child.name for child in tmp_path.iterdir()] == ["report.json"]


WATCHER = """
import sys, time
from instar.engine.job import end_with
end_with(int(sys.argv[1]))
print("watching", flush=True)
time.sleep(60)
"""


@pytest.fixture
def parent() -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def watch(pid: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WATCHER, str(pid)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
def test_a_job_ends_soon_after_a_parent_that_was_killed(parent: "subprocess.Popen[bytes]", *, reaped: bool) -> None:
    with watch(parent.pid) as watcher:
        try:
            assert watcher.stdout is not None
            assert watcher.stdout.readline() == "watching\n"
            assert watcher.poll() is None
            os.kill(parent.pid, signal.SIGKILL)
            if reaped:
                parent.wait()
            _, log = watcher.communicate(timeout=3)
        finally:
            watcher.kill()
    assert watcher.returncode == 1
    assert "The task that started this job is gone" in log


def test_a_job_whose_parent_is_gone_already_does_not_start(parent: "subprocess.Popen[bytes]") -> None:
    parent.kill()
    parent.wait()
    with watch(parent.pid) as watcher:
        try:
            shown, _ = watcher.communicate(timeout=30)
        finally:
            watcher.kill()
    assert (watcher.returncode, shown) == (1, "")
