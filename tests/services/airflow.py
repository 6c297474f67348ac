"""A real Airflow on free ports, with the product's DAGs and some that misbehave."""

import dataclasses
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airflow]:
    """Run Airflow once for all tests that need it."""
    settings = lay_out_home(tmp_path_factory.mktemp("airflow"))
    os.environ.pop("AWS_PROFILE", None)
    running = start_stack(settings)
    try:
        with connect(settings, running) as api:
            yield Airflow(settings, running, api)
    finally:
        stop_stack(settings)
        assert running_stack(settings) is None
