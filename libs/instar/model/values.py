"""Values of every type, one at a time: the reference for what is equal, and what comes before what.

Everything else in the product works on whole columns and has to agree with this module. A null is None. Dates and times
are integers in the unit of their type, for Python's own end at the year 9999.
"""

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.errors import InstarError
from instar.model import types
from instar.model.arrow import to_arrow
from instar.model.types import DataType

MICROS_PER_DAY = 86_400_000_000
_NESTED = frozenset({"list", "array", "map", "range"})
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_PLAIN_DIGITS = 40
NUMERIC_TEXT = (
    r"^(0|NaN|-?Infinity|-?([1-9][0-9]{0,39}(\.[0-9]*[1-9])?|0\.0{0,39}[1-9]([0-9]*[1-9])?"
    r"|[1-9](\.[0-9]*[1-9])?E(\+([4-9][0-9]|[1-9][0-9]{2,})|-(4[1-9]|[5-9][0-9]|[1-9][0-9]{2,}))))$"
)
_TIME_HELP = "Times are from 00:00:00 to before 24:00:00, without leap seconds; store the next day's midnight instead."


class InvalidValue(InstarError):
    """A value that its type does not have."""


@dataclass(frozen=True, order=True)
class Interval:
    """A span of time; compared by months, then days, then microseconds."""

    months: int = 0
    days: int = 0
    micros: int = 0


@dataclass(frozen=True)
class Array:
    """PostgreSQL's array: elements in row-major order, and a lower bound and a length per dimension."""

    elements: tuple[Any, ...]
    dimensions: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Range:
    """A range of values; None is no bound."""

    lower: Any = None
    upper: Any = None
    lower_inclusive: bool = False
    upper_inclusive: bool = False
    empty: bool = False


@dataclass(frozen=True, order=True)
class AclItem:
    """Who granted what to whom. Roles are numbers in an aclitem, names in an mz_aclitem."""

    grantee: Any
    grantor: Any
    acl_mode: int


def numeric_text(value: Decimal) -> str:
    """Return the one text of a decimal: without trailing zeros, so that equal values have equal texts.

    It has an exponent where it would begin with, or end in, forty zeros and more. `NUMERIC_TEXT` matches just these.
    """
    if value.is_nan():
        return "NaN"
    if value.is_infinite():
        return "-Infinity" if value < 0 else "Infinity"
    if not value:
        return "0"
    exact = _EXACT.normalize(value)
    if -_PLAIN_DIGITS <= exact.adjusted() < _PLAIN_DIGITS:
        return format(exact, "f")
    first, *rest = exact.as_tuple().digits
    fraction = "." + "".join(map(str, rest)) if rest else ""
    return f"{'-' * (exact < 0)}{first}{fraction}E{exact.adjusted():+d}"


