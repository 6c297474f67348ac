"""Processes that this checkout started: started detached, remembered, found again, ended with all their children."""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

GRACE_SECONDS = 10.0
_started: list[subprocess.Popen[bytes]] = []
"""Keeps what this process started from being collected while it runs."""


@dataclass(frozen=True)
class Process:
    """A process, told from a later one of the same number by its start time."""

    name: str
    pid: int
    created: float

    def running(self) -> psutil.Process | None:
        """Return the live process, or None if it has ended."""
        try:
            process = psutil.Process(self.pid)
            alive = process.create_time() == self.created and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if alive else None


def spawn(name: str, command: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path) -> Process:
    """Start a command detached from this process, its output in `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        started = subprocess.Popen(
            command, env=env, cwd=cwd, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True
        )
    _started.append(started)
    return Process(name, started.pid, psutil.Process(started.pid).create_time())


def end_trees(roots: Iterable[psutil.Process], grace: float = GRACE_SECONDS) -> None:
    """End processes and all their descendants: ask, wait, then kill."""
    doomed: list[psutil.Process] = []
    for root in roots:
        try:
            doomed += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    for process in doomed:
        _signal(process.terminate)
    _, stubborn = psutil.wait_procs(doomed, timeout=grace)
    for process in stubborn:
        _signal(process.kill)
    psutil.wait_procs(stubborn, timeout=grace)
    _started[:] = [process for process in _started if process.poll() is None]


def _signal(send: Callable[[], None]) -> None:
    try:
        send()
    except psutil.NoSuchProcess:
        return
