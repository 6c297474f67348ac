"""The stack's bookkeeping: ports, state and leftovers. That it comes up and goes down is tested with Airflow itself."""

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from instar.config import Settings
from instar.orchestrate import stack
from instar.orchestrate.processes import Process, spawn
from instar.orchestrate.stack import PortUnusable, Running, choose_port, running_stack, start_stack, stop_stack

# Processes are detached on purpose: the handle that Python warns about is dropped while they run.
pytestmark = pytest.mark.filterwarnings(r"ignore:subprocess \d+ is still running:ResourceWarning")

HOST = "127.0.0.1"


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that another program listens on."""
    with socket.create_server((HOST, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Process]:
    process = spawn("scheduler", ["sleep", "60"], os.environ, tmp_path / "log", tmp_path)
    yield process
    if (found := process.running()) is not None:
        found.kill()
        found.wait()


def dead(folder: Path) -> Process:
    process = spawn("triggerer", ["true"], os.environ, folder / "log", folder)
    psutil.Process(process.pid).wait()
    return process


def plant(settings: Settings, *processes: Process) -> Path:
    """Write the state that a run with these processes would have left."""
    path = settings.work / "stack.json"
    path.write_text(json.dumps(asdict(Running(8080, processes))))
    return path


def test_a_configured_port_is_taken_as_it_is() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    assert choose_port(port) == port


def test_a_configured_port_that_another_program_has_is_refused(taken: int) -> None:
    with pytest.raises(PortUnusable, match=f"Port {taken} .*in use.* INSTAR_API_PORT"):
        choose_port(taken)


def test_a_configured_port_that_can_not_be_is_refused() -> None:
    with pytest.raises(PortUnusable, match=r"Port 70000 .*0-65535"):
        choose_port(70000)


def test_a_port_can_be_used_again_right_after_its_connections_were_closed() -> None:
    """Down and up again at once: the system keeps closed connections for a minute, which is no reason to refuse."""
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((HOST, port)):
            listener.accept()[0].close()
            time.sleep(0.05)
    assert choose_port(port) == port


def test_without_a_configured_port_each_checkout_gets_another(monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    monkeypatch.setattr(stack, "FIRST_PORT", taken)
    first = choose_port(0)
    assert first > taken
    with socket.create_server((HOST, first)):
        assert choose_port(0) > first


def test_a_stack_whose_processes_all_live_is_up(tmp_path: Path, live: Process) -> None:
    settings = Settings(work_dir=tmp_path)
    plant(settings, live)
    assert running_stack(settings) == Running(8080, (live,))


def test_the_state_of_one_checkout_says_nothing_about_another(tmp_path: Path, live: Process) -> None:
    first, second = (Settings(work_dir=tmp_path / name) for name in ("first", "second"))
    for settings in (first, second):
        settings.work.mkdir()
    plant(first, live)
    assert running_stack(second) is None
    assert not stop_stack(second)
    assert running_stack(first) is not None


def test_a_stack_with_a_dead_process_is_not_up(tmp_path: Path, live: Process) -> None:
    settings = Settings(work_dir=tmp_path)
    plant(settings, live, dead(tmp_path))
    assert running_stack(settings) is None


def test_what_a_dead_run_left_is_ended_before_anything_is_started(tmp_path: Path, live: Process, taken: int) -> None:
    settings = Settings(work_dir=tmp_path, api_port=taken)
    state = plant(settings, live, dead(tmp_path))
    with pytest.raises(PortUnusable):
        start_stack(settings)
    assert live.running() is None
    assert not state.exists()
    assert not (settings.work / "postgres").exists()


def test_a_stranger_with_the_number_of_a_dead_process_is_left_alone(tmp_path: Path, live: Process, taken: int) -> None:
    settings = Settings(work_dir=tmp_path, api_port=taken)
    state = plant(settings, replace(live, created=live.created - 1))
    with pytest.raises(PortUnusable):
        start_stack(settings)
    assert live.running() is not None
    assert not state.exists()


def test_stopping_says_whether_there_was_anything(tmp_path: Path, live: Process) -> None:
    settings = Settings(work_dir=tmp_path)
    plant(settings, live)
    assert stop_stack(settings)
    assert live.running() is None
    assert not stop_stack(settings)
