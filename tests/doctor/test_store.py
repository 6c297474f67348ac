from collections.abc import Callable
from pathlib import Path

import pytest

from instar.doctor import store as examined
from instar.doctor.finding import Area, Finding, Level
from instar.doctor.store import examine_access, examine_promises
from instar.storage.config import StoreConfig
from instar.storage.faulty import Fault, FaultKind, FaultyStore, OverwritingStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store

CONFIG = StoreConfig("file:///unused")

Plant = Callable[[Store], None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Return a function that makes the doctor examine a store with faults."""
    return lambda store: monkeypatch.setattr(examined, "open_store", lambda _config: store)


def access(config: StoreConfig) -> Finding:
    return examine_access(Area.EXECUTOR, "worker-1", config, "worker-1-7")


def test_a_store_that_can_be_used_is_ok_and_left_as_it_was(tmp_path: Path) -> None:
    finding = access(StoreConfig(tmp_path.as_uri()))
    assert (finding.area, finding.where, finding.check) == (Area.EXECUTOR, "worker-1", "store access")
    assert (finding.level, finding.remedy) == (Level.OK, "")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_store_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    finding = access(StoreConfig((tmp_path / "file" / "lake").as_uri()))
    assert finding.level is Level.ERROR
    assert finding.found
    assert "credentials" in finding.remedy


@pytest.mark.parametrize("uri", ["hdfs://lake", "lake", "file://elsewhere/lake", "s3://"])
def test_an_address_that_names_no_store_is_an_error_with_its_own_remedy(uri: str) -> None:
    finding = access(StoreConfig(uri))
    assert finding.level is Level.ERROR
    assert uri in finding.found
    assert "file:///" in finding.remedy or "s3://bucket" in finding.remedy


@pytest.mark.parametrize("operation", ["put", "get", "list", "delete"])
def test_every_operation_that_fails_is_an_error(plant: Plant, operation: str) -> None:
    plant(FaultyStore(MemoryStore(), [Fault(operation, 1, FaultKind.FAIL_BEFORE)]))  # type: ignore[arg-type]
    finding = access(CONFIG)
    assert (finding.level, operation in finding.found) == (Level.ERROR, True)


def test_a_store_that_does_not_list_what_was_written_is_an_error(plant: Plant) -> None:
    plant(FaultyStore(MemoryStore(), [Fault("list", 1, FaultKind.STALE_LIST)]))
    finding = access(CONFIG)
    assert (finding.level, finding.found) == (Level.ERROR, "wrote, but could not see it")
    assert finding.remedy


def test_a_store_that_keeps_its_promises_is_ok(tmp_path: Path) -> None:
    config = StoreConfig(tmp_path.as_uri())
    findings = list(examine_promises(config, racers=8))
    assert {"put if absent", "read after write", "list after write"} <= {finding.check for finding in findings}
    assert {(finding.area, finding.where, finding.level) for finding in findings} == {
        (Area.STORE, config.uri, Level.OK)
    }
    assert {finding.remedy for finding in findings} == {""}


def test_a_store_that_overwrites_on_put_if_absent_is_called_out(plant: Plant) -> None:
    plant(OverwritingStore(MemoryStore()))
    broken = {finding.check: finding for finding in examine_promises(CONFIG, 8) if finding.level is Level.ERROR}
    finding = broken["put if absent"]
    assert "8 of 8 racers" in finding.found
    assert "Commits rest on it" in finding.meaning
    assert "Do not keep a lake there" in finding.remedy
