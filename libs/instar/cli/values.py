"""Values of a lake as plain ones, which JSON, CSV and a terminal can show. Nothing is rounded or left out."""

import json
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from instar.cli.output import Cell
from instar.model import types
from instar.model.arrow import made_of
from instar.model.types import DataType
from instar.model.values import MICROS_PER_DAY, Interval, numeric_text, parse_json, to_values

_MICROS, _NANOS = 1_000_000, 1_000_000_000
_MONTHS_PER_YEAR = 12
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
"""The Gregorian calendar repeats itself."""
_LAST_PLAIN_YEAR = 9999


def plain_values(data_type: DataType, values: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return values that `to_json` writes: records and maps as dictionaries, other nested ones as they are stored.

    Dates and times are ISO 8601 text, bytes hexadecimal, decimals and uuids text, NaN and infinities names. A jsonb is
    what its text means, with exact numbers.
    """
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    stored = made_of(data_type)
    if stored.kind == "record":
        rows = _records(stored, array)
    elif stored.kind == "list":
        rows = _lists(stored, array)
    else:
        found = to_values(data_type, array)
        show = _SHOWN.get(data_type)
        return found if show is None else [None if value is None else show(value) for value in found]
    if data_type.kind == "map":
        rows = [{entry["key"]: entry["value"] for entry in row} for row in rows]
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def plain_bound(data_type: DataType, bound: pa.Scalar) -> Any:
    """Return a bound on values of a type as a plain value, None where there is none. A numeric's is a float."""
    if not bound.is_valid:
        return None
    return plain_values(types.FLOAT64 if data_type == types.NUMERIC else data_type, pa.repeat(bound, 1))[0]


def plain_cells(data_type: DataType, values: pa.ChunkedArray | pa.Array) -> list[Cell]:
    """Return values that fit a cell of a table: what is nested, and jsonb, as JSON text."""
    if data_type == types.JSONB:
        return list(values.to_pylist())
    plain = plain_values(data_type, values)
    return [to_json(value, ascii=False) if isinstance(value, dict | list) else value for value in plain]


def to_json(value: Any, *, ascii: bool = True) -> str:
    """Return the JSON text of a plain value; numbers keep all their digits."""
    try:
        return json.dumps(value, ensure_ascii=ascii, allow_nan=False)
    except TypeError:  # a decimal, or one inside
        if isinstance(value, Decimal):
            return numeric_text(value)
    if isinstance(value, list):
        return "[" + ", ".join(to_json(part, ascii=ascii) for part in value) + "]"
    parts = (f"{json.dumps(name, ensure_ascii=ascii)}: {to_json(part, ascii=ascii)}" for name, part in value.items())
    return "{" + ", ".join(parts) + "}"


def _records(stored: DataType, array: pa.StructArray) -> list[Any]:
    names = [name for name, _ in stored.parts]
    fields = [plain_values(part, of) for (_, part), of in zip(stored.parts, array.flatten(), strict=True)]
    return [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]


def _lists(stored: DataType, array: pa.ListArray) -> list[Any]:
    """Return the lists; an empty one for a null."""
    members = iter(plain_values(stored.inner, array.flatten()))
    return [[next(members) for _ in range(length or 0)] for length in array.value_lengths().to_pylist()]


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _short_number(value: float) -> float | str:
    """Return the number with the fewest digits that is the same as a 32-bit float."""
    return _number(float(str(np.float32(value))))


def _date(days: int) -> str:
    """Return a day in ISO 8601, with a sign where the year does not have four digits."""
    cycles, rest = divmod(days + _EPOCH - 1, _CYCLE_DAYS)
    day = date.fromordinal(rest + 1)
    year = day.year + cycles * _CYCLE_YEARS
    shown = f"{year:04}" if 0 <= year <= _LAST_PLAIN_YEAR else f"{year:+05}"
    return f"{shown}-{day.month:02}-{day.day:02}"


def _time(ticks: int, per_second: int = _MICROS) -> str:
    """Return a time of day in ISO 8601."""
    seconds, fraction = divmod(ticks, per_second)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}{_fraction(fraction, per_second)}"


def _timestamp(ticks: int, per_second: int = _MICROS) -> str:
    days, rest = divmod(ticks, MICROS_PER_DAY // _MICROS * per_second)
    return f"{_date(days)}T{_time(rest, per_second)}"


def _fraction(ticks: int, per_second: int) -> str:
    """Return a fraction of a second with its point, without zeros at its end; nothing if it is zero."""
    digits = len(str(per_second)) - 1
    return f".{ticks:0{digits}}".rstrip("0") if ticks else ""


def _duration(value: Interval) -> str:
    """Return an interval as ISO 8601 has durations, with a sign at each part that is negative."""
    years, months = _split(value.months, _MONTHS_PER_YEAR)
    minutes, micros = _split(value.micros, 60 * _MICROS)
    hours, minutes = _split(minutes, 60)
    days = _amounts((years, "Y"), (months, "M"), (value.days, "D"))
    time = _amounts((hours, "H"), (minutes, "M"), (_seconds(micros), "S"))
    return f"P{days}T{time}" if time else f"P{days or 'T0S'}"


def _split(amount: int, size: int) -> tuple[int, int]:
    """Return how many whole sizes an amount has, and the rest; both with its sign."""
    whole, rest = divmod(abs(amount), size)
    return (-whole, -rest) if amount < 0 else (whole, rest)


def _seconds(micros: int) -> str:
    seconds, fraction = divmod(abs(micros), _MICROS)
    return f"{'-' * (micros < 0)}{seconds}{_fraction(fraction, _MICROS)}" if micros else ""


def _amounts(*amounts: tuple[int | str, str]) -> str:
    return "".join(f"{amount}{unit}" for amount, unit in amounts if amount)


_SHOWN: dict[DataType, Callable[[Any], Any]] = {
    types.FLOAT32: _short_number,
    types.FLOAT64: _number,
    types.BYTES: bytes.hex,
    types.NUMERIC: numeric_text,
    types.DATE: _date,
    types.TIME: _time,
    types.TIMESTAMP: _timestamp,
    types.TIMESTAMPTZ: lambda micros: f"{_timestamp(micros)}Z",
    types.TIMESTAMP_NS: lambda nanos: _timestamp(nanos, _NANOS),
    types.INTERVAL: _duration,
    types.JSONB: parse_json,
    types.UUID: str,
}
