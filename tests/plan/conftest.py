"""The stores that writers race on."""

import uuid
from pathlib import Path

import pytest

from instar.storage.config import open_store
from instar.storage.local import LocalStore
from instar.storage.protocol import Store
from tests.services.s3 import S3Server


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    if request.param == "local":
        return LocalStore(tmp_path / "lake")
    server: S3Server = request.getfixturevalue("s3_server")
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return open_store(server.config(uuid.uuid4().hex))
