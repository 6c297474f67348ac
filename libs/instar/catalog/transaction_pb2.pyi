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

class ResetReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESET_REASON_UNSPECIFIED: _ClassVar[ResetReason]
    RESET_REASON_RESTORE: _ClassVar[ResetReason]
    RESET_REASON_REBUILD: _ClassVar[ResetReason]
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
RESET_REASON_UNSPECIFIED: ResetReason
RESET_REASON_RESTORE: ResetReason
RESET_REASON_REBUILD: ResetReason

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
    __slots__ = ("change", "create_table", "add_parts", "remove_parts", "set_flags", "collect", "alter_table", "add_tombstones", "retire_tombstones", "seal", "adopt", "reset", "upgrade")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TABLE_FIELD_NUMBER: _ClassVar[int]
    ADD_PARTS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_PARTS_FIELD_NUMBER: _ClassVar[int]
    SET_FLAGS_FIELD_NUMBER: _ClassVar[int]
    COLLECT_FIELD_NUMBER: _ClassVar[int]
    ALTER_TABLE_FIELD_NUMBER: _ClassVar[int]
    ADD_TOMBSTONES_FIELD_NUMBER: _ClassVar[int]
    RETIRE_TOMBSTONES_FIELD_NUMBER: _ClassVar[int]
    SEAL_FIELD_NUMBER: _ClassVar[int]
    ADOPT_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    UPGRADE_FIELD_NUMBER: _ClassVar[int]
    change: Change
    create_table: CreateTable
    add_parts: AddParts
    remove_parts: RemoveParts
    set_flags: SetFlags
    collect: Collect
    alter_table: AlterTable
    add_tombstones: AddTombstones
    retire_tombstones: RetireTombstones
    seal: Seal
    adopt: Adopt
    reset: Reset
    upgrade: Upgrade
    def __init__(self, change: _Optional[_Union[Change, str]] = ..., create_table: _Optional[_Union[CreateTable, _Mapping]] = ..., add_parts: _Optional[_Union[AddParts, _Mapping]] = ..., remove_parts: _Optional[_Union[RemoveParts, _Mapping]] = ..., set_flags: _Optional[_Union[SetFlags, _Mapping]] = ..., collect: _Optional[_Union[Collect, _Mapping]] = ..., alter_table: _Optional[_Union[AlterTable, _Mapping]] = ..., add_tombstones: _Optional[_Union[AddTombstones, _Mapping]] = ..., retire_tombstones: _Optional[_Union[RetireTombstones, _Mapping]] = ..., seal: _Optional[_Union[Seal, _Mapping]] = ..., adopt: _Optional[_Union[Adopt, _Mapping]] = ..., reset: _Optional[_Union[Reset, _Mapping]] = ..., upgrade: _Optional[_Union[Upgrade, _Mapping]] = ...) -> None: ...

class CreateTable(_message.Message):
    __slots__ = ("schema_json",)
    SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    schema_json: str
    def __init__(self, schema_json: _Optional[str] = ...) -> None: ...

class AlterTable(_message.Message):
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

class AddTombstones(_message.Message):
    __slots__ = ("table", "tombstones")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    TOMBSTONES_FIELD_NUMBER: _ClassVar[int]
    table: str
    tombstones: _containers.RepeatedCompositeFieldContainer[Tombstone]
    def __init__(self, table: _Optional[str] = ..., tombstones: _Optional[_Iterable[_Union[Tombstone, _Mapping]]] = ...) -> None: ...

