import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from instar.storage.config import open_store
from instar.storage.faulty import Fault, FaultKind, FaultyStore, OverwritingStore
from instar.storage.local import LocalStore
from instar.storage.memory import MemoryStore
from instar.storage.probe import probe
from instar.storage.protocol import AlreadyExists, NotFound, ObjectInfo, Store
from tests.services.s3 import S3Server

NAMES = ["put if absent", "read after write", "list after write", "overwrite is visible", "delete"]


def broken(store: Store, racers: int = 32, rounds: int = 3) -> dict[str, str]:
    """Return the promises that the store did not keep, with what was seen."""
    return {check.name: check.detail for check in probe(store, "probe", racers, rounds) if not check.ok}


def test_an_honest_store_passes_and_is_left_as_it_was(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("mine", b"")
    assert [(check.name, check.ok) for check in probe(store, "probe")] == [(name, True) for name in NAMES]
    assert [info.key for info in store.list("")] == ["mine"]


@pytest.mark.s3
def test_the_s3_server_passes_and_is_left_as_it_was(s3: S3Server) -> None:
    store = open_store(s3.config("probed"))
    assert broken(store, racers=8, rounds=2) == {}
    assert list(store.list("")) == []


def test_a_store_that_overwrites_is_called_out() -> None:
    store = OverwritingStore(MemoryStore())
    assert "32 of 32 racers" in broken(store)["put if absent"]
    assert list(store.list("")) == []


class TwoFaced(MemoryStore):
    """Refuse a put-if-absent, and overwrite all the same."""

    def put_if_absent(self, key: str, data: bytes) -> None:
        try:
            super().put_if_absent(key, data)
        except AlreadyExists:
            self.put(key, data)
            raise


def test_a_store_that_refuses_but_overwrites_is_called_out() -> None:
    assert "put if absent" in broken(TwoFaced())


class Forgetful(MemoryStore):
    """Show the first version for ever."""

    def put(self, key: str, data: bytes) -> None:
        try:
            self.get(key)
        except NotFound:
            super().put(key, data)


def test_a_store_that_shows_old_versions_is_called_out() -> None:
    assert list(broken(Forgetful())) == ["overwrite is visible"]


class Undying(MemoryStore):
    def delete(self, keys: object) -> None:
        pass


def test_a_store_that_does_not_delete_is_called_out() -> None:
    assert list(broken(Undying())) == ["delete"]


def test_a_stale_listing_is_called_out() -> None:
    store = FaultyStore(MemoryStore(), [Fault("list", 2, FaultKind.STALE_LIST)])
    assert list(broken(store)) == ["list after write"]


class Blind(MemoryStore):
    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        return iter(())


def test_an_empty_listing_is_called_out() -> None:
    assert list(broken(Blind())) == ["list after write"]


def test_a_winner_whose_reply_was_lost_is_a_winner() -> None:
    assert broken(FaultyStore(MemoryStore(), [Fault("put_if_absent", 1, FaultKind.FAIL_AFTER)])) == {}


def test_an_error_of_the_store_fails_its_check_alone_and_is_told() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put", 1, FaultKind.FAIL_BEFORE)])
    found = broken(store)
    assert list(found) == ["overwrite is visible"]
    assert "failed before it happened" in found["overwrite is visible"]
    assert list(store.list("")) == []


def test_everything_happens_in_a_folder_of_its_own() -> None:
    store = FaultyStore(MemoryStore())
    probe(store, "some/where/", racers=2, rounds=1, uuids=lambda: uuid.UUID(int=7))
    touched = {key for _, keys in store.calls for key in keys.split(" ")}
    assert all(key.startswith("some/where/00000000-0000-0000-0000-000000000007/") for key in touched)
