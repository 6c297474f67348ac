"""How a table's types show in Spark. Nothing is lossy: what Spark has no type for shows as the nearest that holds it.

| type | in Spark |
|---|---|
| uint16, uint32 | the next wider integer |
| uint64, mz_timestamp | decimal(20,0) |
| time, timestamp_ns | bigint: microseconds since midnight, nanoseconds since the epoch |
| numeric, uuid, jsonb | string |
| interval | struct<months int, days int, micros bigint> |
| map | map<string, …> |
| array, range, mz_aclitem, aclitem, int2vector | the structs and arrays that they are made of |
"""

import functools
from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.model import types
from instar.model.arrow import INTERVAL_BYTES, UUID_BYTES, made_of, to_arrow
from instar.model.schema import Column
from instar.model.types import DataType, UnsupportedType
from instar.model.values import InvalidValue

_UNSIGNED = pa.decimal128(20, 0)
_INTERVAL = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("micros", pa.int64())])
_PACKED = np.dtype([("months", ">u4"), ("days", ">u4"), ("micros", ">u8")])
_SIGN_32, _SIGN_64 = np.uint32(2**31), np.uint64(2**63)
_DASHES = (8, 12, 16, 20)
_UUID_TEXT = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"

_CAST: dict[DataType, pa.DataType] = {
    types.UINT16: pa.int32(),
    types.UINT32: pa.int64(),
    types.UINT64: _UNSIGNED,
    types.MZ_TIMESTAMP: _UNSIGNED,
    types.TIME: pa.int64(),
    types.TIMESTAMP_NS: pa.int64(),
}
_REWRITTEN: dict[DataType, pa.DataType] = {
    types.NUMERIC: pa.string(),
    types.UUID: pa.string(),
    types.INTERVAL: _INTERVAL,
}
_WORDS: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    _UNSIGNED: "decimal(20,0)",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
}


def spark_type(data_type: DataType) -> str:
    """Return the Spark type, in the words of its DDL, that values of a type show as."""
    return _in_words(_shown_as(data_type))


def spark_fields(columns: Sequence[Column]) -> str:
    """Return the columns as Spark's DDL."""
    return ", ".join(f"{_quote(column.name)} {spark_type(column.type)}" for column in columns)


def to_spark_form(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return the columns as Arrow data that Spark takes."""
    return _convert(table, columns, _shown_as, _show)


def from_spark_form(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return columns in the form that `to_spark_form` gives as the table's own types."""
    return _convert(table, columns, to_arrow, _read)


def _in_words(shown: pa.DataType) -> str:
    if pa.types.is_list(shown):
        return f"array<{_in_words(shown.value_type)}>"
    if pa.types.is_map(shown):
        return f"map<string, {_in_words(shown.item_type)}>"
    if pa.types.is_struct(shown):
        return f"struct<{', '.join(f'{_quote(field.name)}: {_in_words(field.type)}' for field in shown)}>"
    return _WORDS[shown]


def _quote(name: str) -> str:
    if "\0" in name:
        raise UnsupportedType(
            f"Spark loses what the name {name!r} stands for: it has a zero character.", help="Rename it."
        )
    return f"`{name.replace('`', '``')}`"


@functools.cache
def _shown_as(data_type: DataType) -> pa.DataType:
    """Return the Arrow type that values of a type have on their way to and from Spark."""
    if data_type.kind == "map":
        return pa.map_(pa.string(), _shown_as(data_type.inner))
    stored = made_of(data_type)
    if stored.kind == "list":
        return pa.list_(_shown_as(stored.inner))
    if stored.kind == "record":
        return pa.struct([pa.field(name, _shown_as(part)) for name, part in stored.parts])
    return _CAST.get(data_type) or _REWRITTEN.get(data_type) or to_arrow(data_type)


_Target = Callable[[DataType], pa.DataType]
_Rewrite = Callable[[DataType, pa.Array], pa.Array]


def _convert(table: pa.Table, columns: Sequence[Column], target: _Target, rewrite: _Rewrite) -> pa.Table:
    arrays = []
    for column in columns:
        chunks = table.column(column.name).chunks
        rebuilt = [_rebuild(column.type, chunk, target, rewrite) for chunk in chunks]
        arrays.append(pa.chunked_array(rebuilt, target(column.type)))
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _rebuild(data_type: DataType, values: pa.Array, target: _Target, rewrite: _Rewrite) -> pa.Array:
    """Return values with the Arrow type that `target` gives each part; `rewrite` does what a cast can't."""
    wanted, stored = target(data_type), made_of(data_type)
    if values.type == wanted:
        return values
    if stored.kind == "record":
        parts = zip(stored.parts, values.flatten(), strict=True)
        fields = [_rebuild(part, field, target, rewrite) for (_, part), field in parts]
        return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=values.is_null())
    if stored.kind != "list":
        return rewrite(data_type, values) if data_type in _REWRITTEN else values.cast(wanted)
    if pa.types.is_map(values.type):
        values = _entries(values)
    members = _rebuild(stored.inner, values.flatten(), target, rewrite)
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(values.value_lengths().fill_null(0).to_numpy(), out=offsets[1:])
    if pa.types.is_map(wanted):
        return pa.MapArray.from_arrays(pa.array(offsets), *members.flatten(), type=wanted, mask=values.is_null())
    return pa.ListArray.from_arrays(pa.array(offsets), members, type=wanted, mask=values.is_null())


