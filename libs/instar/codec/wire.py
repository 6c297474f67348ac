"""Protobuf's wire format, a whole column of messages at a time.

A span per message says where it lies in one buffer. Readers return None where a message is not laid out in the one way
that writers choose when they have a choice: the caller then reads it with protobuf's own library.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Pieces = list[Any]
"""Arrays of blobs, and scalars that are the same for every row."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10
_PADDING = 16
"""Bytes after the data, so that a word can be loaded at its last byte."""
_WORD = 8
_SHORT = 0x80
"""Numbers below it are one byte."""
_CONTINUES = np.uint64(0x8080808080808080)
_GROUPS = tuple(
    (np.uint64(low), np.uint64(high), np.uint64(shift))
    for low, high, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)
"""How seven-bit groups move together, pair by pair: which stay, which move, and by how much."""


@dataclass(frozen=True)
class Spans:
    """Where messages lie in a buffer: in ascending order, without overlap."""

    data: npt.NDArray[np.uint8]
    """Padded at its end."""
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, blobs: pa.BinaryArray) -> "Spans":
        """Return the spans of an array's blobs; it has no nulls."""
        offsets = np.frombuffer(blobs.buffers()[1], np.int32)[blobs.offset : blobs.offset + len(blobs) + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        data = np.zeros(last - first + _PADDING, np.uint8)
        if last > first:
            data[: last - first] = np.frombuffer(blobs.buffers()[2], np.uint8)[first:last]
        places = offsets.astype(np.int64) - first
        return cls(data, places[:-1], places[1:])

    def where(self, mask: Mask) -> "Spans":
        return self if mask.all() else Spans(self.data, self.starts[mask], self.ends[mask])

    def byte(self, place: int) -> npt.NDArray[np.uint8]:
        """Return a byte of each span, counted from its start; it may lie behind its end."""
        return self.data[self.starts + place]

    def words(self, places: Ints, dtype: str = "<u8") -> Words:
        """Return the eight (or four) bytes from each place on, as numbers."""
        width = np.dtype(dtype).itemsize
        shifted = np.ndarray((len(self.data) - width + 1,), dtype, self.data, strides=(1,))
        loaded: Words = shifted[places]
        return loaded

    def blobs(self) -> pa.LargeBinaryArray:
        """Return what the spans hold, copied: every other element of the array that takes in the gaps too."""
        bounds = np.empty(2 * len(self), np.int64)
        bounds[0::2], bounds[1::2] = self.starts, self.ends
        if not len(self):
            return pa.array([], pa.large_binary())
        everything = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), 2 * len(self) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(self.data)]
        )
        return everything.take(pa.array(np.arange(0, 2 * len(self), 2)))


def read_varints(spans: Spans, places: Ints) -> tuple[Words, Ints] | None:
    """Return the number at each place and where it ends; None if one is longer than a number can be."""
    first = spans.data[places]
    if (first < _SHORT).all():
        return first.astype(np.uint64), places + 1
    words = spans.words(places)
    stops = ~words & _CONTINUES
    lowest = stops & (~stops + np.uint64(1))
    lengths = _byte_of(lowest) + 1
    inside = np.where(lengths == _WORD, ~np.uint64(0), (lowest << np.uint64(1)) - np.uint64(1))
    numbers = _squeeze(words & inside)
    if (long := stops == 0).any():
        tail = spans.words(places[long] + _WORD, "<u2").astype(np.uint64)
        second = (tail & np.uint64(0x80)) != 0
        if (second & ((tail >> np.uint64(8)) > 1)).any():
            return None
        rest = (tail & np.uint64(0x7F)) | np.where(second, (tail >> np.uint64(8)) << np.uint64(7), np.uint64(0))
        numbers[long] = _squeeze(words[long]) | (rest << np.uint64(56))
        lengths[long] = _WORD + 1 + second
    return numbers, places + lengths


def read_field(spans: Spans, places: Ints, tag: bytes) -> Spans | None:
    """Return the spans of a length-delimited field that starts at each place; None if another one does."""
    if not has_tag(spans, places, tag):
        return None
    found = read_varints(spans, places + len(tag))
    if found is None:
        return None
    lengths, starts = found
    if (lengths > np.uint64(len(spans.data))).any():
        return None
    return Spans(spans.data, starts, starts + lengths.astype(np.int64))


def read_repeated(spans: Spans, tag: bytes) -> tuple[Ints, Spans] | None:
    """Return how many fields each message has, and all their spans in order; None if it has others."""
    counts = np.zeros(len(spans), np.int64)
    places, active = spans.starts.copy(), np.flatnonzero(spans.starts < spans.ends)
    owners, starts, ends = [], [], []
    while len(active):
        if (found := read_field(spans, places[active], tag)) is None:
            return None
        if (found.ends > spans.ends[active]).any():
            return None
        owners.append(active)
        starts.append(found.starts)
        ends.append(found.ends)
        counts[active] += 1
        places[active] = found.ends
        active = active[found.ends < spans.ends[active]]
    if not owners:
        return counts, Spans(spans.data, np.empty(0, np.int64), np.empty(0, np.int64))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return counts, Spans(spans.data, np.concatenate(starts)[order], np.concatenate(ends)[order])


