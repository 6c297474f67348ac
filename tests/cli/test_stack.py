import json
import socket
from pathlib import Path

from tests.cli.command import instar

FAR_FUTURE_PID = 2**22 + 1
"""More than Linux ever gives to a process."""


def test_down_has_nothing_to_do_where_nothing_runs(tmp_path: Path) -> None:
    done = instar("down", work=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing was running.\n", "")
    assert list(tmp_path.iterdir()) == []


def leftover(work: Path) -> Path:
    """Write the state of a run that died."""
    state = work / "stack.json"
    process = {"name": "scheduler", "pid": FAR_FUTURE_PID, "created": 1.0}
    state.write_text(json.dumps({"port": 8080, "processes": [process]}))
    return state


def test_down_clears_what_a_dead_run_left(tmp_path: Path) -> None:
    state = leftover(tmp_path)
    assert instar("down", work=tmp_path).stdout == "Stopped.\n"
    assert not state.exists()


def test_up_refuses_a_port_that_is_taken_and_clears_what_a_dead_run_left(tmp_path: Path) -> None:
    state = leftover(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = instar("up", work=tmp_path, INSTAR_API_PORT=str(port))
    assert done.returncode == 1
    error, remedy = done.stderr.splitlines()
    assert error.startswith(f"error: Port {port} of 127.0.0.1 can't be used")
    assert "INSTAR_API_PORT" in remedy
    assert not state.exists()
    assert not (tmp_path / "postgres").exists()
