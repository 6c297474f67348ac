"""Bounds on the values of a column, rounded outward where they would be long."""

import pyarrow as pa
import pyarrow.compute as pc

BOUND_BYTES = 100
"""The longest bound of strings or bytes."""

_LAST_BEFORE_SURROGATES, _FIRST_AFTER_SURROGATES, _LAST_CHARACTER = 0xD7FF, 0xE000, 0x10FFFF
_LAST_BYTE = 0xFF


def bounds_of(values: pa.Array | pa.ChunkedArray) -> tuple[pa.Scalar, pa.Scalar]:
    """Return bounds on values that are neither null nor NaN; both are null where there is no value.

    Every value lies between them, inclusive, under numeric comparison of numbers and byte order of strings and bytes.
    The upper one is null too where it would be long and nothing short is greater.
    """
    found = pc.min_max(values)
    lower, upper = found["min"], found["max"]
    if not lower.is_valid:
        return lower, upper
    if pa.types.is_floating(lower.type):
        # A reader that orders -0.0 below 0.0 must find both inside.
        low, high = -0.0 if lower.as_py() == 0 else lower.as_py(), upper.as_py() + 0.0
        return pa.scalar(low, lower.type), pa.scalar(high, lower.type)
    if pa.types.is_string(lower.type):
        return pa.scalar(truncate_text(lower.as_py())), pa.scalar(text_above(upper.as_py()), pa.string())
    if pa.types.is_binary(lower.type):
        return pa.scalar(lower.as_py()[:BOUND_BYTES]), pa.scalar(bytes_above(upper.as_py()), pa.binary())
    return lower, upper


def truncate_text(text: str) -> str:
    """Return the longest prefix of `text` that fits a bound, cut between characters."""
    return text.encode()[:BOUND_BYTES].decode(errors="ignore")


def text_above(text: str) -> str | None:
    """Return a text that fits a bound and is not below `text`, or None if there is none."""
    prefix = truncate_text(text)
    if prefix == text:
        return text
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1])
        if code == _LAST_CHARACTER:
            continue
        after = _FIRST_AFTER_SURROGATES if code == _LAST_BEFORE_SURROGATES else code + 1
        above = prefix[: end - 1] + chr(after)
        if len(above.encode()) <= BOUND_BYTES:
            return above
    return None


def bytes_above(value: bytes) -> bytes | None:
    """Return bytes that fit a bound and are not below `value`, or None if there are none."""
    prefix = value[:BOUND_BYTES]
    if prefix == value:
        return value
    kept = prefix.rstrip(bytes([_LAST_BYTE]))
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
