"""Literals as written, before the other side of a comparison gives them a type."""

import datetime as dt
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from instar.errors import InstarError
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_BOOLEANS = {"true": True, "t": True, "yes": True, "y": True, "on": True, "1": True} | {
    "false": False,
    "f": False,
    "no": False,
    "n": False,
    "off": False,
    "0": False,
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e([+-]?\d+))?", re.IGNORECASE | re.ASCII)
_SPECIAL_FLOATS = {
    "nan": math.nan,
    "infinity": math.inf,
    "inf": math.inf,
    "+infinity": math.inf,
    "+inf": math.inf,
    "-infinity": -math.inf,
    "-inf": -math.inf,
}
_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2})([ T](\d{2}):(\d{2})(:(\d{2})(\.(\d{1,9}))?)?)?", re.IGNORECASE | re.ASCII)
# PostgreSQL keeps the infinities as the ends of the microsecond range.
_INFINITIES_NS = {"infinity": INT64_MAX * 1000, "-infinity": INT64_MIN * 1000}
_LARGEST_EXPONENT = 5000
_EPOCH = dt.date(1970, 1, 1)


class BadLiteral(InstarError):
    """A literal that is not a value of the type it is used as."""


@dataclass(frozen=True)
class Written:
    """A literal as written.

    A number (int64) and a timestamp (timestamp_ns, in nanoseconds) are exact and may lie outside their type's range.
    Without a type it is quoted text or NULL, and takes the type of what it is compared with.
    """

    value: bool | Fraction | float | str | bytes | None
    type: DataType | None
    where: str

    def bad(self, data_type: DataType, help: str) -> BadLiteral:
        return BadLiteral(f"{self.value!r} {self.where} is not a value of type {data_type}.", help=help)


def typed(written: Written, data_type: DataType) -> Written:
    """Read quoted text as `data_type`, as PostgreSQL reads a literal of unknown type; leave others as they are."""
    if written.type is not None:
        return written
    kind = TIMESTAMP_NS if data_type == TIMESTAMP else data_type
    if written.value is None:
        return Written(None, kind, written.where)
    text = str(written.value)
    value: bool | Fraction | float | str | bytes = text if kind == STRING else _READERS[kind](written, text.strip())
    return Written(value, kind, written.where)


def number(text: str, where: str) -> Written:
    """Read an unquoted number exactly."""
    return Written(_exact(Written(text, None, where), text, INT64), INT64, where)


def as_float(written: Written) -> float | None:
    """Return the nearest float64; refuse a number that float64 can't hold."""
    if not isinstance(written.value, Fraction):
        return None if written.value is None else float(written.value)
    try:
        nearest = float(written.value)
    except OverflowError:
        nearest = math.inf
    if math.isinf(nearest) or (written.value and not nearest):
        raise BadLiteral(f"The number {written.where} is outside the range of float64.", help="Use a nearer one.")
    return nearest


def _read_bool(written: Written, text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise written.bad(BOOL, "Write TRUE or FALSE.")
    return _BOOLEANS[text.lower()]


def _read_int(written: Written, text: str) -> Fraction:
    if not re.fullmatch(r"[+-]?\d{1,40}", text, re.ASCII) or not INT64_MIN <= int(text) <= INT64_MAX:
        raise written.bad(INT64, "Write a whole number, without quotes if it may be fractional or larger.")
    return Fraction(int(text))


def _read_float(written: Written, text: str) -> float:
    if text.lower() in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[text.lower()]
    value = as_float(Written(_exact(written, text, FLOAT64), FLOAT64, written.where))
    return -0.0 if not value and text.startswith("-") else value or 0.0


def _read_bytes(written: Written, text: str) -> bytes:
    if not re.fullmatch(r"\\x([0-9a-f]{2})*", text, re.IGNORECASE | re.ASCII):
        raise written.bad(BYTES, r"Write bytes in hexadecimal, as '\x00ff'.")
    return bytes.fromhex(text[2:])


def _read_instant(written: Written, text: str) -> Fraction:
    if text.lower() in _INFINITIES_NS:
        return Fraction(_INFINITIES_NS[text.lower()])
    advice = "Write it as '2026-01-31 23:59:59.123456789', without a time zone."
    match = _INSTANT.fullmatch(text)
    if not match:
        raise written.bad(TIMESTAMP, advice)
    day, _, hour, minute, _, second, _, fraction = match.groups()
    try:
        time = dt.time(int(hour or 0), int(minute or 0), int(second or 0))
        days = (dt.date.fromisoformat(day) - _EPOCH).days
    except ValueError:
        raise written.bad(TIMESTAMP, advice) from None
    seconds = days * 86_400 + time.hour * 3_600 + time.minute * 60 + time.second
    return Fraction(seconds * 10**9 + int((fraction or "0").ljust(9, "0")))


def _exact(written: Written, text: str, data_type: DataType) -> Fraction:
    match = _NUMBER.fullmatch(text)
    if not match:
        raise written.bad(data_type, "Write a number as 12, 1.5 or 1.5e3.")
    # A short text with a huge exponent would need memory for all its digits.
    if len(text) > _LARGEST_EXPONENT or abs(int(match[3] or 0)) > _LARGEST_EXPONENT:
        raise BadLiteral(f"The number {written.where} is too long.", help="Use one nearer to the column's range.")
    return Fraction(Decimal(text))


_READERS: dict[DataType, Callable[[Written, str], bool | Fraction | float | bytes]] = {
    BOOL: _read_bool,
    INT64: _read_int,
    FLOAT64: _read_float,
    BYTES: _read_bytes,
    TIMESTAMP_NS: _read_instant,
}