def json_text(value: object) -> str:
    """Return the one text of a JSON value: keys sorted, no blanks, numbers without trailing zeros."""
    if isinstance(value, Decimal | float | int) and not isinstance(value, bool):
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if not number.is_finite():
            raise InvalidValue(f"JSON has no number {number}.", help="Use null or a string.")
        return numeric_text(number)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json_text(key)}:{json_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def parse_json(text: str) -> Any:
    """Return what a JSON text means, numbers as exact decimals."""
    try:
        return json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise InvalidValue(f"{text[:40]!r} is no JSON: {error}.", help="Write JSON as RFC 8259 has it.") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def sort_key(data_type: DataType, value: Any) -> tuple[Any, ...]:
    """Return what orders values of a type, and is equal exactly for equal values. Nulls come last."""
    if value is None:
        return (1,)
    return (0, _key(data_type, value))


def _key(data_type: DataType, value: Any) -> Any:
    if data_type in types.FLOATS:
        return (1, 0.0) if value != value else (0, value + 0.0)  # noqa: PLR0124 - NaN
    match data_type.kind:
        case "numeric":
            return (1, Decimal(0)) if value.is_nan() else (0, value)
        case "jsonb":
            return _json_key(parse_json(value))
        case "list" | "int2vector":
            element = data_type.inner if data_type.parts else types.INT16
            return tuple(sort_key(element, item) for item in value)
        case "array":
            elements = tuple(sort_key(data_type.inner, item) for item in value.elements)
            return elements, len(value.dimensions), value.dimensions
        case "map":
            return tuple((key, sort_key(data_type.inner, value[key])) for key in sorted(value))
        case "record":
            return tuple(sort_key(part, value[name]) for name, part in data_type.parts)
        case "range":
            return _range_key(data_type.inner, value)
        case "mz_aclitem" | "aclitem":
            return value.grantee, value.grantor, value.acl_mode
        case "string":
            return value.encode()
        case _:
            return value


def _json_key(value: Any) -> tuple[Any, ...]:
    match value:
        case None:
            return (0,)
        case str():
            return (1, value.encode())
        case bool():
            return (3, value)
        case Decimal():
            return (2, value)
        case list():
            return (4, len(value), tuple(map(_json_key, value)))
        case _:
            return (5, len(value), tuple((key.encode(), _json_key(value[key])) for key in sorted(value)))


def _range_key(bound: DataType, value: Range) -> tuple[Any, ...]:
    if value.empty:
        return (0,)
    lower = (0,) if value.lower is None else (1, _key(bound, value.lower), not value.lower_inclusive)
    upper = (1,) if value.upper is None else (0, _key(bound, value.upper), value.upper_inclusive)
    return (1, lower, upper)


def to_array(data_type: DataType, values: Sequence[Any]) -> pa.Array:
    """Return values as the Arrow array of their type, one by one."""
    return pa.array([_to_cell(data_type, value) for value in values], to_arrow(data_type))


def _to_cell(data_type: DataType, value: Any) -> Any:
    """Return a value as pyarrow takes it."""
    if value is None:
        return None
    inner = data_type.inner if data_type.kind in _NESTED else data_type
    match data_type.kind:
        case "numeric":
            return {"lossy": float(value) + 0.0, "actual": numeric_text(value)}
        case "interval":
            return pack_interval(value)
        case "time" if not 0 <= value < MICROS_PER_DAY:
            raise InvalidValue(f"{value} microseconds are no time of day.", help=_TIME_HELP)
        case "uuid":
            return value.bytes
        case "jsonb":
            return json_text(parse_json(value))
        case "list":
            return [_to_cell(inner, item) for item in value]
        case "array":
            lengths = [length for _, length in value.dimensions]
            if len(value.elements) != (math.prod(lengths) if lengths else 0):
                raise InvalidValue(
                    f"An array of the lengths {lengths} has {len(value.elements)} elements.",
                    help="It has as many as its lengths multiply to, and none without a dimension.",
                )
            dimensions = [{"lower_bound": lower, "length": length} for lower, length in value.dimensions]
            return {"elements": [_to_cell(inner, item) for item in value.elements], "dimensions": dimensions}
        case "map":
            return [{"key": key, "value": _to_cell(inner, value[key])} for key in sorted(value, key=str.encode)]
        case "record":
            return {name: _to_cell(part, value[name]) for name, part in data_type.parts}
        case "range":
            bounds = ((value.lower_inclusive, value.lower), (value.upper_inclusive, value.upper))
            lower, upper = ({"inclusive": flag, "bound": _to_cell(inner, bound)} for flag, bound in bounds)
            return {"lower": lower, "upper": upper, "empty": value.empty}
        case "mz_aclitem" | "aclitem":
            return {"grantee": value.grantee, "grantor": value.grantor, "acl_mode": value.acl_mode}
        case _:
            return value


def to_values(data_type: DataType, array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return what an Arrow array of a type holds, one by one."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if data_type in types.TIMES:
        return list(array.cast(pa.int32() if data_type == types.DATE else pa.int64()).to_pylist())
    match data_type.kind:
        case "list" | "array" | "map" | "record" | "range":
            return _nested_values(data_type, array)
        case "numeric":
            return [None if cell is None else Decimal(cell["actual"]) for cell in array.to_pylist()]
        case "interval":
            return [None if cell is None else unpack_interval(cell) for cell in array.to_pylist()]
        case "uuid":
            return [None if cell is None else UUID(bytes=cell) for cell in array.to_pylist()]
        case "mz_aclitem" | "aclitem":
            return [None if cell is None else AclItem(**cell) for cell in array.to_pylist()]
        case _:
            return list(array.to_pylist())


def _nested_values(data_type: DataType, array: pa.Array) -> list[Any]:
    present = array.is_valid().to_pylist()
    match data_type.kind:
        case "list":
            found: list[Any] = _cut(to_values(data_type.inner, array.flatten()), array)
        case "map":
            entries = array.flatten()
            values = to_values(data_type.inner, entries.field("value"))
            items = list(zip(entries.field("key").to_pylist(), values, strict=True))
            found = [dict(item) for item in _cut(items, array)]
        case "array":
            fields = _fields(array)
            elements = _cut(to_values(data_type.inner, fields["elements"].flatten()), fields["elements"])
            shapes = [[tuple(d.values()) for d in cell or ()] for cell in fields["dimensions"].to_pylist()]
            found = [Array(tuple(item), tuple(shape)) for item, shape in zip(elements, shapes, strict=True)]
        case "range":
            fields = _fields(array)
            sides = [_fields(fields[side]) for side in ("lower", "upper")]
            bounds = [to_values(data_type.inner, side["bound"]) for side in sides]
            flags = [side["inclusive"].to_pylist() for side in sides]
            found = [Range(*row) for row in zip(*bounds, *flags, fields["empty"].to_pylist(), strict=True)]
        case _:
            fields = _fields(array)
            columns = [to_values(part, fields[name]) for name, part in data_type.parts]
            found = [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]
    return [value if there else None for value, there in zip(found, present, strict=True)]


def _fields(array: pa.StructArray) -> dict[str, pa.Array]:
    """Return the fields of structs, null where the struct is."""
    return dict(zip((field.name for field in array.type), array.flatten(), strict=True))


def _cut(items: list[Any], lists: pa.Array) -> list[list[Any]]:
    """Return the items of each list; none for a null."""
    cut, start = [], 0
    for length in lists.value_lengths().to_pylist():
        cut.append(items[start : start + (length or 0)])
        start += length or 0
    return cut


def pack_interval(value: Interval) -> bytes:
    """Return bytes that sort as intervals do: big-endian, with the sign bits flipped."""
    return struct.pack(">IIQ", value.months + 2**31, value.days + 2**31, value.micros + 2**63)


def unpack_interval(packed: bytes) -> Interval:
    months, days, micros = struct.unpack(">IIQ", packed)
    return Interval(months - 2**31, days - 2**31, micros - 2**63)
