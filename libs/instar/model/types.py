"""The types of columns, as text and as values. `model.arrow` says how each is stored."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from instar.errors import InstarError


@dataclass(frozen=True)
class DataType:
    """A type: a kind, and what it is made of. Two types are the same if they are written the same.

    The parts of a list or array are called `element`, those of a map `value` (its keys are strings), those of a range
    `bound`; a record's are its fields, in order.
    """

    kind: str
    parts: tuple[tuple[str, "DataType"], ...] = ()

    def __str__(self) -> str:
        if self.kind == "record":
            return f"record<{', '.join(f'{_quote(name)} {part}' for name, part in self.parts)}>"
        return f"{self.kind}<{self.inner}>" if self.parts else self.kind

    @property
    def inner(self) -> "DataType":
        """Return what a list, an array, a map or a range is made of."""
        return self.parts[0][1]

    def walk(self) -> Iterator["DataType"]:
        """Return this type and all that it is made of, outermost first."""
        yield self
        for _, part in self.parts:
            yield from part.walk()


BOOL = DataType("bool")
INT16, INT32, INT64 = DataType("int16"), DataType("int32"), DataType("int64")
UINT16, UINT32, UINT64 = DataType("uint16"), DataType("uint32"), DataType("uint64")
FLOAT32, FLOAT64 = DataType("float32"), DataType("float64")
STRING = DataType("string")
BYTES = DataType("bytes")
NUMERIC = DataType("numeric")
"""A decimal of any precision, NaN or infinite; 1.0 and 1.00 are one value."""
DATE = DataType("date")
"""Days since the Unix epoch."""
TIME = DataType("time")
"""Microseconds since midnight, less than a day."""
TIMESTAMP = DataType("timestamp")
"""Microseconds since the Unix epoch, without a time zone."""
TIMESTAMPTZ = DataType("timestamptz")
"""An instant: microseconds since the Unix epoch in UTC."""
TIMESTAMP_NS = DataType("timestamp_ns")
"""Nanoseconds since the Unix epoch: line protocol's time."""
INTERVAL = DataType("interval")
"""Months, days and microseconds, compared in this order."""
JSONB = DataType("jsonb")
UUID = DataType("uuid")
MZ_TIMESTAMP = DataType("mz_timestamp")
"""Milliseconds since the Unix epoch, unsigned."""
MZ_ACLITEM = DataType("mz_aclitem")
ACLITEM = DataType("aclitem")
INT2VECTOR = DataType("int2vector")

SCALARS: tuple[DataType, ...] = (
    BOOL,
    INT16,
    INT32,
    INT64,
    UINT16,
    UINT32,
    UINT64,
    FLOAT32,
    FLOAT64,
    STRING,
    BYTES,
    NUMERIC,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMESTAMP_NS,
    INTERVAL,
    JSONB,
    UUID,
    MZ_TIMESTAMP,
    MZ_ACLITEM,
    ACLITEM,
    INT2VECTOR,
)
"""The types that are made of nothing else."""
TIMES = frozenset({DATE, TIME, TIMESTAMP, TIMESTAMPTZ, TIMESTAMP_NS})
"""Counted in units of time: integers that Python's own classes do not cover."""
FLOATS = frozenset({FLOAT32, FLOAT64})
RANGE_BOUNDS = frozenset({INT32, INT64, NUMERIC, DATE, TIMESTAMP, TIMESTAMPTZ})
"""What a range can be of."""

_NO_KEYS = frozenset({NUMERIC, JSONB, MZ_ACLITEM, ACLITEM, INT2VECTOR})

_WIDER: dict[DataType, frozenset[DataType]] = {
    INT16: frozenset({INT32, INT64}),
    INT32: frozenset({INT64}),
    UINT16: frozenset({UINT32, UINT64, INT32, INT64}),
    UINT32: frozenset({UINT64, INT64}),
    FLOAT32: frozenset({FLOAT64}),
}
_BY_NAME = {data_type.kind: data_type for data_type in SCALARS}
_NESTED = {"list": "element", "array": "element", "map": "value", "range": "bound"}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TOKEN = re.compile(r'\s*([A-Za-z_][A-Za-z_0-9]*|"(?:[^"\\]|\\.)*"|[<>,])')


