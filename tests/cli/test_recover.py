"""The page on recovery is rehearsed: each line that it shows is run, and prints what the page shows."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from instar.cli import app
from instar.errors import InstarError

PAGE = Path(__file__).parents[2] / "docs/howto/recover.md"
_BLOCK = re.compile(r"^```(?P<kind>console|python)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str, str]]:
    """Return what a reader does, in order: the kind of step, what is typed, what is shown."""
    found = []
    for block in _BLOCK.finditer(PAGE.read_text()):
        if block["kind"] == "python":
            found.append(("python", block["text"], ""))
            continue
        for step in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
            typed, _, shown = step.partition("\n")
            found.append(("instar" if typed.startswith("instar ") else "shell", typed, shown))
    return found


def instar(arguments: list[str]) -> str:
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, InstarError):
        return f"error: {result.exception}"
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_every_step_of_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INSTAR_LAKE_URI", f"file://{tmp_path}/lake")
    names: dict[str, Any] = {}
    for kind, typed, shown in steps():
        if kind == "python":
            exec(typed, names)
        elif kind == "shell":
            subprocess.run(["bash", "-ec", typed], check=True, cwd=tmp_path, env=dict(os.environ))
        else:
            printed = instar(typed.split()[1:])
            pieces = [re.escape(piece) for piece in re.split(r"…\n?", shown)]
            assert re.fullmatch(".*".join(pieces), printed, re.DOTALL), f"{typed}\n{printed}\n--- is not\n{shown}"


def test_every_repair_command_is_on_the_page() -> None:
    typed = " ".join(line for kind, line, _ in steps() if kind == "instar")
    for command in ("show", "checkpoint", "prune", "restore", "rebuild", "fsck", "gc", "retire", "history"):
        assert f"instar catalog {command}" in typed
