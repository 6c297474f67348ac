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