def _entries(maps: pa.MapArray) -> pa.ListArray:
    entry = pa.struct([pa.field("key", maps.type.key_type), pa.field("value", maps.type.item_type)])
    return maps.cast(pa.list_(entry))


def _show(data_type: DataType, values: pa.Array) -> pa.Array:
    """Return values that are written in another way in Spark."""
    if data_type == types.NUMERIC:
        return pc.struct_field(values, "actual")
    if data_type == types.UUID:
        return _uuid_texts(values)
    return _unpacked(values)


def _read(data_type: DataType, values: pa.Array) -> pa.Array:
    """Undo `_show`."""
    if data_type == types.NUMERIC:
        lossy = pc.add(values.cast(pa.float64()), 0.0)  # a tiny negative is no -0
        return pa.StructArray.from_arrays([lossy, values], fields=list(to_arrow(data_type)), mask=values.is_null())
    if data_type == types.UUID:
        return _uuid_bytes(values)
    return _packed(values)


def _uuid_texts(values: pa.FixedSizeBinaryArray) -> pa.StringArray:
    digits = np.frombuffer(_fixed_bytes(values).hex().encode(), np.uint8).reshape(len(values), 2 * UUID_BYTES)
    letters = np.insert(digits, _DASHES, ord("-"), axis=1)
    offsets = np.arange(0, letters.size + 1, letters.shape[1], dtype=np.int32)
    texts = pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(letters))
    return _with_nulls_of(values, texts)


def _uuid_bytes(values: pa.StringArray) -> pa.FixedSizeBinaryArray:
    texts = values.fill_null(str(UUID(int=0)))
    wrong = texts.filter(pc.invert(pc.match_substring_regex(texts, _UUID_TEXT)))
    if len(wrong):
        raise InvalidValue(f"{wrong[0].as_py()!r} is no uuid.", help="Write 32 hexadecimal digits in five groups.")
    return _from_fixed_bytes(values, bytes.fromhex("".join(texts.to_pylist()).replace("-", "")), pa.binary(UUID_BYTES))


def _unpacked(values: pa.FixedSizeBinaryArray) -> pa.StructArray:
    """Return the months, days and microseconds of intervals; `model.values.pack_interval` says how they are packed."""
    rows = np.frombuffer(_fixed_bytes(values), _PACKED)
    months, days = ((rows[name] ^ _SIGN_32).astype("=u4").view("=i4") for name in ("months", "days"))
    micros = (rows["micros"] ^ _SIGN_64).astype("=u8").view("=i8")
    fields = list(map(pa.array, (months, days, micros)))
    return pa.StructArray.from_arrays(fields, fields=list(_INTERVAL), mask=values.is_null())


def _packed(values: pa.StructArray) -> pa.FixedSizeBinaryArray:
    months, days, micros = (field.fill_null(0).to_numpy() for field in values.flatten())
    rows = np.empty(len(values), _PACKED)
    rows["months"], rows["days"] = months.view("=u4") ^ _SIGN_32, days.view("=u4") ^ _SIGN_32
    rows["micros"] = micros.view("=u8") ^ _SIGN_64
    return _from_fixed_bytes(values, rows.tobytes(), pa.binary(INTERVAL_BYTES))


def _fixed_bytes(values: pa.FixedSizeBinaryArray) -> bytes:
    """Return the bytes of all values, one after the other; a null's are any."""
    width = values.type.byte_width
    data = values.buffers()[1]
    return data[values.offset * width : (values.offset + len(values)) * width].to_pybytes() if data else b""


def _from_fixed_bytes(values: pa.Array, data: bytes, wanted: pa.DataType) -> pa.FixedSizeBinaryArray:
    found = pa.FixedSizeBinaryArray.from_buffers(wanted, len(values), [None, pa.py_buffer(data)])
    return _with_nulls_of(values, found)


def _with_nulls_of(values: pa.Array, found: pa.Array) -> pa.Array:
    return pc.if_else(values.is_valid(), found, pa.scalar(None, found.type)) if values.null_count else found