def has_tag(spans: Spans, places: Ints, tag: bytes) -> bool:
    return all(bool((spans.data[places + offset] == byte).all()) for offset, byte in enumerate(tag))


def _byte_of(bits: Words) -> Ints:
    """Return which byte of a word its one bit is in."""
    places: Ints = ((np.frexp(bits.astype(np.float64))[1] - 1) >> 3).astype(np.int64)
    return places


def _squeeze(words: Words) -> Words:
    """Join the lower seven bits of the eight bytes of each word."""
    for low, high, shift in _GROUPS:
        words = (words & low) | ((words & high) >> shift)
    return words


def _spread(words: Words) -> Words:
    """Give every seven bits of 56 a byte of its own."""
    for low, high, shift in reversed(_GROUPS):
        words = (words & low) | ((words << shift) & high)
    return words


def tag_of(number: int, wire: int) -> bytes:
    """Return the tag of a field."""
    tag = number << 3 | wire
    return bytes([tag]) if tag < _SHORT else bytes([tag & 0x7F | 0x80, tag >> 7])


def zigzag(values: Ints) -> Words:
    return ((values << 1) ^ (values >> 63)).view(np.uint64)


def unzigzag(words: Words) -> Ints:
    return (words >> np.uint64(1)).view(np.int64) ^ -(words & np.uint64(1)).view(np.int64)


def write_varints(numbers: Words) -> pa.BinaryArray:
    """Return each number as a blob."""
    if len(numbers) and numbers.max() < _SHORT:
        return same_size(numbers.astype(np.uint8)[:, None])
    lengths = np.ones(len(numbers), np.int64)
    for place in range(1, LONGEST_VARINT):
        lengths += numbers >= np.uint64(1 << 7 * place)
    rows = np.zeros((len(numbers), 2 * _WORD), np.uint8)
    rows[:, :_WORD] = _spread(numbers & np.uint64(2**56 - 1)).astype("<u8").view(np.uint8).reshape(-1, _WORD)
    rows[:, _WORD] = (numbers >> np.uint64(56)) & np.uint64(0x7F)
    rows[:, _WORD + 1] = numbers >> np.uint64(63)
    places = np.arange(2 * _WORD)
    rows[places < lengths[:, None] - 1] |= _SHORT
    return _from_bytes(rows[places < lengths[:, None]], lengths)


def same_size(rows: npt.NDArray[np.uint8]) -> pa.BinaryArray:
    """Return a blob per row of a matrix."""
    count, width = rows.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32) if width else np.zeros(count + 1, np.int32)
    return _blobs(offsets, np.ascontiguousarray(rows))


def _from_bytes(data: npt.NDArray[np.uint8], lengths: Ints) -> pa.BinaryArray:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return _blobs(offsets, data)


def _blobs(offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> pa.BinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def lengths_of(blobs: pa.BinaryArray) -> Words:
    lengths: Words = pc.binary_length(blobs).to_numpy(zero_copy_only=False).astype(np.uint64)
    return lengths


def short_heads(outer: bytes, inner: bytes, blobs: pa.BinaryArray) -> pa.BinaryArray | None:
    """Return what stands before each blob in a field of a message in a field, where both lengths are one byte."""
    lengths = lengths_of(blobs)
    around = lengths + np.uint64(len(inner) + 1)
    if len(blobs) and around.max() >= _SHORT:
        return None
    rows = np.empty((len(blobs), len(outer) + len(inner) + 2), np.uint8)
    rows[:, : len(outer)] = np.frombuffer(outer, np.uint8)
    rows[:, len(outer)] = around
    rows[:, len(outer) + 1 : -1] = np.frombuffer(inner, np.uint8)
    rows[:, -1] = lengths
    return same_size(rows)


def write_field(tag: bytes, blobs: pa.BinaryArray) -> Pieces:
    """Return the pieces of a length-delimited field: its tag, its length and what it holds."""
    return [pa.scalar(tag, pa.binary()), write_varints(lengths_of(blobs)), blobs]


def join(pieces: Pieces) -> pa.BinaryArray:
    """Return a blob per row: its pieces one after the other."""
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.binary()))


def cut(blobs: pa.BinaryArray, offsets: Ints) -> pa.BinaryArray:
    """Return a blob per range of blobs: they lie one after the other already."""
    bounds = np.frombuffer(blobs.buffers()[1], np.int32)[blobs.offset : blobs.offset + len(blobs) + 1]
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(np.ascontiguousarray(bounds[offsets])), blobs.buffers()[2]]
    )
