"""Values of a lake as plain ones, which JSON, CSV and a terminal can show."""

import math
from typing import Any

import pyarrow as pa


def plain_values(values: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return values that JSON has: times as ISO text, bytes in hexadecimal, NaN and infinities by name."""
    if pa.types.is_timestamp(values.type):
        return [None if text is None else _iso(text) for text in values.cast(pa.string()).to_pylist()]
    if pa.types.is_binary(values.type):
        return [None if value is None else value.hex() for value in values.to_pylist()]
    if pa.types.is_floating(values.type):
        return [_number(value) for value in values.to_pylist()]
    listed: list[Any] = values.to_pylist()
    return listed


def plain_value(value: pa.Scalar) -> Any:
    return plain_values(pa.array([value], value.type))[0]


def _iso(text: str) -> str:
    """Return Arrow's text of a time, which always shows all digits of its unit, without the zeros at its end."""
    return text.replace(" ", "T", 1).rstrip("0").rstrip(".") if "." in text else text


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
