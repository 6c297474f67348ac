"""The user's own protobuf messages: a message per row, a field per column of the same name.

| field | column |
|---|---|
| bool, float, double, string, bytes | bool, float32, float64, string, bytes |
| int32, sint32, sfixed32; uint32, fixed32 | int32; uint32 |
| int64, sint64, sfixed64; uint64, fixed64 | int64; uint64 |
| an enum | string: the name of the value |
| google.protobuf.Timestamp | timestamp_ns |
| another message | record, a field each of the same name |
| repeated | list |
| map<string, …> | map |

A null is an unset field, so only fields with presence hold nulls: `optional` ones, messages, and members of a `oneof`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from instar.codec.json import checked, to_table
from instar.codec.protocol import CodecError
from instar.model import types
from instar.model.schema import Column
from instar.model.types import DataType
from instar.model.values import InvalidValue

_TIMESTAMP = "google.protobuf.Timestamp"
_SECOND = 10**9
_INT64 = range(-(2**63), 2**63)
_KEY, _VALUE = 1, 2
"""The fields of a map's entries."""
_SCALARS: dict[int, tuple[str, DataType]] = {
    FieldDescriptor.TYPE_BOOL: ("bool", types.BOOL),
    FieldDescriptor.TYPE_INT32: ("int32", types.INT32),
    FieldDescriptor.TYPE_SINT32: ("sint32", types.INT32),
    FieldDescriptor.TYPE_SFIXED32: ("sfixed32", types.INT32),
    FieldDescriptor.TYPE_INT64: ("int64", types.INT64),
    FieldDescriptor.TYPE_SINT64: ("sint64", types.INT64),
    FieldDescriptor.TYPE_SFIXED64: ("sfixed64", types.INT64),
    FieldDescriptor.TYPE_UINT32: ("uint32", types.UINT32),
    FieldDescriptor.TYPE_FIXED32: ("fixed32", types.UINT32),
    FieldDescriptor.TYPE_UINT64: ("uint64", types.UINT64),
    FieldDescriptor.TYPE_FIXED64: ("fixed64", types.UINT64),
    FieldDescriptor.TYPE_FLOAT: ("float", types.FLOAT32),
    FieldDescriptor.TYPE_DOUBLE: ("double", types.FLOAT64),
    FieldDescriptor.TYPE_STRING: ("string", types.STRING),
    FieldDescriptor.TYPE_BYTES: ("bytes", types.BYTES),
}


class ProtobufCodec:
    """Messages of one type, which a descriptor set defines.

    Parts name their codec, so a table's codec has a name of its own: return it from an entry point of that name.
    """

    def __init__(self, name: str, descriptor_set: bytes, message: str) -> None:
        """Take the message of this full name, such as `shop.Order`, from what `protoc --descriptor_set_out` wrote."""
        self.name = name
        self._message = GetMessageClass(_find_message(descriptor_set, message))

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        fields = [self._field_of(column) for column in columns]
        messages = [self._message() for _ in range(rows.num_rows)]
        for column, field, values in zip(columns, fields, checked(columns, rows), strict=True):
            for number, (message, value) in enumerate(zip(messages, values, strict=True)):
                try:
                    _set(message, field, value)
                except InvalidValue as error:
                    raise _in_cell(column, number, error) from error
        return pa.array([message.SerializePartialToString(deterministic=True) for message in messages], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        fields = [self._field_of(column) for column in columns]
        cells: list[list[Any]] = [[] for _ in columns]
        for number, blob in enumerate(blobs.to_pylist()):
            message = self._parse(blob, number)
            try:
                _check_nothing_else(message, fields)
            except InvalidValue as error:
                raise CodecError(f"Row {number}: {error.fact}", help=error.help) from error
            for column, field, values in zip(columns, fields, cells, strict=True):
                try:
                    values.append(_get(message, field))
                except InvalidValue as error:
                    raise _in_cell(column, number, error) from error
        return to_table(columns, cells)

    def _field_of(self, column: Column) -> "_Field":
        return _match(f"Column {column.name!r}", column.name, column.type, self._message.DESCRIPTOR)

    def _parse(self, blob: bytes | None, number: int) -> Message:
        if blob is None:
            raise CodecError(f"Row {number} has no blob.", help="The part was not written by this codec.")
        try:
            return self._message.FromString(blob)
        except DecodeError as error:
            raise CodecError(
                f"The blob of row {number} is no {self._message.DESCRIPTOR.full_name}: {error}.",
                help="The part was not written by this codec.",
            ) from error


def _find_message(descriptor_set: bytes, name: str) -> Descriptor:
    """Return a message's descriptor from a pool that holds the descriptor set and nothing else."""
    pool = DescriptorPool()
    try:
        for file in FileDescriptorSet.FromString(descriptor_set).file:
            pool.AddSerializedFile(file.SerializeToString())
    except (DecodeError, TypeError) as error:
        raise CodecError(
            f"The descriptor set can't be read: {error}.",
            help="Write it with protoc --include_imports --descriptor_set_out=FILE.",
        ) from error
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError:
        raise CodecError(
            f"The descriptor set has no message {name!r}.", help="Give its full name, such as package.Message."
        ) from None


def _in_cell(column: Column, number: int, error: InvalidValue) -> CodecError:
    return CodecError(
        f"Row {number}, column {column.name!r}, which is {column.type}: {error.fact}", help=error.help
    )


# Which field holds which column.


@dataclass(frozen=True)
class _Field:
    """A field that holds a column, or a record's field: alone, in a list or in a map."""

    whole: FieldDescriptor
    one: FieldDescriptor
    """What describes one value: a map's is a field of its entries."""
    parts: tuple["_Field", ...]
    """The fields of the message that a record is."""

    @property
    def is_map(self) -> bool:
        return self.one is not self.whole

    @property
    def is_timestamp(self) -> bool:
        return _is_timestamp(self.one)


def _match(place: str, name: str, data_type: DataType, message: Descriptor) -> _Field:
    """Return the field of a message that is called `name` and holds values of a type."""
    whole = message.fields_by_name.get(name)
    if whole is None:
        raise CodecError(
            f"{place} is {data_type}, but {message.full_name} has no field {name!r}.",
            help=f"It has: {', '.join(message.fields_by_name) or 'none'}.",
        )
    one = whole
    if whole.is_repeated:
        key, one = _key_and_value(whole) or (None, whole)
        needed = "list" if key is None else "map"
        fits = data_type.kind == needed and (key is None or key.type == FieldDescriptor.TYPE_STRING)
        single = data_type.inner if fits else None
    else:
        single = data_type
    scalar = _scalar_type(one)
    if single is None or (single.kind != "record" if scalar is None else single != scalar):
        raise CodecError(
            f"{place} is {data_type}, but the field {whole.full_name} is {_field_text(whole)}.",
            help="Change the column's type, or the name of one of them.",
        )
    parts = () if scalar else single.parts
    return _Field(
        whole, one, tuple(_match(f"{place}, field {part!r}", part, of, one.message_type) for part, of in parts)
    )