class Tombstone(_message.Message):
    __slots__ = ("id", "by_key", "by_predicate", "placed_at_revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    BY_KEY_FIELD_NUMBER: _ClassVar[int]
    BY_PREDICATE_FIELD_NUMBER: _ClassVar[int]
    PLACED_AT_REVISION_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    by_key: KeyTombstone
    by_predicate: PredicateTombstone
    placed_at_revision: int
    def __init__(self, id: _Optional[bytes] = ..., by_key: _Optional[_Union[KeyTombstone, _Mapping]] = ..., by_predicate: _Optional[_Union[PredicateTombstone, _Mapping]] = ..., placed_at_revision: _Optional[int] = ...) -> None: ...

class KeyTombstone(_message.Message):
    __slots__ = ("keys", "t")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    T_FIELD_NUMBER: _ClassVar[int]
    keys: bytes
    t: int
    def __init__(self, keys: _Optional[bytes] = ..., t: _Optional[int] = ...) -> None: ...

class PredicateTombstone(_message.Message):
    __slots__ = ("where", "covers")
    WHERE_FIELD_NUMBER: _ClassVar[int]
    COVERS_FIELD_NUMBER: _ClassVar[int]
    where: str
    covers: _containers.RepeatedCompositeFieldContainer[VectorEntry]
    def __init__(self, where: _Optional[str] = ..., covers: _Optional[_Iterable[_Union[VectorEntry, _Mapping]]] = ...) -> None: ...

class VectorEntry(_message.Message):
    __slots__ = ("writer", "database", "revision")
    WRITER_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    writer: str
    database: str
    revision: int
    def __init__(self, writer: _Optional[str] = ..., database: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class RetireTombstones(_message.Message):
    __slots__ = ("table", "ids")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    table: str
    ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, table: _Optional[str] = ..., ids: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Seal(_message.Message):
    __slots__ = ("heir",)
    HEIR_FIELD_NUMBER: _ClassVar[int]
    heir: str
    def __init__(self, heir: _Optional[str] = ...) -> None: ...

class Adopt(_message.Message):
    __slots__ = ("writer", "final_revision", "final_uuid", "tables")
    WRITER_FIELD_NUMBER: _ClassVar[int]
    FINAL_REVISION_FIELD_NUMBER: _ClassVar[int]
    FINAL_UUID_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    writer: str
    final_revision: int
    final_uuid: bytes
    tables: _containers.RepeatedCompositeFieldContainer[TableState]
    def __init__(self, writer: _Optional[str] = ..., final_revision: _Optional[int] = ..., final_uuid: _Optional[bytes] = ..., tables: _Optional[_Iterable[_Union[TableState, _Mapping]]] = ...) -> None: ...

class Reset(_message.Message):
    __slots__ = ("reason", "revision", "tables", "adopted")
    REASON_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    ADOPTED_FIELD_NUMBER: _ClassVar[int]
    reason: ResetReason
    revision: int
    tables: _containers.RepeatedCompositeFieldContainer[TableState]
    adopted: _containers.RepeatedCompositeFieldContainer[Adoption]
    def __init__(self, reason: _Optional[_Union[ResetReason, str]] = ..., revision: _Optional[int] = ..., tables: _Optional[_Iterable[_Union[TableState, _Mapping]]] = ..., adopted: _Optional[_Iterable[_Union[Adoption, _Mapping]]] = ...) -> None: ...

class Upgrade(_message.Message):
    __slots__ = ("min_reader", "min_writer")
    MIN_READER_FIELD_NUMBER: _ClassVar[int]
    MIN_WRITER_FIELD_NUMBER: _ClassVar[int]
    min_reader: int
    min_writer: int
    def __init__(self, min_reader: _Optional[int] = ..., min_writer: _Optional[int] = ...) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("writer", "database", "commit", "tables", "collected", "adopted", "heir", "min_reader", "min_writer")
    WRITER_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    COLLECTED_FIELD_NUMBER: _ClassVar[int]
    ADOPTED_FIELD_NUMBER: _ClassVar[int]
    HEIR_FIELD_NUMBER: _ClassVar[int]
    MIN_READER_FIELD_NUMBER: _ClassVar[int]
    MIN_WRITER_FIELD_NUMBER: _ClassVar[int]
    writer: str
    database: str
    commit: Commit
    tables: _containers.RepeatedCompositeFieldContainer[TableState]
    collected: _containers.RepeatedScalarFieldContainer[bytes]
    adopted: _containers.RepeatedCompositeFieldContainer[Adoption]
    heir: str
    min_reader: int
    min_writer: int
    def __init__(self, writer: _Optional[str] = ..., database: _Optional[str] = ..., commit: _Optional[_Union[Commit, _Mapping]] = ..., tables: _Optional[_Iterable[_Union[TableState, _Mapping]]] = ..., collected: _Optional[_Iterable[bytes]] = ..., adopted: _Optional[_Iterable[_Union[Adoption, _Mapping]]] = ..., heir: _Optional[str] = ..., min_reader: _Optional[int] = ..., min_writer: _Optional[int] = ...) -> None: ...

class Adoption(_message.Message):
    __slots__ = ("writer", "final_revision", "final_uuid", "revision")
    WRITER_FIELD_NUMBER: _ClassVar[int]
    FINAL_REVISION_FIELD_NUMBER: _ClassVar[int]
    FINAL_UUID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    writer: str
    final_revision: int
    final_uuid: bytes
    revision: int
    def __init__(self, writer: _Optional[str] = ..., final_revision: _Optional[int] = ..., final_uuid: _Optional[bytes] = ..., revision: _Optional[int] = ...) -> None: ...

class TableState(_message.Message):
    __slots__ = ("schema_json", "parts", "flags", "flags_version", "origins", "tombstones", "schema_time_micros")
    SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    TOMBSTONES_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_TIME_MICROS_FIELD_NUMBER: _ClassVar[int]
    schema_json: str
    parts: bytes
    flags: Flags
    flags_version: int
    origins: bytes
    tombstones: _containers.RepeatedCompositeFieldContainer[Tombstone]
    schema_time_micros: int
    def __init__(self, schema_json: _Optional[str] = ..., parts: _Optional[bytes] = ..., flags: _Optional[_Union[Flags, _Mapping]] = ..., flags_version: _Optional[int] = ..., origins: _Optional[bytes] = ..., tombstones: _Optional[_Iterable[_Union[Tombstone, _Mapping]]] = ..., schema_time_micros: _Optional[int] = ...) -> None: ...
