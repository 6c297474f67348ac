"""The types of columns, and the Arrow type that each has in a structured file."""

from dataclasses import dataclass

import pyarrow as pa

from instar.errors import InstarError


@dataclass(frozen=True)
class DataType:
    """A column's type. Two types are the same if their names are."""

    name: str

    def __str__(self) -> str:
        return self.name


BOOL = DataType("bool")
INT64 = DataType("int64")
FLOAT64 = DataType("float64")
STRING = DataType("string")
BYTES = DataType("bytes")
TIMESTAMP = DataType("timestamp")
"""Microseconds since the Unix epoch, without a time zone."""
TIMESTAMP_NS = DataType("timestamp_ns")
"""Nanoseconds since the Unix epoch: line protocol's time."""

_ARROW: dict[DataType, pa.DataType] = {
    BOOL: pa.bool_(),
    INT64: pa.int64(),
    FLOAT64: pa.float64(),
    STRING: pa.string(),
    BYTES: pa.binary(),
    TIMESTAMP: pa.timestamp("us"),
    TIMESTAMP_NS: pa.timestamp("ns"),
}
ALL_TYPES: tuple[DataType, ...] = tuple(_ARROW)


class UnsupportedType(InstarError):
    """A type that this version can't store."""


def parse_type(text: str) -> DataType:
    """Return the type called `text`."""
    for candidate in ALL_TYPES:
        if candidate.name == text:
            return candidate
    raise UnsupportedType(f"There is no type {text!r}.", help=f"Use one of: {', '.join(map(str, ALL_TYPES))}.")


def to_arrow(data_type: DataType) -> pa.DataType:
    return _ARROW[data_type]


def from_arrow(arrow_type: pa.DataType) -> DataType:
    """Return the type whose values `arrow_type` holds without loss."""
    for data_type, candidate in _ARROW.items():
        if candidate == arrow_type:
            return data_type
    raise UnsupportedType(
        f"Arrow's {arrow_type} has no counterpart here.",
        help=f"Cast it to one of: {', '.join(str(t) for t in _ARROW.values())}.",
    )
