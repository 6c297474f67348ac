"""Durations as people write them: 30s, 10m, 24h, 7d."""

import re

from instar.errors import InstarError

_MICROS = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(?P<number>[0-9]{1,9})(?P<unit>[smhd])")


class InvalidDuration(InstarError):
    """Text that is no duration."""


def parse_duration(text: str) -> int:
    """Return microseconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise InvalidDuration(f"{text!r} is no duration.", help="Write a number and its unit: 30s, 10m, 24h or 7d.")
    return int(match["number"]) * _MICROS[match["unit"]]
