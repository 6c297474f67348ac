"""The state of tables as protobuf, with Arrow inside."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from uuid import UUID

import pyarrow as pa
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from instar.catalog import transaction_pb2 as pb
from instar.catalog.apply import UnknownFormat
from instar.catalog.origin_set import OriginSet
from instar.catalog.part_set import PartSet
from instar.catalog.snapshot import Adoption, TableState, Unknown
from instar.catalog.tombstones import KeyTombstone, PlacedTombstone, PredicateTombstone, Tombstone
from instar.catalog.vector import RevisionVector, TimelineId
from instar.catalog.wire import split
from instar.flags import Flags, Pushdown, ReadFormat, WriteFormat
from instar.model.schema import TableSchema

_K = TypeVar("_K")
_N = TypeVar("_N")
_SMALL = 100  # rows that are not worth compressing
_PARTS, _ORIGINS = pb.TableState.PARTS_FIELD_NUMBER, pb.TableState.ORIGINS_FIELD_NUMBER

# Zero is unspecified in each, and hence an error.
_WRITE_FORMATS = {
    WriteFormat.CODEC: pb.WRITE_FORMAT_CODEC,
    WriteFormat.DUAL: pb.WRITE_FORMAT_DUAL,
    WriteFormat.STRUCTURED: pb.WRITE_FORMAT_STRUCTURED,
}
_READ_FORMATS = {
    ReadFormat.CODEC: pb.READ_FORMAT_CODEC,
    ReadFormat.SHADOW: pb.READ_FORMAT_SHADOW,
    ReadFormat.STRUCTURED: pb.READ_FORMAT_STRUCTURED,
}
_PUSHDOWNS = {Pushdown.OFF: pb.PUSHDOWN_OFF, Pushdown.SOFT: pb.PUSHDOWN_SOFT, Pushdown.ON: pb.PUSHDOWN_ON}


def table_to_pb(table: TableState) -> pb.TableState:
    encoded = pb.TableState(
        schema_json=schema_to_json(table.schema, table.unknown),
        parts=arrow_to_bytes(table.parts),
        flags=flags_to_pb(table.flags),
        flags_version=table.flags_version,
        origins=arrow_to_bytes(table.origins.table()),
        tombstones=[tombstone_to_pb(placed.tombstone, placed.revision) for placed in table.tombstones],
        schema_time_micros=table.schema_time,
    )
    encoded.MergeFromString(table.unknown.fields)
    return encoded


def table_from_pb(table: pb.TableState) -> TableState:
    return table_from_bytes(memoryview(table.SerializeToString()))


def table_from_bytes(data: memoryview) -> TableState:
    """Return a table's state from its message, whose Arrow data is not copied."""
    taken, rest = split(data, frozenset({_PARTS, _ORIGINS}))
    parts, origins = (arrow_from_bytes(pa.py_buffer(taken[number][-1])) for number in (_PARTS, _ORIGINS))
    table = pb.TableState.FromString(rest)
    schema, extra = schema_from_json(table.schema_json)
    return TableState(
        schema,
        PartSet(parts),
        flags_from_pb(table.flags),
        table.flags_version,
        OriginSet(origins),
        tuple(PlacedTombstone(tombstone_from_pb(of), of.placed_at_revision) for of in table.tombstones),
        table.schema_time_micros,
        Unknown(unknown_fields(table), extra),
    )


def unknown_fields(message: Message) -> bytes:
    """Return the fields of a message that this version does not know, as they were encoded."""
    if not len(UnknownFieldSet(message)):
        return b""
    rest = type(message)()
    rest.CopyFrom(message)
    for field, _ in message.ListFields():
        rest.ClearField(field.name)
    return rest.SerializeToString(deterministic=True)


def tombstone_to_pb(tombstone: Tombstone, revision: int = 0) -> pb.Tombstone:
    encoded = pb.Tombstone(id=tombstone.id.bytes, placed_at_revision=revision)
    match tombstone:
        case KeyTombstone():
            encoded.by_key.CopyFrom(pb.KeyTombstone(keys=arrow_to_bytes(tombstone.keys), t=tombstone.t))
        case PredicateTombstone():
            encoded.by_predicate.where = tombstone.where
            for place, covered in tombstone.covers:
                encoded.by_predicate.covers.add(writer=place.writer, database=place.database, revision=covered)
    return encoded


