"""Keys as bytes that sort as the keys do, column by column."""

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from instar.model import types
from instar.model.types import DataType
from instar.model.values import pack_interval


def order_bytes(key_types: Sequence[DataType], key: Sequence[Any]) -> bytes:
    """Return bytes that compare with those of other keys as the keys compare. A key has no nulls."""
    return b"".join(_PACK[of](value) for of, value in zip(key_types, key, strict=True))


def _signed(bits: int) -> Callable[[int], bytes]:
    return lambda value: (value + (1 << (bits - 1))).to_bytes(bits // 8, "big")


def _unsigned(bits: int) -> Callable[[int], bytes]:
    return lambda value: value.to_bytes(bits // 8, "big")


def _float(value: float) -> bytes:
    """Return a float's bits, all flipped where it is negative and the sign alone where it is not; NaN is greatest."""
    if math.isnan(value):
        return b"\xff" * 8
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return _unsigned(64)(bits ^ (2**64 - 1 if bits >> 63 else 1 << 63))


def _bytes(value: bytes) -> bytes:
    """Return bytes with an end that sorts below all that may follow it."""
    return value.replace(b"\x00", b"\x00\xff") + b"\x00\x00"


_PACK: dict[DataType, Callable[[Any], bytes]] = {
    types.BOOL: lambda value: bytes([value]),
    types.INT16: _signed(16),
    types.INT32: _signed(32),
    types.INT64: _signed(64),
    types.UINT16: _unsigned(16),
    types.UINT32: _unsigned(32),
    types.UINT64: _unsigned(64),
    types.FLOAT32: _float,
    types.FLOAT64: _float,
    types.STRING: lambda value: _bytes(value.encode()),
    types.BYTES: _bytes,
    types.DATE: _signed(32),
    types.TIME: _signed(64),
    types.TIMESTAMP: _signed(64),
    types.TIMESTAMPTZ: _signed(64),
    types.TIMESTAMP_NS: _signed(64),
    types.INTERVAL: pack_interval,
    types.UUID: lambda value: value.bytes,
    types.MZ_TIMESTAMP: _unsigned(64),
}
