from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from instar.doctor import machine
from instar.doctor.finding import Area, Finding, Level
from instar.doctor.machine import DRIVER_PACKAGES, PACKAGES, UNWANTED, examine_packages, examine_resources, installed

WANTED = {"python": "3.11", "pyspark": "4.3.0", "pyarrow": "26.0.1"}


def packages(found: dict[str, str]) -> dict[str, Finding]:
    return {finding.check: finding for finding in examine_packages(Area.EXECUTOR, "worker-1", WANTED, found)}


def test_packages_as_wanted_are_ok() -> None:
    (finding,) = packages(WANTED).values()
    assert (finding.area, finding.where, finding.level) == (Area.EXECUTOR, "worker-1", Level.OK)
    assert (finding.found, finding.remedy) == ("3 packages as wanted", "")


def test_packages_beyond_those_wanted_are_ok() -> None:
    assert packages({**WANTED, "left-pad": "1.0"})["packages"].level is Level.OK


def test_another_version_is_an_error_that_says_what_to_install() -> None:
    finding = packages({**WANTED, "pyarrow": "25.0.0"})["packages"]
    assert (finding.level, finding.found) == (Level.ERROR, "pyarrow 25.0.0")
    assert finding.remedy == "Install there what requirements.txt pins: pyarrow 26.0.1."


def test_a_missing_package_is_an_error_that_says_what_to_install() -> None:
    finding = packages({name: WANTED[name] for name in ("python", "pyarrow")})["packages"]
    assert (finding.level, finding.found) == (Level.ERROR, "pyspark missing")
    assert "pyspark 4.3.0" in finding.remedy
    assert "pyarrow" not in finding.remedy


def test_pyspark_client_is_called_out_beside_good_packages() -> None:
    found = packages({**WANTED, UNWANTED: "4.3.0"})
    assert found["packages"].level is Level.OK
    finding = found["pyspark-client"]
    assert (finding.level, finding.found) == (Level.ERROR, "4.3.0")
    assert "Uninstall pyspark-client" in finding.remedy


def test_what_is_installed_here_is_found() -> None:
    found = installed((*PACKAGES, "no-such-package"))
    assert found == {"python": found["python"], **{name: version(name) for name in PACKAGES}}
    assert found["python"].startswith("3.")


def test_pyspark_client_is_looked_for_although_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(name: str) -> str:
        if name != UNWANTED:
            raise PackageNotFoundError(name)
        return "4.3.0"

    monkeypatch.setattr(machine, "version", planted)
    assert installed(())[UNWANTED] == "4.3.0"


def test_this_environment_is_as_wanted() -> None:
    found = installed(DRIVER_PACKAGES)
    assert set(DRIVER_PACKAGES) <= found.keys()
    assert UNWANTED not in found


def resources(folder: Path) -> dict[str, Finding]:
    return {finding.check: finding for finding in examine_resources(Area.DRIVER, "here", folder)}


def test_enough_disk_and_memory_are_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LEAST_DISK", 1)
    monkeypatch.setattr(machine, "LEAST_MEMORY", 1)
    found = resources(tmp_path)
    assert {check: (finding.level, finding.remedy) for check, finding in found.items()} == {
        "disk": (Level.OK, ""),
        "memory": (Level.OK, ""),
    }
    assert str(tmp_path) in found["disk"].meaning


@pytest.mark.parametrize(("check", "limit"), [("disk", "LEAST_DISK"), ("memory", "LEAST_MEMORY")])
def test_too_little_is_a_warning_that_says_how_much_is_advised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str, limit: str
) -> None:
    monkeypatch.setattr(machine, limit, 2**40 * machine.GIB)
    finding = resources(tmp_path)[check]
    assert finding.level is Level.WARNING
    assert f"{2**40} GiB are advised" in finding.remedy
    assert finding.found.endswith("GiB free")
