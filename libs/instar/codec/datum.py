"""Rows of datums, one at a time, through protobuf's own library: for blobs that others laid out, and for errors."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
from google.protobuf.message import DecodeError

from instar.codec.protocol import CodecError
from instar.codec.row_pb2 import Datum, Row
from instar.model import types
from instar.model.arrow import INTERVAL_BYTES, UUID_BYTES, made_of, to_arrow
from instar.model.schema import Column
from instar.model.types import DataType
from instar.model.values import MICROS_PER_DAY, InvalidValue, json_text, numeric_text, parse_json

NULL = "null"
COMPOSITE = frozenset({"list", "record", "int2vector", "map", "array", "range", "mz_aclitem", "aclitem"})
LIMITS = {types.INT16: (-(2**15), 2**15), types.UINT16: (0, 2**16), types.TIME: (0, MICROS_PER_DAY)}
"""Types that have fewer values than the number that carries them: the first, and the one behind the last."""
SIZES = {types.UUID: UUID_BYTES, types.INTERVAL: INTERVAL_BYTES}


def field_name(data_type: DataType) -> str:
    """Return the field of a datum that holds values of a type."""
    return f"{data_type.kind}_value"


def decode_rows(columns: Sequence[Column], blobs: pa.BinaryArray, first: int) -> list[pa.Array]:
    """Return the columns of rows, which are counted from `first` in errors."""
    cells: list[list[Any]] = [[] for _ in columns]
    for number, blob in enumerate(blobs.to_pylist(), start=first):
        datums = _parse(blob, number)
        if len(datums) != len(columns):
            raise _wrong_count(columns, len(datums), number)
        for column, datum, found in zip(columns, datums, cells, strict=True):
            try:
                found.append(_to_cell(column.type, datum))
            except InvalidValue as error:
                raise CodecError(
                    f"Row {number} holds {error.fact} for column {column.name!r}, which is {column.type}.",
                    help="Decode it with the columns that it was written with; an unknown kind needs a newer release.",
                ) from error
    return [pa.array(found, to_arrow(column.type)) for column, found in zip(columns, cells, strict=True)]


def _to_cell(data_type: DataType, datum: Datum) -> Any:
    """Return a datum as pyarrow takes it."""
    kind = datum.WhichOneof("kind")
    if kind == NULL:
        return None
    if kind != field_name(data_type):
        raise InvalidValue(f"{kind or 'a value of unknown kind'}, not {field_name(data_type)}")
    value = getattr(datum, kind)
    if data_type.kind in COMPOSITE:
        return _to_composite(made_of(data_type), value.values)
    if data_type in LIMITS and not LIMITS[data_type][0] <= value < LIMITS[data_type][1]:
        raise InvalidValue(f"{value}")
    if data_type in SIZES and len(value) != SIZES[data_type]:
        raise InvalidValue(f"{len(value)} bytes")
    if data_type == types.NUMERIC:
        return _to_numeric(value)
    return _to_json(value) if data_type == types.JSONB else value


def _to_composite(stored: DataType, datums: Sequence[Datum]) -> Any:
    if stored.kind == "list":
        return [_to_cell(stored.inner, datum) for datum in datums]
    if len(datums) != len(stored.parts):
        raise InvalidValue(f"{len(datums)} values for {len(stored.parts)} fields")
    return {name: _to_cell(part, datum) for (name, part), datum in zip(stored.parts, datums, strict=True)}


def _to_json(text: str) -> str:
    try:
        return json_text(parse_json(text))
    except (InvalidValue, RecursionError) as error:
        raise InvalidValue(f"{text[:40]!r}") from error


def _to_numeric(text: str) -> dict[str, Any]:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise InvalidValue(f"{text!r}") from error
    exact = numeric_text(value)
    return {"lossy": float(exact) + 0.0, "actual": exact}


def _parse(blob: bytes | None, number: int) -> Sequence[Datum]:
    if blob is None:
        raise CodecError(f"Row {number} has no blob.", help="The part was not written by this codec.")
    try:
        return Row.FromString(blob).datums
    except DecodeError as error:
        raise CodecError(
            f"The blob of row {number} is no row: {error}.", help="The part was not written by this codec."
        ) from error


def _wrong_count(columns: Sequence[Column], found: int, number: int) -> CodecError:
    names = ", ".join(column.name for column in columns) or "none"
    odd = f"column {columns[found].name!r} has none" if found < len(columns) else "the last ones have no column"
    return CodecError(
        f"Row {number} holds {found} values for {len(columns)} columns ({names}): {odd}.",
        help="Decode it with the columns that it was written with.",
    )