def tombstone_from_pb(tombstone: pb.Tombstone) -> Tombstone:
    number = UUID(bytes=tombstone.id)
    match tombstone.WhichOneof("kind"):
        case "by_key":
            return KeyTombstone(number, arrow_from_bytes(tombstone.by_key.keys), tombstone.by_key.t)
        case "by_predicate":
            covers = {TimelineId(of.writer, of.database): of.revision for of in tombstone.by_predicate.covers}
            return PredicateTombstone(number, tombstone.by_predicate.where, RevisionVector.of(covers))
        case _:
            raise UnknownFormat("A tombstone is of a kind that this version does not know.", help="Upgrade Instar.")


def adopted_to_pb(adopted: Mapping[str, Adoption]) -> list[pb.Adoption]:
    return [
        pb.Adoption(writer=writer, final_revision=of.final, final_uuid=of.uuid.bytes, revision=of.revision)
        for writer, of in sorted(adopted.items())
    ]


def adopted_from_pb(adopted: Iterable[pb.Adoption]) -> dict[str, Adoption]:
    return {of.writer: Adoption(of.final_revision, UUID(bytes=of.final_uuid), of.revision) for of in adopted}


def flags_to_pb(flags: Flags) -> pb.Flags:
    return pb.Flags(
        write_format=_WRITE_FORMATS[flags.write_format],
        read_format=_READ_FORMATS[flags.read_format],
        pushdown=_PUSHDOWNS[flags.pushdown],
    )


def flags_from_pb(flags: pb.Flags) -> Flags:
    return Flags(
        _named(_WRITE_FORMATS, flags.write_format, "write_format"),
        _named(_READ_FORMATS, flags.read_format, "read_format"),
        _named(_PUSHDOWNS, flags.pushdown, "pushdown"),
    )


def schema_to_json(schema: TableSchema, unknown: Unknown) -> str:
    value = schema.to_json()
    extra = dict(unknown.schema)
    for column in value["columns"]:
        column.update(extra.get("columns", {}).get(str(column["id"]), {}))
    value["settings"].update(extra.get("settings", {}))
    value.update(extra.get("table", {}))
    return json.dumps(value, sort_keys=True)


def schema_from_json(text: str) -> tuple[TableSchema, Mapping[str, Any]]:
    """Return a schema, and the members that this version does not know: of the table, of its settings and columns."""
    value = json.loads(text)
    known_columns, extra_columns = [], {}
    for column in value["columns"]:
        known, extra = _split(column, _COLUMN_MEMBERS)
        known_columns.append(known)
        if extra:
            extra_columns[str(column["id"])] = extra
    settings, extra_settings = _split(value["settings"], _SETTINGS_MEMBERS)
    known_value, extra_table = _split(value, _TABLE_MEMBERS)
    schema = TableSchema.from_json({**known_value, "columns": known_columns, "settings": settings})
    extras = {"table": extra_table, "columns": extra_columns, "settings": extra_settings}
    return schema, {name: extra for name, extra in extras.items() if extra}


def _split(value: Mapping[str, Any], known: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {name: of for name, of in value.items() if name in known},
        {name: of for name, of in value.items() if name not in known},
    )


def arrow_to_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    compression = "lz4" if table.num_rows > _SMALL else None
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def arrow_from_bytes(data: bytes | pa.Buffer) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _named(numbers: Mapping[_K, _N], number: _N, flag: str) -> _K:
    for name, candidate in numbers.items():
        if candidate == number:
            return name
    raise UnknownFormat(f"{flag} has the value {number}, which this version does not know.", help="Upgrade Instar.")


def _members() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the members that this version writes, of a table, a column and settings."""
    sample = TableSchema.create("a.b", {"c": "int64"}, ids=lambda: 1).to_json()
    return frozenset(sample), frozenset(sample["columns"][0]), frozenset(sample["settings"])


_TABLE_MEMBERS, _COLUMN_MEMBERS, _SETTINGS_MEMBERS = _members()
