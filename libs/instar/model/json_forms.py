"""How values of each type are written in JSON.

Each type has one form, which holds all its values exactly:

| type | in JSON |
|---|---|
| bool | true or false |
| integers | a number |
| dates and times | a whole number in the type's unit: calendars in text end before the type does |
| floats, numeric | a number, or "NaN", "Infinity", "-Infinity" |
| string, uuid | a string |
| bytes | a string of hexadecimal digits |
| jsonb | a string that holds its text, so that its null is not taken for a missing value |
| list, int2vector | an array |
| map, record | an object |
| interval | an object: months, days, micros |
| array | an object: elements, and dimensions, each an object of lower_bound and length |
| range | an object: lower, upper, lower_inclusive, upper_inclusive, empty |
| mz_aclitem, aclitem | an object: grantee, grantor, acl_mode |

Wherever a value may be missing, it is null.
"""

import binascii
import functools
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from instar.model import types
from instar.model.types import DataType
from instar.model.values import (
    MICROS_PER_DAY,
    AclItem,
    Array,
    Interval,
    InvalidValue,
    Range,
    json_text,
    numeric_text,
    parse_json,
    sort_key,
)

_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_SHOWN = 40


def parse(text: str) -> Any:
    """Return what JSON text holds: numbers as decimals, objects as tuples of pairs, for keys may repeat."""
    try:
        return json.loads(
            text, parse_float=Decimal, parse_int=Decimal, parse_constant=_no_constant, object_pairs_hook=tuple
        )
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise InvalidValue(f"{text[:_SHOWN]!r} is no JSON: {error}.") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def read_value(data_type: DataType, text: str) -> Any:
    """Return the value of a type that JSON text says."""
    return form_of(data_type).value(parse(text))


def write_value(data_type: DataType, value: Any) -> str:
    """Return the JSON text of a value, or raise InvalidValue where it is none of the type's."""
    try:
        text = form_of(data_type).text(value)
        found = read_value(data_type, text)
        same = data_type == types.FLOAT32 or sort_key(data_type, found) == sort_key(data_type, value)
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise InvalidValue(f"{value!r} is no {data_type}.") from error
    if not same:
        raise InvalidValue(f"{value!r} is no {data_type}.", help=f"{found!r} is.")
    return text


@dataclass(frozen=True)
class Form:
    """How values of a type are written, and read from what JSON's parser found."""

    write: Callable[[Any], str]
    read: Callable[[Any], Any]
    nullable: bool = True

    def text(self, value: Any) -> str:
        return "null" if self._is_null(value) else self.write(value)

    def value(self, found: Any) -> Any:
        return None if self._is_null(found) else self.read(found)

    def _is_null(self, value: Any) -> bool:
        if value is None and not self.nullable:
            raise InvalidValue("A null stands where the type has none.")
        return value is None


@functools.cache
def form_of(data_type: DataType) -> Form:
    """Return the form of a type."""
    if data_type in _SCALARS:
        return _SCALARS[data_type]
    if data_type.kind == "record":
        return _object({name: form_of(part) for name, part in data_type.parts}, dict, dict)
    inner = form_of(data_type.inner)
    match data_type.kind:
        case "list":
            return _array(inner)
        case "map":
            return Form(lambda value: _write_object(value, dict.fromkeys(value, inner)), lambda f: _read_map(f, inner))
        case "array":
            parts = {"elements": _required(_array(inner)), "dimensions": _required(_array(_required(_DIMENSION)))}
            return _object(parts, vars, lambda e: Array(tuple(e["elements"]), tuple(e["dimensions"])))
        case _:
            flags = dict.fromkeys(("lower_inclusive", "upper_inclusive", "empty"), _required(_BOOL))
            return _object({"lower": inner, "upper": inner, **flags}, vars, lambda fields: Range(**fields))


def _required(form: Form) -> Form:
    return replace(form, nullable=False)


def _whole(low: int, end: int) -> Form:
    """Return the form of the integers from `low` to before `end`."""

    def read(found: Any) -> int:
        if not isinstance(found, Decimal) or not low <= found < end or found != found.to_integral_value():
            raise InvalidValue(f"{_shown(found)} is no integer from {low} to {end - 1}.")
        return int(found)

    return Form(str, read)


def _signed(bits: int) -> Form:
    return _whole(-(2 ** (bits - 1)), 2 ** (bits - 1))


def _unsigned(bits: int) -> Form:
    return _whole(0, 2**bits)


def _array(element: Form) -> Form:
    def read(found: Any) -> list[Any]:
        if not isinstance(found, list):
            raise InvalidValue(f"{_shown(found)} is no array.")
        return [element.value(item) for item in found]

    return Form(lambda value: f"[{','.join(map(element.text, value))}]", read)


def _object(
    parts: Mapping[str, Form], unpack: Callable[[Any], Mapping[str, Any]], pack: Callable[[dict[str, Any]], Any]
) -> Form:
    """Return the form of values that have fields; `unpack` gives the fields of a value, `pack` the value of fields."""

    def read(found: Any) -> Any:
        fields = to_fields(found)
        if odd := fields.keys() ^ parts.keys():
            raise InvalidValue(f"The keys are {_listed(fields)}, not {_listed(parts)}: see {_listed(odd)}.")
        return pack({name: form.value(fields[name]) for name, form in parts.items()})

    return Form(lambda value: _write_object(unpack(value), parts), read)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _write_object(fields: Mapping[str, Any], parts: Mapping[str, Form]) -> str:
    return f"{{{','.join(f'{quote(name)}:{form.text(fields[name])}' for name, form in parts.items())}}}"


