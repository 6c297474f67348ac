"""The landing folder: where the files of each interval arrive.

`<landing>/<start of the interval>/<name>.lp`, the start in UTC as 20260131T235900Z. Keys here are relative to the
landing folder, as its store lists them.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from instar.errors import InstarError

SUFFIX = ".lp"


class AmbiguousInterval(InstarError):
    """An interval start that does not name one folder."""


def landing_prefix(interval_start: datetime) -> str:
    """Return the prefix below which the files of an interval land."""
    if interval_start.tzinfo is None or interval_start.microsecond:
        raise AmbiguousInterval(
            f"The interval start {interval_start.isoformat()} is not a whole second in a time zone.",
            help="Give one like 2026-01-31T23:59:00+00:00.",
        )
    return f"{interval_start.astimezone(UTC):%Y%m%dT%H%M%SZ}/"


def landing_files(keys: Iterable[str], interval_start: datetime) -> tuple[str, ...]:
    """Return the files of an interval among the keys of a landing folder, in the order in which they apply.

    Names that begin with a dot are files that are still being written.
    """
    prefix = landing_prefix(interval_start)
    names = (key.removeprefix(prefix) for key in keys if key.startswith(prefix))
    return tuple(
        sorted(
            prefix + name for name in names if name.endswith(SUFFIX) and "/" not in name and not name.startswith(".")
        )
    )
