"""What anybody on the machine can see of the processes that tests started."""

import contextlib

import psutil


def command_lines() -> set[str]:
    """Return the command lines of all descendants of this process."""
    seen = set()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may end at any moment
            seen.add(" ".join(child.cmdline()))
    return seen
