"""The embedded stack: PostgreSQL and Airflow's four processes, for a person, a demo or a test."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from instar.config import Settings
from instar.engine.class_archive import make_archive
from instar.engine.java import find_java
from instar.errors import InstarError
from instar.orchestrate.api import AirflowApi
from instar.orchestrate.environment import HOST, USER, airflow_environment, password
from instar.orchestrate.postgres import start_postgres, stop_postgres
from instar.orchestrate.processes import Process, end_trees, spawn

FIRST_PORT = 8080
START_SECONDS = 180
_COMMANDS = {
    "api-server": ["api-server"],
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
    "triggerer": ["triggerer", "--skip-serve-logs"],
}


class StackFailed(InstarError):
    """Airflow did not come up."""


class PortUnusable(InstarError):
    """A port that Airflow can't listen on."""


@dataclass(frozen=True)
class Running:
    """A stack that is up."""

    port: int
    processes: tuple[Process, ...]

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


def running_stack(settings: Settings) -> Running | None:
    """Return the stack that this work folder's state names, if all its processes live."""
    recorded = _read_state(settings)
    return recorded if recorded and all(p.running() for p in recorded.processes) else None


def start_stack(settings: Settings) -> Running:
    """Start the stack, or return the one that is up. What a dead run left is ended first."""
    if (running := running_stack(settings)) is not None:
        return running
    stop_stack(settings)
    port = choose_port(settings.api_port)
    make_archive(settings, find_java(settings.work))
    database_url = start_postgres(settings.work / "postgres")
    env = airflow_environment(settings, database_url, port)
    bin_folder = Path(sys.executable).parent
    logs = settings.work / "logs"
    try:
        _provision(settings, env)
        processes: list[Process] = []
        for name, arguments in _COMMANDS.items():
            command = [str(bin_folder / "airflow"), *arguments]
            processes.append(spawn(name, command, env, logs / f"{name}.log", settings.home))
            _write_state(settings, Running(port, tuple(processes)))
        stack = Running(port, tuple(processes))
        _wait_until_ready(settings, stack)
    except BaseException:
        stop_stack(settings)
        raise
    return stack


def stop_stack(settings: Settings) -> bool:
    """End every process of the stack; say whether there was one."""
    recorded = _read_state(settings)
    if recorded is not None:
        end_trees([live for process in recorded.processes if (live := process.running())])
        _state_path(settings).unlink()
    stop_postgres(settings.work / "postgres")
    return recorded is not None


@contextlib.contextmanager
def stack(settings: Settings) -> Iterator[AirflowApi]:
    """Run the stack for the length of a block; leave one that was up before as it was."""
    was_up = running_stack(settings) is not None
    running = start_stack(settings)
    try:
        with connect(settings, running) as api:
            yield api
    finally:
        if not was_up:
            stop_stack(settings)


def connect(settings: Settings, running: Running) -> AirflowApi:
    """Return a client of the stack's API, logged in."""
    return AirflowApi(running.url, USER, password(settings))


def _provision(settings: Settings, env: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "instar.orchestrate.provision"],
        env=env,
        cwd=settings.home,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StackFailed(f"Airflow's database could not be prepared:\n{done.stderr[-3000:]}", help="Try make down.")


def _wait_until_ready(settings: Settings, stack: Running) -> None:
    """Wait until every component is healthy and every DAG of the folder is loaded."""
    expected = {path.stem for path in (settings.home / "dags").glob("instar_*.py")}
    deadline = time.monotonic() + START_SECONDS
    state = "no answer yet"
    while time.monotonic() < deadline:
        for process in stack.processes:
            if process.running() is None:
                log = settings.work / "logs" / f"{process.name}.log"
                tail = "\n".join(log.read_text().splitlines()[-30:])
                raise StackFailed(f"Airflow's {process.name} ended:\n{tail}", help=f"Its log is {log}.")
        try:
            with connect(settings, stack) as api:
                missing = api.unhealthy() or sorted(expected - api.dags()) or api.import_errors()
            if not missing:
                return
            state = f"waiting for {', '.join(missing)}"
        except httpx.HTTPError as error:
            state = str(error)
        time.sleep(0.3)
    raise StackFailed(f"Airflow was not ready after {START_SECONDS} s: {state}.", help="See logs in the work folder.")


def choose_port(configured: int) -> int:
    """Return the configured port if it can be listened on, or else the first free one where none is configured."""
    if configured:
        try:
            _try_port(configured)
        except (OSError, OverflowError) as error:
            raise PortUnusable(
                f"Port {configured} of {HOST} can't be used: {error}.",
                help="Set INSTAR_API_PORT to another one, or to 0 for the first that is free.",
            ) from error
        return configured
    for port in range(FIRST_PORT, FIRST_PORT + 1000):
        with contextlib.suppress(OSError):
            _try_port(port)
            return port
    raise PortUnusable(f"No port of {HOST} from {FIRST_PORT} is free.", help="Set INSTAR_API_PORT.")


def _try_port(port: int) -> None:
    with socket.socket() as listener:
        # As the server does: connections that are closed already are not in the way.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))


def _state_path(settings: Settings) -> Path:
    return settings.work / "stack.json"


def _read_state(settings: Settings) -> Running | None:
    path = _state_path(settings)
    if not path.exists():
        return None
    state = json.loads(path.read_text())
    return Running(state["port"], tuple(Process(**process) for process in state["processes"]))


def _write_state(settings: Settings, stack: Running) -> None:
    draft = _state_path(settings).with_suffix(".draft")
    draft.write_text(json.dumps(asdict(stack)))
    draft.replace(_state_path(settings))  # whole: whoever comes after a crash must find the processes