def _read_map(found: Any, inner: Form) -> dict[str, Any]:
    return {_read_string(key): inner.value(value) for key, value in to_fields(found).items()}


def to_fields(found: Any) -> dict[str, Any]:
    """Return the keys of an object and what they hold."""
    if not isinstance(found, tuple):
        raise InvalidValue(f"{_shown(found)} is no object.")
    fields = dict(found)
    if len(fields) != len(found):
        twice = next(key for place, (key, _) in enumerate(found) if key in dict(found[:place]))
        raise InvalidValue(f"The key {twice!r} stands there twice.")
    return fields


def _shown(found: Any) -> str:
    """Return what the parser found, short and as JSON."""
    if isinstance(found, tuple | list):
        return "An object" if isinstance(found, tuple) else "An array"
    text = str(found) if isinstance(found, Decimal) else json.dumps(found)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def quote(text: str) -> str:
    """Return text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _write_number(value: Decimal | float) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    text = numeric_text(Decimal(value))
    return f'"{text}"' if text in _NOT_FINITE else text


def _read_bool(found: Any) -> bool:
    if not isinstance(found, bool):
        raise InvalidValue(f"{_shown(found)} is no bool.")
    return found


def _read_numeric(found: Any) -> Decimal:
    if not isinstance(found, Decimal) and found not in _NOT_FINITE:
        raise InvalidValue(f"{_shown(found)} is no number.")
    return Decimal(found)


def _read_float(found: Any, layout: str) -> float:
    exact = _read_numeric(found)
    try:
        (value,) = struct.unpack(layout, struct.pack(layout, exact))
    except OverflowError:
        value = math.inf
    if math.isinf(value) and exact.is_finite():
        raise InvalidValue(f"{_shown(found)} is beyond the largest float.")
    return float(value)


def _read_string(found: Any) -> str:
    if not isinstance(found, str):
        raise InvalidValue(f"{_shown(found)} is no string.")
    try:
        found.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(f"{_shown(found)} has half of a surrogate pair.") from error
    return found


def _read_bytes(found: Any) -> bytes:
    try:
        return binascii.unhexlify(_read_string(found))
    except ValueError as error:
        raise InvalidValue(f"{_shown(found)} is not hexadecimal.") from error


def _read_uuid(found: Any) -> UUID:
    text = _read_string(found)
    try:
        value = UUID(text)
    except ValueError as error:
        raise InvalidValue(f"{_shown(found)} is no UUID.") from error
    if str(value) != text.lower():
        raise InvalidValue(f"{_shown(found)} is no UUID.", help=f"Write {value}.")
    return value


def _read_jsonb(found: Any) -> str:
    try:
        return _read_string(json_text(parse_json(_read_string(found))))
    except (RecursionError, InvalidOperation) as error:
        raise InvalidValue(f"{_shown(found)} is nested too deep, or has a number beyond all bounds.") from error


_BOOL = Form(lambda value: "true" if value else "false", _read_bool)
_STRING = Form(quote, _read_string)
_DIMENSION = _object(
    {"lower_bound": _required(_signed(64)), "length": _required(_unsigned(64))},
    lambda dimension: {"lower_bound": dimension[0], "length": dimension[1]},
    lambda fields: (fields["lower_bound"], fields["length"]),
)


def _acl(role: Form) -> Form:
    parts = {"grantee": role, "grantor": role, "acl_mode": _unsigned(64)}
    return _object({name: _required(form) for name, form in parts.items()}, vars, lambda fields: AclItem(**fields))


_SCALARS: dict[DataType, Form] = {
    types.BOOL: _BOOL,
    types.INT16: _signed(16),
    types.INT32: _signed(32),
    types.INT64: _signed(64),
    types.UINT16: _unsigned(16),
    types.UINT32: _unsigned(32),
    types.UINT64: _unsigned(64),
    types.FLOAT32: Form(_write_number, functools.partial(_read_float, layout="<f")),
    types.FLOAT64: Form(_write_number, functools.partial(_read_float, layout="<d")),
    types.STRING: _STRING,
    types.BYTES: Form(lambda value: f'"{value.hex()}"', _read_bytes),
    types.NUMERIC: Form(_write_number, _read_numeric),
    types.DATE: _signed(32),
    types.TIME: _whole(0, MICROS_PER_DAY),
    types.TIMESTAMP: _signed(64),
    types.TIMESTAMPTZ: _signed(64),
    types.TIMESTAMP_NS: _signed(64),
    types.INTERVAL: _object(
        {"months": _required(_signed(32)), "days": _required(_signed(32)), "micros": _required(_signed(64))},
        vars,
        lambda fields: Interval(**fields),
    ),
    types.JSONB: Form(quote, _read_jsonb),
    types.UUID: Form(lambda value: f'"{value}"', _read_uuid),
    types.MZ_TIMESTAMP: _unsigned(64),
    types.MZ_ACLITEM: _acl(_STRING),
    types.ACLITEM: _acl(_unsigned(32)),
    types.INT2VECTOR: _array(_signed(16)),
}
