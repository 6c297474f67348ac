from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Row(_message.Message):
    __slots__ = ("datums",)
    DATUMS_FIELD_NUMBER: _ClassVar[int]
    datums: _containers.RepeatedCompositeFieldContainer[Datum]
    def __init__(self, datums: _Optional[_Iterable[_Union[Datum, _Mapping]]] = ...) -> None: ...

class Datum(_message.Message):
    __slots__ = ("null", "bool_value", "int64_value", "float64_value", "string_value", "bytes_value", "timestamp_value", "timestamp_ns_value")
    NULL_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FLOAT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_NS_VALUE_FIELD_NUMBER: _ClassVar[int]
    null: Null
    bool_value: bool
    int64_value: int
    float64_value: float
    string_value: str
    bytes_value: bytes
    timestamp_value: int
    timestamp_ns_value: int
    def __init__(self, null: _Optional[_Union[Null, _Mapping]] = ..., bool_value: _Optional[bool] = ..., int64_value: _Optional[int] = ..., float64_value: _Optional[float] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., timestamp_value: _Optional[int] = ..., timestamp_ns_value: _Optional[int] = ...) -> None: ...

class Null(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
