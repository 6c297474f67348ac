"""A real Airflow on free ports, with the product's DAGs and some that misbehave."""

import contextlib
import dataclasses
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from instar.config import Settings
from instar.orchestrate.api import AirflowApi
from instar.orchestrate.stack import Running, connect, running_stack, start_stack, stop_stack

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Airflow:
    settings: Settings
    running: Running
    api: AirflowApi

    def run(self, dag_id: str, conf: dict[str, object] | None = None) -> tuple[str, str]:
        """Trigger a DAG, wait for it, and return the run's id and state."""
        run_id = self.api.trigger(dag_id, conf)
        return run_id, self.api.wait(dag_id, run_id, timeout=180)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def lay_out_home(home: Path) -> Settings:
    """Make a home of the product's files and of those that only tests need; share what is slow to make."""
    for folder in ("dags", "spark_jobs"):
        (home / folder).mkdir(parents=True)
        for source in (ROOT / folder, ROOT / "tests" / folder):
            for file in source.glob("*.py"):
                shutil.copy(file, home / folder / file.name)
    (home / "plugins").symlink_to(ROOT / "plugins")
    (home / "requirements.txt").symlink_to(ROOT / "requirements.txt")
    (home / ".work").mkdir()
    classes = ROOT / ".work" / "java-classes"
    classes.mkdir(parents=True, exist_ok=True)
    (home / ".work" / "java-classes").symlink_to(classes)
    return Settings(home=home, api_port=free_port())


@contextlib.contextmanager
def run_airflow(**changes: Any) -> Iterator[Airflow]:
    """Run an Airflow of its own, with some settings changed; leave nothing behind.

    Its home is not below pytest's folder, which each new session of pytest closes to other users: as root's child,
    PostgreSQL runs as another user.
    """
    with tempfile.TemporaryDirectory(prefix="instar-") as folder:
        settings = dataclasses.replace(lay_out_home(Path(folder) / "home"), **changes)
        running = start_stack(settings)
        try:
            with connect(settings, running) as api:
                yield Airflow(settings, running, api)
        finally:
            stop_stack(settings)
            assert running_stack(settings) is None


@pytest.fixture(scope="session")
def airflow() -> Iterator[Airflow]:
    """Run Airflow once for all tests that need it."""
    os.environ.pop("AWS_PROFILE", None)
    with run_airflow() as running:
        yield running
