"""Bloom filters small enough for the catalog: whether a part may hold a value, all parts at once.

A filter is a bit array of a power of two of bits. A value has one 64-bit hash, the same in every release, which names
HASHES bits. Equal values have equal hashes whatever the width of their type, so filters outlive a widened column.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

HASHES = 4
_SMALLEST_BYTES = 8
_BITS_PER_VALUE = 10
"""About one in a hundred values that are not there passes."""
_FULL = 4
"""With fewer bits per value than HASHES, one in six and more would pass: such a filter is not worth its bytes."""
_FACTOR = 0x9E3779B97F4A7C15
_INVERSE = pow(_FACTOR, -1, 2**64)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def build_bloom(hashes: Hashes, most_bytes: int) -> bytes | None:
    """Return a filter of distinct hashes, or None where no useful one fits in `most_bytes`."""
    size = _SMALLEST_BYTES
    while size * 8 < len(hashes) * _BITS_PER_VALUE and size * 2 <= most_bytes:
        size *= 2
    if size > most_bytes or size * 8 < len(hashes) * _FULL:
        return None
    bits = np.zeros(size * 8, np.bool_)
    for place in _places(hashes, np.uint64(size * 8)):
        bits[place] = True
    return np.packbits(bits, bitorder="little").tobytes()


def may_contain(filters: pa.Array, value: np.uint64) -> npt.NDArray[np.bool_]:
    """Return which filters admit a hashed value; one that is null, or no filter, admits everything."""
    ends = np.frombuffer(filters.buffers()[1], np.int32)[filters.offset : filters.offset + len(filters) + 1]
    data = np.frombuffer(filters.buffers()[2] or b"", np.uint8)
    starts, sizes = ends[:-1].astype(np.int64), np.diff(ends)
    known = filters.is_valid().to_numpy(zero_copy_only=False) & (sizes > 0) & (sizes & (sizes - 1) == 0)
    admitted = np.ones(len(filters), np.bool_)
    starts, bits = starts[known], sizes[known].astype(np.uint64) * np.uint64(8)
    found = np.ones(len(starts), np.bool_)
    for place in _places(np.full(len(starts), value), bits):
        octets = data[starts + (place >> np.uint64(3)).astype(np.int64)]
        found &= octets >> (place & np.uint64(7)).astype(np.uint8) & 1 == 1
    admitted[known] = found
    return admitted


def _places(hashes: Hashes, bits: np.uint64 | Hashes) -> list[Hashes]:
    """Return the bits of each hash in a filter of so many."""
    step = hashes >> np.uint64(32) | np.uint64(1)
    return [(hashes + np.uint64(number) * step) & (bits - np.uint64(1)) for number in range(HASHES)]


def hash_values(values: pa.Array) -> Hashes:
    """Return the hash of each value of an array without nulls: of numbers and times, texts, bytes or booleans."""
    if pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.binary())
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return _hash_bytes(values)
    if pa.types.is_floating(values.type):
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0  # -0.0 equals 0.0
        return _mix(floats.view(np.uint64))
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if pa.types.is_date(values.type) else pa.int64())
    numbers = values.to_numpy(zero_copy_only=False)
    return _mix(numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64).view(np.uint64))


def _hash_bytes(values: pa.Array) -> Hashes:
    """Return hashes of byte strings: polynomials in _FACTOR, from the differences of one running sum."""
    offsets = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values) + 1]
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    ends = offsets.astype(np.int64) - offsets[0]
    powers = _powers(_FACTOR, len(data) + 1)
    sums = np.zeros(len(data) + 1, np.uint64)
    np.cumsum((data.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=sums[1:])
    shifted = (sums[ends[1:]] - sums[ends[:-1]]) * _powers(_INVERSE, len(data) + 1)[ends[:-1]]
    return _mix(shifted)


def _powers(factor: int, count: int) -> Hashes:
    powers = np.full(count, factor, np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _mix(values: Hashes) -> Hashes:
    """Return numbers whose bits all depend on all bits."""
    mixed = values + np.uint64(_FACTOR)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
    return mixed ^ (mixed >> np.uint64(31))
