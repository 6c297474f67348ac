from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_TRANSACTION: _ClassVar[Kind]
    KIND_CHECKPOINT: _ClassVar[Kind]

class Change(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_UNSPECIFIED: _ClassVar[Change]
    CHANGE_DATA: _ClassVar[Change]
    CHANGE_LAYOUT: _ClassVar[Change]

class WriteFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WRITE_FORMAT_UNSPECIFIED: _ClassVar[WriteFormat]
    WRITE_FORMAT_CODEC: _ClassVar[WriteFormat]
    WRITE_FORMAT_DUAL: _ClassVar[WriteFormat]
    WRITE_FORMAT_STRUCTURED: _ClassVar[WriteFormat]

class ReadFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    READ_FORMAT_UNSPECIFIED: _ClassVar[ReadFormat]
    READ_FORMAT_CODEC: _ClassVar[ReadFormat]
    READ_FORMAT_SHADOW: _ClassVar[ReadFormat]
    READ_FORMAT_STRUCTURED: _ClassVar[ReadFormat]

class Pushdown(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PUSHDOWN_UNSPECIFIED: _ClassVar[Pushdown]
    PUSHDOWN_OFF: _ClassVar[Pushdown]
    PUSHDOWN_SOFT: _ClassVar[Pushdown]
    PUSHDOWN_ON: _ClassVar[Pushdown]
KIND_UNSPECIFIED: Kind
KIND_TRANSACTION: Kind
KIND_CHECKPOINT: Kind
CHANGE_UNSPECIFIED: Change
CHANGE_DATA: Change
CHANGE_LAYOUT: Change
WRITE_FORMAT_UNSPECIFIED: WriteFormat
WRITE_FORMAT_CODEC: WriteFormat
WRITE_FORMAT_DUAL: WriteFormat
WRITE_FORMAT_STRUCTURED: WriteFormat
READ_FORMAT_UNSPECIFIED: ReadFormat
READ_FORMAT_CODEC: ReadFormat
READ_FORMAT_SHADOW: ReadFormat
READ_FORMAT_STRUCTURED: ReadFormat
PUSHDOWN_UNSPECIFIED: Pushdown
PUSHDOWN_OFF: Pushdown
PUSHDOWN_SOFT: Pushdown
PUSHDOWN_ON: Pushdown

class Envelope(_message.Message):
    __slots__ = ("kind", "min_reader_version", "body", "sha256")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MIN_READER_VERSION_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    kind: Kind
    min_reader_version: int
    body: bytes
    sha256: bytes
    def __init__(self, kind: _Optional[_Union[Kind, str]] = ..., min_reader_version: _Optional[int] = ..., body: _Optional[bytes] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class Transaction(_message.Message):
    __slots__ = ("actions", "commit")
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedCompositeFieldContainer[Action]
    commit: Commit
    def __init__(self, actions: _Optional[_Iterable[_Union[Action, _Mapping]]] = ..., commit: _Optional[_Union[Commit, _Mapping]] = ...) -> None: ...

class Commit(_message.Message):
    __slots__ = ("revision", "uuid", "previous_uuid", "commit_time_micros")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_UUID_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIME_MICROS_FIELD_NUMBER: _ClassVar[int]
    revision: int
    uuid: bytes
    previous_uuid: bytes
    commit_time_micros: int
    def __init__(self, revision: _Optional[int] = ..., uuid: _Optional[bytes] = ..., previous_uuid: _Optional[bytes] = ..., commit_time_micros: _Optional[int] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("change", "create_table", "add_parts", "remove_parts", "set_flags", "collect")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TABLE_FIELD_NUMBER: _ClassVar[int]
    ADD_PARTS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_PARTS_FIELD_NUMBER: _ClassVar[int]
    SET_FLAGS_FIELD_NUMBER: _ClassVar[int]
    COLLECT_FIELD_NUMBER: _ClassVar[int]
    change: Change
    create_table: CreateTable
    add_parts: AddParts
    remove_parts: RemoveParts
    set_flags: SetFlags
    collect: Collect
    def __init__(self, change: _Optional[_Union[Change, str]] = ..., create_table: _Optional[_Union[CreateTable, _Mapping]] = ..., add_parts: _Optional[_Union[AddParts, _Mapping]] = ..., remove_parts: _Optional[_Union[RemoveParts, _Mapping]] = ..., set_flags: _Optional[_Union[SetFlags, _Mapping]] = ..., collect: _Optional[_Union[Collect, _Mapping]] = ...) -> None: ...

class CreateTable(_message.Message):
    __slots__ = ("schema_json",)
    SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    schema_json: str
    def __init__(self, schema_json: _Optional[str] = ...) -> None: ...

class AddParts(_message.Message):
    __slots__ = ("table", "parts", "empty_runs")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_RUNS_FIELD_NUMBER: _ClassVar[int]
    table: str
    parts: bytes
    empty_runs: _containers.RepeatedCompositeFieldContainer[Run]
    def __init__(self, table: _Optional[str] = ..., parts: _Optional[bytes] = ..., empty_runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("origin", "generation")
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    origin: str
    generation: int
    def __init__(self, origin: _Optional[str] = ..., generation: _Optional[int] = ...) -> None: ...

class RemoveParts(_message.Message):
    __slots__ = ("table", "keys")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    table: str
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, table: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ...) -> None: ...

class SetFlags(_message.Message):
    __slots__ = ("table", "flags", "version")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    table: str
    flags: Flags
    version: int
    def __init__(self, table: _Optional[str] = ..., flags: _Optional[_Union[Flags, _Mapping]] = ..., version: _Optional[int] = ...) -> None: ...

class Flags(_message.Message):
    __slots__ = ("write_format", "read_format", "pushdown")
    WRITE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    READ_FORMAT_FIELD_NUMBER: _ClassVar[int]
    PUSHDOWN_FIELD_NUMBER: _ClassVar[int]
    write_format: WriteFormat
    read_format: ReadFormat
    pushdown: Pushdown
    def __init__(self, write_format: _Optional[_Union[WriteFormat, str]] = ..., read_format: _Optional[_Union[ReadFormat, str]] = ..., pushdown: _Optional[_Union[Pushdown, str]] = ...) -> None: ...

class Collect(_message.Message):
    __slots__ = ("transactions",)
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    transactions: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, transactions: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("writer", "database", "commit", "tables", "collected")
    WRITER_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    COLLECTED_FIELD_NUMBER: _ClassVar[int]
    writer: str
    database: str
    commit: Commit
    tables: _containers.RepeatedCompositeFieldContainer[TableState]
    collected: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, writer: _Optional[str] = ..., database: _Optional[str] = ..., commit: _Optional[_Union[Commit, _Mapping]] = ..., tables: _Optional[_Iterable[_Union[TableState, _Mapping]]] = ..., collected: _Optional[_Iterable[bytes]] = ...) -> None: ...

class TableState(_message.Message):
    __slots__ = ("schema_json", "parts", "flags", "flags_version", "origins")
    SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    schema_json: str
    parts: bytes
    flags: Flags
    flags_version: int
    origins: _containers.RepeatedCompositeFieldContainer[Origin]
    def __init__(self, schema_json: _Optional[str] = ..., parts: _Optional[bytes] = ..., flags: _Optional[_Union[Flags, _Mapping]] = ..., flags_version: _Optional[int] = ..., origins: _Optional[_Iterable[_Union[Origin, _Mapping]]] = ...) -> None: ...

class Origin(_message.Message):
    __slots__ = ("origin", "generation", "transaction", "sealed")
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    origin: str
    generation: int
    transaction: bytes
    sealed: bool
    def __init__(self, origin: _Optional[str] = ..., generation: _Optional[int] = ..., transaction: _Optional[bytes] = ..., sealed: _Optional[bool] = ...) -> None: ...
