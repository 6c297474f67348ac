"""An ingest whose driver is killed after its parts are written, before the commit."""

import os
import signal
import sys
from typing import Any
from unittest.mock import patch

import ingest


def killed(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with patch("instar.plan.write.commit", killed):
        sys.exit(ingest.main(sys.argv[1:]))
