"""The stores that every conformance test runs on."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from instar.storage.config import StoreConfig, open_store
from instar.storage.faulty import FaultyStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store
from tests.services.s3 import S3Server

StoreMaker = Callable[[], Store]


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Return the server, with its credentials in the environment."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(params=["memory", "local", "faultless", pytest.param("s3", marks=pytest.mark.s3)])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> StoreMaker:
    """Return a maker of stores, each with an empty root of its own."""

    def make() -> Store:
        name = uuid.uuid4().hex
        match request.param:
            case "memory":
                return MemoryStore(name)
            case "local":
                return open_store(StoreConfig((tmp_path / name).as_uri()))
            case "faultless":
                return FaultyStore(MemoryStore(name))
            case _:
                return open_store(request.getfixturevalue("s3").config(name))

    return make


@pytest.fixture
def store(new_store: StoreMaker) -> Store:
    return new_store()
