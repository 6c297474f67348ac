import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from instar.orchestrate.processes import Process, end_trees, spawn

# Processes are detached on purpose: the handle that Python warns about is dropped while they run.
pytestmark = pytest.mark.filterwarnings(r"ignore:subprocess \d+ is still running:ResourceWarning")

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
depth = int(sys.argv[1])
if depth:
    subprocess.Popen([sys.executable, __file__, str(depth - 1)])
print("ready", os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Process]:
    process = spawn("sleeper", ["sleep", "60"], os.environ, tmp_path / "log", tmp_path)
    yield process
    if (live := process.running()) is not None:
        end_trees([live])


def lines(log: Path, count: int) -> list[str]:
    """Wait until the log has that many lines."""
    deadline = time.monotonic() + 20
    while len(found := log.read_text().splitlines()) < count:
        assert time.monotonic() < deadline, f"The log still says {found}."
        time.sleep(0.02)
    return found


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_process_is_found_again_while_it_runs(sleeper: Process) -> None:
    live = Process(sleeper.name, sleeper.pid, sleeper.created).running()
    assert live is not None
    assert live.pid == sleeper.pid


def test_python_does_not_warn_of_a_process_that_was_ended(tmp_path: Path) -> None:
    text = f"""
import os, pathlib
from instar.orchestrate.processes import end_trees, spawn
folder = pathlib.Path({str(tmp_path)!r})
end_trees([spawn("sleeper", ["sleep", "60"], os.environ, folder / "log", folder).running()])
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_later_process_of_the_same_number_is_another_one(sleeper: Process) -> None:
    assert sleeper.running() is not None
    assert replace(sleeper, created=sleeper.created - 1).running() is None


def test_a_process_that_ended_is_not_running_though_nobody_waited_for_it(sleeper: Process) -> None:
    os.kill(sleeper.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while psutil.Process(sleeper.pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert sleeper.running() is None
    os.waitpid(sleeper.pid, 0)
    assert sleeper.running() is None


def test_a_spawned_process_has_its_own_session_folder_environment_and_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "deep" / "log"
    script = "echo $PPID $GREETING; pwd; echo oops >&2"
    env = {"GREETING": "hello", "PATH": os.environ["PATH"]}
    process = spawn("shell", ["sh", "-c", f"{script}; exec sleep 60"], env, log, tmp_path)
    try:
        assert lines(log, 3) == [f"{os.getpid()} hello", str(tmp_path), "oops"]
        assert os.getsid(process.pid) == process.pid
    finally:
        end_trees([psutil.Process(process.pid)])


def test_a_tree_that_ignores_the_request_to_end_is_killed_to_the_last_grandchild(tmp_path: Path) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    root = spawn("stubborn", [sys.executable, str(script), "2"], os.environ, tmp_path / "log", tmp_path)
    pids = [int(line.split()[1]) for line in lines(tmp_path / "log", 3)]
    assert root.pid in pids
    assert not any(gone(pid) for pid in pids)
    end_trees([psutil.Process(root.pid)], grace=0.3)
    assert all(gone(pid) for pid in pids)


def test_a_process_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    process = spawn("polite", ["sh", "-c", script], os.environ, log, tmp_path)
    lines(log, 1)
    end_trees([psutil.Process(process.pid)])
    assert log.read_text().splitlines()[-1] == "bye"
    assert process.running() is None


def test_a_process_that_is_gone_already_does_not_keep_the_others_alive(tmp_path: Path, sleeper: Process) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        dead = psutil.Process(child.pid)
        child.kill()
    end_trees([dead, psutil.Process(sleeper.pid)])
    assert sleeper.running() is None
