"""Run an operation on a local lake, and end this process with SIGKILL before or after one of its storage operations."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from instar.storage.faulty import FaultyStore
from instar.storage.local import LocalStore
from tests.catalog.scenarios import SCENARIOS


class Killing(FaultyStore):
    def __init__(self, root: Path, nth: int, moment: str) -> None:
        super().__init__(LocalStore(root))
        self._nth = nth
        self._moment = moment

    def _run(self, operation: Any, key: str, action: Callable[[], Any], instead: Any = None) -> Any:
        self.calls.append((operation, key))
        struck = len(self.calls) == self._nth
        if struck and self._moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = action()
        if struck:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


if __name__ == "__main__":
    _, folder, name, number, when = sys.argv
    SCENARIOS[name].run(Killing(Path(folder), int(number), when))
