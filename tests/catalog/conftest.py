"""The stores that commits race on."""

import uuid
from pathlib import Path

import pytest

from instar.storage.config import open_store
from instar.storage.local import LocalStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store
from tests.catalog.tally import TRIED
from tests.services.s3 import S3Server


@pytest.fixture(params=["memory", "local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    match request.param:
        case "memory":
            return MemoryStore()
        case "local":
            return LocalStore(tmp_path / "lake")
        case _:
            server: S3Server = request.getfixturevalue("s3_server")
            for name, value in server.environment().items():
                monkeypatch.setenv(name, value)
            return open_store(server.config(uuid.uuid4().hex))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TRIED:
        tried = ", ".join(f"{count:,} {what}" for what, count in sorted(TRIED.items()))
        terminalreporter.write_line(f"catalog: tried {tried}")
