"""One line of line protocol, read and written with care.

The grammar is the common shape, `measurement[,tag=value...] field=value[,field=value...] timestamp`, with the simple
escapes alone. Whatever else a line holds makes it malformed; nothing is guessed.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from instar.errors import InstarError

FieldValue = bool | int | float | str

_MEASUREMENT = re.compile(r"(?:[^, \\]|\\[,= ])+")
_NAME = re.compile(r"(?:[^,= \\]|\\[,= ])+")
_STRING = re.compile(r'"(?:[^"\\]|\\["\\])*')
_BARE = re.compile(r"[^, ]*")
_FLOAT = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"(-?[0-9]+)i")
_UNSIGNED = re.compile(r"[0-9]+u")
_TIMESTAMP = re.compile(r"-?[0-9]+")
_BOOLEANS = dict.fromkeys(("t", "T", "true", "True", "TRUE"), True) | dict.fromkeys(
    ("f", "F", "false", "False", "FALSE"), False
)
TRUE_WORDS = tuple(word for word, value in _BOOLEANS.items() if value)
FALSE_WORDS = tuple(word for word, value in _BOOLEANS.items() if not value)

INT64_BOUNDS = (-(2**63), 2**63 - 1)
TIME_BOUNDS = (-(2**63) + 2, 2**63 - 2)
"""InfluxDB's own. The lowest int64 would show as no time at all in pandas."""
_INT64_DIGITS = 19


class MalformedLine(InstarError):
    """A line that can't become a row of the table it is read for."""


@dataclass(frozen=True)
class Line:
    """What one line says."""

    measurement: str
    tags: Mapping[str, str]
    fields: Mapping[str, FieldValue]
    time: int


def parse_measurement(text: str) -> str:
    """Return the measurement that a line belongs to, whatever follows it."""
    return _unescape(_expect(_MEASUREMENT, text, 0, "a measurement"))


def parse_line(text: str) -> Line:
    """Read one line, which holds neither its line feed nor a comment."""
    token = _expect(_MEASUREMENT, text, 0, "a measurement")
    at = len(token)
    names: set[str] = set()
    tags: dict[str, str] = {}
    while text.startswith(",", at):
        name, at = _parse_name(text, at + 1, "a tag", names)
        value = _expect(_NAME, text, at, "the value of a tag")
        tags[name] = _unescape(value)
        at += len(value)
    fields: dict[str, FieldValue] = {}
    at = _skip(" ", text, at)
    while True:
        name, at = _parse_name(text, at, "a field", names)
        fields[name], at = _parse_value(text, at)
        if not text.startswith(",", at):
            break
        at += 1
    if at == len(text):
        raise MalformedLine("There is no timestamp.")
    return Line(_unescape(token), tags, fields, _parse_time(text[_skip(" ", text, at) :]))


def render_line(line: Line) -> str:
    """Write a line that `parse_line` reads back as it was.

    Names and tags are not empty; no text holds a line feed, and names and tags no backslash: line protocol has no way
    to write them.
    """
    tags = "".join(f",{_escape(name)}={_escape(value)}" for name, value in line.tags.items())
    fields = ",".join(f"{_escape(name)}={_render_value(value)}" for name, value in line.fields.items())
    return f"{_escape(line.measurement)}{tags} {fields} {line.time}"


def _parse_name(text: str, at: int, what: str, seen: set[str]) -> tuple[str, int]:
    """Read `name=`, and return the name and where its value begins."""
    token = _expect(_NAME, text, at, f"the name of {what}")
    name = _unescape(token)
    if name in seen:
        raise MalformedLine(f"The name {name!r} occurs twice.")
    seen.add(name)
    return name, _skip("=", text, at + len(token))


def _parse_value(text: str, at: int) -> tuple[FieldValue, int]:
    if text.startswith('"', at):
        token = _expect(_STRING, text, at, "a string")
        at = _skip('"', text, at + len(token))
        return re.sub(r'\\(["\\])', r"\1", token[1:]), at
    token = _expect(_BARE, text, at, "a value")
    return _parse_bare(token), at + len(token)


def _parse_bare(token: str) -> FieldValue:
    """Read a value without quotes."""
    if _FLOAT.fullmatch(token):
        number = float(token)
        if math.isinf(number):
            raise MalformedLine(f"The number {token} is too large for a float.")
        return number
    if integer := _INTEGER.fullmatch(token):
        return _parse_int(integer[1], INT64_BOUNDS, "64-bit integer")
    if token in _BOOLEANS:
        return _BOOLEANS[token]
    if _UNSIGNED.fullmatch(token):
        raise MalformedLine(f"The unsigned integer {token} is not supported.")
    raise MalformedLine(f"{token!r} is not a value.")


def _parse_time(token: str) -> int:
    if not _TIMESTAMP.fullmatch(token):
        raise MalformedLine(f"{token!r} is not a timestamp.")
    return _parse_int(token, TIME_BOUNDS, "timestamp in nanoseconds")


def _parse_int(digits: str, bounds: tuple[int, int], what: str) -> int:
    # Python refuses to convert thousands of digits, so the length decides first.
    number = int(digits) if len(digits.lstrip("-0")) <= _INT64_DIGITS else None
    if number is None or not bounds[0] <= number <= bounds[1]:
        raise MalformedLine(f"The number {digits} is too large for a {what}.")
    return number


def _expect(pattern: re.Pattern[str], text: str, at: int, what: str) -> str:
    """Return what `pattern` matches at a position."""
    if found := pattern.match(text, at):
        return found[0]
    raise _unexpected(text, at, what)


def _skip(delimiter: str, text: str, at: int) -> int:
    """Return the position after a delimiter that must stand here."""
    if text.startswith(delimiter, at):
        return at + 1
    raise _unexpected(text, at, repr(delimiter))


def _unexpected(text: str, at: int, wanted: str) -> MalformedLine:
    if at == len(text):
        return MalformedLine(f"The line ends where {wanted} should be.")
    if text[at] == "\\":
        return MalformedLine(f"The escape {text[at : at + 2]!r} at character {at + 1} is not supported.")
    return MalformedLine(f"Character {at + 1} is {text[at]!r} where {wanted} should be.")


def _unescape(token: str) -> str:
    return re.sub(r"\\([,= ])", r"\1", token) if "\\" in token else token


def _escape(text: str) -> str:
    return re.sub(r"([,= ])", r"\\\1", text)


def _render_value(value: FieldValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value}i"
        case float():
            return repr(value)
        case str():
            return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
