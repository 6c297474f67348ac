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
    __slots__ = ("null", "bool_value", "int64_value", "float64_value", "string_value", "bytes_value", "timestamp_value", "timestamp_ns_value", "int32_value", "float32_value", "uint64_value", "date_value", "numeric_value", "uuid_value", "jsonb_value", "int16_value", "uint16_value", "uint32_value", "time_value", "timestamptz_value", "interval_value", "mz_timestamp_value", "list_value", "record_value", "int2vector_value", "map_value", "array_value", "range_value", "mz_aclitem_value", "aclitem_value")
    NULL_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    FLOAT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_NS_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    FLOAT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    DATE_VALUE_FIELD_NUMBER: _ClassVar[int]
    NUMERIC_VALUE_FIELD_NUMBER: _ClassVar[int]
    UUID_VALUE_FIELD_NUMBER: _ClassVar[int]
    JSONB_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT16_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT16_VALUE_FIELD_NUMBER: _ClassVar[int]
    UINT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIME_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMPTZ_VALUE_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_VALUE_FIELD_NUMBER: _ClassVar[int]
    MZ_TIMESTAMP_VALUE_FIELD_NUMBER: _ClassVar[int]
    LIST_VALUE_FIELD_NUMBER: _ClassVar[int]
    RECORD_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT2VECTOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    MAP_VALUE_FIELD_NUMBER: _ClassVar[int]
    ARRAY_VALUE_FIELD_NUMBER: _ClassVar[int]
    RANGE_VALUE_FIELD_NUMBER: _ClassVar[int]
    MZ_ACLITEM_VALUE_FIELD_NUMBER: _ClassVar[int]
    ACLITEM_VALUE_FIELD_NUMBER: _ClassVar[int]
    null: Null
    bool_value: bool
    int64_value: int
    float64_value: float
    string_value: str
    bytes_value: bytes
    timestamp_value: int
    timestamp_ns_value: int
    int32_value: int
    float32_value: float
    uint64_value: int
    date_value: int
    numeric_value: str
    uuid_value: bytes
    jsonb_value: str
    int16_value: int
    uint16_value: int
    uint32_value: int
    time_value: int
    timestamptz_value: int
    interval_value: bytes
    mz_timestamp_value: int
    list_value: Values
    record_value: Values
    int2vector_value: Values
    map_value: Values
    array_value: Values
    range_value: Values
    mz_aclitem_value: Values
    aclitem_value: Values
    def __init__(self, null: _Optional[_Union[Null, _Mapping]] = ..., bool_value: _Optional[bool] = ..., int64_value: _Optional[int] = ..., float64_value: _Optional[float] = ..., string_value: _Optional[str] = ..., bytes_value: _Optional[bytes] = ..., timestamp_value: _Optional[int] = ..., timestamp_ns_value: _Optional[int] = ..., int32_value: _Optional[int] = ..., float32_value: _Optional[float] = ..., uint64_value: _Optional[int] = ..., date_value: _Optional[int] = ..., numeric_value: _Optional[str] = ..., uuid_value: _Optional[bytes] = ..., jsonb_value: _Optional[str] = ..., int16_value: _Optional[int] = ..., uint16_value: _Optional[int] = ..., uint32_value: _Optional[int] = ..., time_value: _Optional[int] = ..., timestamptz_value: _Optional[int] = ..., interval_value: _Optional[bytes] = ..., mz_timestamp_value: _Optional[int] = ..., list_value: _Optional[_Union[Values, _Mapping]] = ..., record_value: _Optional[_Union[Values, _Mapping]] = ..., int2vector_value: _Optional[_Union[Values, _Mapping]] = ..., map_value: _Optional[_Union[Values, _Mapping]] = ..., array_value: _Optional[_Union[Values, _Mapping]] = ..., range_value: _Optional[_Union[Values, _Mapping]] = ..., mz_aclitem_value: _Optional[_Union[Values, _Mapping]] = ..., aclitem_value: _Optional[_Union[Values, _Mapping]] = ...) -> None: ...

class Null(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Values(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[Datum]
    def __init__(self, values: _Optional[_Iterable[_Union[Datum, _Mapping]]] = ...) -> None: ...
