import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import instar
from instar.config import Settings
from instar.engine import shipping
from instar.engine.shipping import library_zip
from instar.quality.gate import SUITES

LIBRARY = Path(instar.__file__).parent


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the library that is shipped instead of it."""
    copy = tmp_path / "copy" / "instar"
    shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(shipping, "__file__", str(copy / "engine" / "shipping.py"))
    return copy


def ship(folder: Path) -> Path:
    return library_zip(Settings(work_dir=folder))


def test_the_same_content_makes_the_same_zip_anywhere(copy: Path, tmp_path: Path) -> None:
    first, second = ship(tmp_path / "first"), ship(tmp_path / "second")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert first.parent == tmp_path / "first" / "library"


def test_the_time_of_a_change_is_not_content(copy: Path, tmp_path: Path) -> None:
    before = ship(tmp_path / "work").name
    os.utime(copy / "errors.py", (1, 1))
    assert ship(tmp_path / "work").name == before


def test_a_change_makes_another_zip_and_leaves_the_old_one(copy: Path, tmp_path: Path) -> None:
    before = ship(tmp_path / "work")
    with (copy / "errors.py").open("a") as source:
        source.write("# changed\n")
    after = ship(tmp_path / "work")
    assert before != after
    assert {path.name for path in before.parent.iterdir()} == {before.name, after.name}


def test_a_module_that_moves_makes_another_zip(copy: Path, tmp_path: Path) -> None:
    before = ship(tmp_path / "work")
    (copy / "errors.py").rename(copy / "failures.py")
    assert ship(tmp_path / "work") != before


def test_a_zip_is_made_once(copy: Path, tmp_path: Path) -> None:
    before = ship(tmp_path / "work").stat()
    after = ship(tmp_path / "work").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_library_is_imported_from_the_zip(tmp_path: Path) -> None:
    shipped = ship(tmp_path / "work")
    command = "import instar.doctor.store, instar.model.schema; print(instar.model.schema.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(shipped)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(shipped / "instar" / "model" / "schema.py")


def test_every_module_and_every_suite_is_in_the_zip_and_nothing_else(tmp_path: Path) -> None:
    wanted = {path for suffix in ("py", "json") for path in LIBRARY.rglob(f"*.{suffix}")}
    assert {SUITES / "doctor.json"} <= wanted
    with zipfile.ZipFile(ship(tmp_path)) as archive:
        assert set(archive.namelist()) == {path.relative_to(LIBRARY.parent).as_posix() for path in wanted}
