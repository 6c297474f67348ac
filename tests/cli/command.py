"""Run the command `instar` as a person does."""

import os
import subprocess
import sys
from pathlib import Path

INSTAR = Path(sys.executable).parent / "instar"


def instar(*arguments: str, work: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run the command on a work folder of its own and return what it said."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("INSTAR_")}
    env = {**inherited, "INSTAR_WORK_DIR": str(work), "TERM": "dumb", "COLUMNS": "200", **settings}
    return subprocess.run([INSTAR, *arguments], env=env, cwd=work, capture_output=True, text=True, check=False)
