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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from instar.codec.columns import in_cell, to_cells, to_table
from instar.codec.protocol import CodecError
from instar.model import types
from instar.model.schema import Column
from instar.model.types import DataType
from instar.model.values import InvalidValue

_TIMESTAMP = "google.protobuf.Timestamp"
_SECOND = 10**9
_INT64 = range(-(2**63), 2**63)
_NEWER = "Use the descriptor set that the message was written with, or a newer one."
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
        self._descriptor = _find_message(descriptor_set, message)
        self._message = GetMessageClass(self._descriptor)

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        fields = [self._field_of(column) for column in columns]
        messages = [self._message() for _ in range(rows.num_rows)]
        for column, field, values in zip(columns, fields, to_cells(columns, rows), strict=True):
            for number, (message, value) in enumerate(zip(messages, values, strict=True)):
                try:
                    _set(message, field, value)
                except InvalidValue as error:
                    raise in_cell(column, number, error) from error
        return pa.array([message.SerializePartialToString(deterministic=True) for message in messages], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        fields = [self._field_of(column) for column in columns]
        cells: list[list[Any]] = [[] for _ in columns]
        for number, blob in enumerate(blobs.to_pylist()):
            message = self._parse(blob, number)
            try:
                _check_wanted(message, fields)
            except InvalidValue as error:
                raise CodecError(f"Row {number}: {error.fact}", help=error.help) from error
            for column, field, values in zip(columns, fields, cells, strict=True):
                try:
                    values.append(_get(message, field))
                except InvalidValue as error:
                    raise in_cell(column, number, error) from error
        return to_table(columns, cells)

    def _field_of(self, column: Column) -> "_Field":
        return _match(f"Column {column.name!r}", column.name, column.type, self._descriptor)

    def _parse(self, blob: bytes | None, number: int) -> Message:
        if blob is None:
            raise CodecError(f"Row {number} has no blob.", help="The part was not written by this codec.")
        try:
            return self._message.FromString(blob)
        except DecodeError as error:
            raise CodecError(
                f"The blob of row {number} is no {self._descriptor.full_name}: {error}.",
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
    key, one = _key_and_value(whole)
    single = _single(data_type, whole, key)
    scalar = _scalar_type(one)
    if single is None or (single.kind != "record" if scalar is None else single != scalar):
        raise CodecError(
            f"{place} is {data_type}, but the field {whole.full_name} is {_field_text(whole)}.",
            help="Change the column's type, or name another field.",
        )
    inside = one.message_type
    if inside is None or scalar is not None:
        return _Field(whole, one, ())
    parts = (_match(f"{place}, field {part!r}", part, of, inside) for part, of in single.parts)
    return _Field(whole, one, tuple(parts))


def _single(data_type: DataType, whole: FieldDescriptor, key: FieldDescriptor | None) -> DataType | None:
    """Return the type of one value of a field that holds `data_type`; None if it does not repeat as the type does."""
    if not whole.is_repeated:
        return data_type
    if key is None:
        return data_type.inner if data_type.kind == "list" else None
    return data_type.inner if data_type.kind == "map" and key.type == FieldDescriptor.TYPE_STRING else None


def _key_and_value(field: FieldDescriptor) -> tuple[FieldDescriptor | None, FieldDescriptor]:
    """Return the fields of a map's entries; other fields have no key and are their own value."""
    entry = field.message_type
    if entry is None or not entry.GetOptions().map_entry:
        return None, field
    return entry.fields_by_number[_KEY], entry.fields_by_number[_VALUE]


def _scalar_type(one: FieldDescriptor) -> DataType | None:
    """Return the type of a field's values; None for messages that are records."""
    if one.enum_type is not None:
        return types.STRING
    if one.message_type is not None:
        return types.TIMESTAMP_NS if _is_timestamp(one) else None
    return _SCALARS[one.type][1]


def _is_timestamp(one: FieldDescriptor) -> bool:
    return one.message_type is not None and one.message_type.full_name == _TIMESTAMP


def _field_text(field: FieldDescriptor) -> str:
    """Return a field's type as .proto files have it."""
    key, one = _key_and_value(field)
    named = one.message_type or one.enum_type
    text = named.full_name if named else _SCALARS[one.type][0]
    if key is not None:
        return f"map<{_SCALARS[key.type][0]}, {text}>"
    return f"repeated {text}" if field.is_repeated else text


# Values to fields.


def _set(message: Message, field: _Field, value: Any) -> None:
    whole = field.whole
    if value is None:
        if not whole.has_presence or whole.is_required:
            raise _no_null(whole)
    elif whole.is_repeated:
        _set_repeated(getattr(message, whole.name), field, value)
    else:
        if whole.containing_oneof and (other := message.WhichOneof(whole.containing_oneof.name)):
            raise InvalidValue(
                f"The field {other!r} of the same oneof has a value too.", help="Let one of them be null in each row."
            )
        if whole.message_type is None:
            setattr(message, whole.name, _to_scalar(field, value))
        else:
            getattr(message, whole.name).SetInParent()
            _fill(getattr(message, whole.name), field, value)


def _set_repeated(container: Any, field: _Field, value: Any) -> None:
    if None in (value.values() if field.is_map else value):
        raise _no_null(field.whole)
    if field.is_map:
        for key, item in value.items():
            if field.one.message_type is None:
                container[key] = _to_scalar(field, item)
            else:
                _fill(container[key], field, item)
    else:
        for item in value:
            if field.one.message_type is None:
                container.append(_to_scalar(field, item))
            else:
                _fill(container.add(), field, item)


def _fill(message: Message, field: _Field, value: Any) -> None:
    """Put a record, or a time, into a message."""
    if field.is_timestamp:
        message.seconds, message.nanos = divmod(value, _SECOND)  # type: ignore[attr-defined]
    for part in field.parts:
        _set(message, part, value[part.whole.name])


def _to_scalar(field: _Field, value: Any) -> Any:
    enum = field.one.enum_type
    if enum is None:
        return value
    known = enum.values_by_name.get(value)
    if known is None or enum.values_by_number[known.number].name != value:
        names = ", ".join(enum.values_by_number[number].name for number in enum.values_by_number)
        raise InvalidValue(f"{enum.full_name} has no value {value!r}.", help=f"It has: {names}.")
    return known.number


def _no_null(field: FieldDescriptor) -> InvalidValue:
    if field.is_repeated:
        return InvalidValue(
            f"The field {field.full_name} is {_field_text(field)}, which holds no null.",
            help="Write an empty one, or leave the null items out.",
        )
    if field.is_required:
        return InvalidValue(f"The field {field.full_name} is required, so it holds no null.", help="Give it a value.")
    return InvalidValue(
        f"The field {field.full_name} has no presence, so it holds no null.", help="Declare it optional."
    )


# Fields to values.


def _check_known(message: Message) -> None:
    """Check that a message holds nothing that its descriptor does not have."""
    unknown = UnknownFieldSet(message)
    if len(unknown):
        raise InvalidValue(
            f"Field number {unknown[0].field_number} of {message.DESCRIPTOR.full_name} is unknown, or its value is.",
            help=_NEWER,
        )


def _check_wanted(message: Message, fields: Sequence[_Field]) -> None:
    """Check that a message holds nothing besides `fields`."""
    _check_known(message)
    wanted = {field.whole.number for field in fields}
    for found, _ in message.ListFields():
        if found.number not in wanted:
            raise InvalidValue(
                f"The field {found.full_name} has a value, but no place to go.",
                help=f"Give it a column, or a field of the record, called {found.name!r}.",
            )


def _get(message: Message, field: _Field) -> Any:
    whole = field.whole
    if whole.has_presence and not message.HasField(whole.name):
        return None
    value = getattr(message, whole.name)
    if field.is_map:
        return {key: _to_value(field, value[key]) for key in value}
    return [_to_value(field, item) for item in value] if whole.is_repeated else _to_value(field, value)


def _to_value(field: _Field, found: Any) -> Any:
    if field.is_timestamp:
        return _to_nanoseconds(found)
    if field.one.message_type is not None:
        _check_wanted(found, field.parts)
        return {part.whole.name: _get(found, part) for part in field.parts}
    enum = field.one.enum_type
    if enum is not None:
        if found not in enum.values_by_number:
            raise InvalidValue(f"{enum.full_name} has no value with the number {found}.", help=_NEWER)
        return enum.values_by_number[found].name
    if field.one.type == FieldDescriptor.TYPE_STRING and not isinstance(found, str):
        raise InvalidValue(f"The string of the field {field.one.full_name} is not UTF-8.", help="Declare it as bytes.")
    return found


def _to_nanoseconds(found: Any) -> int:
    _check_known(found)
    value = int(found.seconds * _SECOND + found.nanos)
    if not 0 <= found.nanos < _SECOND or value not in _INT64:
        raise InvalidValue(
            f"{found.seconds} seconds and {found.nanos} nanoseconds since 1970 are out of range.",
            help="A timestamp_ns is from 1677 to 2262, and the nanoseconds are less than a second.",
        )
    return value
