"""Look into encoded protobuf without a copy: a checkpoint is mostly Arrow data, which would be copied four times."""

from collections.abc import Iterator
from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MORE = 0x80
_LONGEST = 70  # bits of a varint, rounded up to whole bytes


class NotProtobuf(ValueError):
    """Bytes that are no protobuf message."""


@dataclass(frozen=True)
class Field:
    """One field of a message: its number, its value if it is bytes, and all of it with its tag."""

    number: int
    value: memoryview | None
    whole: memoryview


def fields(message: memoryview) -> Iterator[Field]:
    """Yield the fields of an encoded message, in their order."""
    place, end = 0, len(message)
    while place < end:
        start = place
        tag, place = _varint(message, place)
        kind, value = tag & 7, None
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind == _BYTES:
            length, place = _varint(message, place)
            value = message[place : place + length]
            place += length
        elif kind in (_FIXED32, _FIXED64):
            place += 4 if kind == _FIXED32 else 8
        else:
            raise NotProtobuf(f"Field {tag >> 3} has the kind {kind}.")
        if place > end:
            raise NotProtobuf("A field is longer than its message.")
        yield Field(tag >> 3, value, message[start:place])


def split(message: memoryview, numbers: frozenset[int]) -> tuple[dict[int, list[memoryview]], bytes]:
    """Return the values of some fields, not copied, and the message without them."""
    taken: dict[int, list[memoryview]] = {number: [] for number in numbers}
    rest = []
    for field in fields(message):
        if field.number in numbers and field.value is not None:
            taken[field.number].append(field.value)
        else:
            rest.append(field.whole)
    return taken, b"".join(rest)


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    number = shift = 0
    while shift < _LONGEST:
        if place >= len(message):
            break
        byte = message[place]
        number |= (byte & ~_MORE) << shift
        place += 1
        if byte < _MORE:
            return number, place
        shift += 7
    raise NotProtobuf("A number has no end.")