class UnsupportedType(InstarError):
    """A type that this version can't store."""


def can_be_key(data_type: DataType) -> bool:
    """Return whether rows can be told apart, and sorted, by values of a type: Arrow orders them as the values are."""
    return not data_type.parts and data_type not in _NO_KEYS


def widens(narrow: DataType, wide: DataType) -> bool:
    """Tell whether every value of `narrow` is a value of `wide`, and equal to it."""
    return wide in _WIDER.get(narrow, frozenset())


def wider(left: DataType, right: DataType) -> DataType | None:
    """Return the type of the two that holds the values of both, or None if neither does."""
    if left == right or widens(right, left):
        return left
    return right if widens(left, right) else None


def list_of(element: DataType) -> DataType:
    """Return the type of lists; null elements are allowed, and nulls are no lists."""
    return DataType("list", (("element", element),))


def array_of(element: DataType) -> DataType:
    """Return the type of PostgreSQL's arrays: rectangular, of any number of dimensions, with lower bounds."""
    return DataType("array", (("element", element),))


def map_of(value: DataType) -> DataType:
    return DataType("map", (("value", value),))


def range_of(bound: DataType) -> DataType:
    if bound not in RANGE_BOUNDS:
        allowed = ", ".join(sorted(map(str, RANGE_BOUNDS)))
        raise UnsupportedType(f"There is no range of {bound}.", help=f"Ranges are of: {allowed}.")
    return DataType("range", (("bound", bound),))


def record_of(**fields: DataType) -> DataType:
    return _record(tuple(fields.items()))


def parse_type(text: str) -> DataType:
    """Return the type that `text` names, such as `list<int64>` or `record<x float64, "the y" float64>`."""
    parser = _Parser(text)
    found = parser.data_type()
    parser.end()
    return found


def _record(fields: tuple[tuple[str, DataType], ...]) -> DataType:
    names = [name for name, _ in fields]
    if not names or "" in names or len(set(names)) != len(names):
        raise UnsupportedType(
            f"A record can't have the fields {names}.", help="Give it at least one, each with a name of its own."
        )
    return DataType("record", fields)


def _quote(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else json.dumps(name)


_T = TypeVar("_T")


class _Parser:
    """Read a type's text, word by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def data_type(self) -> DataType:
        name = self._next()
        if name in _BY_NAME:
            return _BY_NAME[name]
        if name == "record":
            return _record(tuple(self._inside(self._field)))
        if name in _NESTED:
            (inner,) = self._inside(self.data_type, most=1)
            return range_of(inner) if name == "range" else DataType(name, ((_NESTED[name], inner),))
        known = [*_BY_NAME, *(f"{nested}<…>" for nested in (*_NESTED, "record"))]
        raise UnsupportedType(f"There is no type {name or self._text!r}.", help=f"Use one of: {', '.join(known)}.")

    def end(self) -> None:
        if self._text[self._place :].strip():
            raise self._unexpected(self._text[self._place :].strip())

    def _inside(self, item: Callable[[], _T], most: int | None = None) -> list[_T]:
        self._expect("<")
        found = [item()]
        while (mark := self._next()) == "," and len(found) != most:
            found.append(item())
        if mark != ">":
            raise self._unexpected(mark)
        return found

    def _field(self) -> tuple[str, DataType]:
        name = self._next()
        return (json.loads(name) if name.startswith('"') else name), self.data_type()

    def _expect(self, token: str) -> None:
        if (found := self._next()) != token:
            raise self._unexpected(found)

    def _next(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            return ""
        self._place = match.end()
        return match[1]

    def _unexpected(self, found: str) -> UnsupportedType:
        return UnsupportedType(
            f"{self._text!r} is no type: {found or 'its end'!r} is unexpected.",
            help="Write a name such as int64, or list<int64>, map<string>, record<x int64, y list<string>>.",
        )
