"""The versions: what pyproject.toml asks for, what the lock decides, what is exported and what is installed."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
EXPORT = (ROOT / "requirements.txt").read_text()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
DIRECT = [Requirement(text) for text in (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"])]

PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[^\s;*]+( ; \S.*)?")
UNWANTED = "pyspark-client"
REASON = "pyspark-client writes its own files over those of pyspark in the same folder, and then Spark won't start"


def without_hashes(lock: str) -> Iterator[str]:
    """Yield the pins of a lock, the hashes and the continuations that lead to them stripped."""
    for line in lock.splitlines():
        if not line.strip().startswith("--hash="):
            yield line.removesuffix("\\").rstrip()


def pins() -> Iterator[Requirement]:
    """Yield the pins that apply to this interpreter and platform."""
    for line in without_hashes(LOCK):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement


PINNED = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins()}


def test_the_requirements_are_the_export_of_the_lock() -> None:
    assert EXPORT.splitlines() == list(without_hashes(LOCK))


def test_every_requirement_is_one_exact_version() -> None:
    assert [line for line in EXPORT.splitlines() if not PIN.fullmatch(line)] == []


def test_every_locked_version_has_a_hash() -> None:
    bare = [pin for pin in re.split(r"\n(?=\S)", LOCK.strip()) if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", pin)]
    assert bare == []


@pytest.mark.parametrize("text", [LOCK, EXPORT], ids=["requirements.lock", "requirements.txt"])
def test_no_file_says_where_packages_come_from(text: str) -> None:
    """The machine's own index decides, so that a mirror works without an edit."""
    options = [line for line in text.splitlines() if line.startswith("-")]
    assert options == []
    assert "://" not in text


@pytest.mark.parametrize("wanted", DIRECT, ids=lambda wanted: wanted.name)
def test_every_direct_dependency_is_locked_within_its_bounds(wanted: Requirement) -> None:
    version = PINNED.get(canonicalize_name(wanted.name))
    assert version is not None, f"{wanted.name} is not in requirements.lock: lock again."
    assert wanted.specifier.contains(version, prereleases=True)


def test_what_is_installed_is_what_is_pinned() -> None:
    installed = {canonicalize_name(found.name): found.version for found in distributions()}
    tools = {"pip", "setuptools", "wheel", "instar"}
    differing = {name: (pin, installed.get(name)) for name, pin in PINNED.items() if installed.get(name) != pin}
    assert differing == {}, "Versions as (pinned, installed). Make the virtual environment again."
    assert installed.keys() - PINNED.keys() - tools == set(), "Installed, but not pinned."


def test_pyspark_client_is_kept_out() -> None:
    """The Spark provider asks for pyspark-client, a second distribution of the folder pyspark that lacks Spark itself.

    Both write the same files; whichever is installed last wins, and with the client's files there no session of our
    own can start. pyproject.toml overrides the provider's wish.
    """
    locked = {canonicalize_name(Requirement(line).name) for line in without_hashes(LOCK)}
    assert UNWANTED not in locked, REASON
    assert UNWANTED not in {canonicalize_name(found.name) for found in distributions()}, REASON


def test_the_override_that_keeps_pyspark_client_out_never_applies() -> None:
    overrides = [Requirement(text) for text in PROJECT["tool"]["uv"]["override-dependencies"]]
    (override,) = [found for found in overrides if found.name == UNWANTED]
    assert override.marker is not None
    assert not override.marker.evaluate(), REASON
