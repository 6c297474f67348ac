"""Actions as protobuf."""

from uuid import UUID

from instar.catalog import transaction_pb2 as pb
from instar.catalog.actions import (
    Action,
    AddParts,
    AddTombstones,
    Adopt,
    AlterTable,
    Collect,
    CreateTable,
    RemoveParts,
    Reset,
    ResetReason,
    RetireTombstones,
    Run,
    Seal,
    SetFlags,
    Upgrade,
)
from instar.catalog.apply import UnknownFormat
from instar.catalog.snapshot import Unknown
from instar.catalog.state_encoding import (
    adopted_from_pb,
    adopted_to_pb,
    arrow_from_bytes,
    arrow_to_bytes,
    flags_from_pb,
    flags_to_pb,
    schema_from_json,
    schema_to_json,
    table_from_pb,
    table_to_pb,
    tombstone_from_pb,
    tombstone_to_pb,
    unknown_fields,
)
from instar.model.schema import TableSchema

_REASONS = {ResetReason.RESTORE: pb.RESET_REASON_RESTORE, ResetReason.REBUILD: pb.RESET_REASON_REBUILD}


def action_to_pb(action: Action) -> pb.Action:
    encoded = pb.Action(change=pb.CHANGE_DATA if action.data_change else pb.CHANGE_LAYOUT)
    match action:
        case CreateTable():
            encoded.create_table.schema_json = schema_to_json(action.schema, action.unknown)
            encoded.create_table.MergeFromString(action.unknown.fields)
        case AlterTable():
            encoded.alter_table.schema_json = schema_to_json(action.schema, action.unknown)
            encoded.alter_table.MergeFromString(action.unknown.fields)
        case AddParts():
            encoded.add_parts.table = action.table
            encoded.add_parts.parts = arrow_to_bytes(action.parts)
            for run in action.empty_runs:
                encoded.add_parts.empty_runs.add(origin=run.origin, generation=run.generation)
        case RemoveParts():
            encoded.remove_parts.CopyFrom(pb.RemoveParts(table=action.table, keys=action.keys))
        case SetFlags():
            flags = flags_to_pb(action.flags)
            encoded.set_flags.CopyFrom(pb.SetFlags(table=action.table, flags=flags, version=action.version))
        case Collect():
            encoded.collect.CopyFrom(pb.Collect(transactions=[uuid.bytes for uuid in action.transactions]))
        case _:
            _rare_to_pb(action, encoded)
    return encoded


def _rare_to_pb(action: AddTombstones | RetireTombstones | Seal | Adopt | Reset | Upgrade, encoded: pb.Action) -> None:
    match action:
        case AddTombstones():
            tombstones = [tombstone_to_pb(tombstone) for tombstone in action.tombstones]
            encoded.add_tombstones.CopyFrom(pb.AddTombstones(table=action.table, tombstones=tombstones))
        case RetireTombstones():
            ids = [uuid.bytes for uuid in action.ids]
            encoded.retire_tombstones.CopyFrom(pb.RetireTombstones(table=action.table, ids=ids))
        case Seal():
            encoded.seal.CopyFrom(pb.Seal(heir=action.heir))
        case Adopt():
            adopt = pb.Adopt(writer=action.writer, final_revision=action.final, final_uuid=action.uuid.bytes)
            adopt.tables.extend(table_to_pb(table) for table in action.tables)
            encoded.adopt.CopyFrom(adopt)
        case Reset():
            reset = pb.Reset(reason=_REASONS[action.reason], revision=action.revision)
            reset.tables.extend(table_to_pb(table) for table in action.tables)
            reset.adopted.extend(adopted_to_pb(action.adopted))
            encoded.reset.CopyFrom(reset)
        case Upgrade():
            encoded.upgrade.CopyFrom(pb.Upgrade(min_reader=action.min_reader, min_writer=action.min_writer))


def action_from_pb(action: pb.Action) -> Action:  # noqa: PLR0911 - one for each
    data_change = _data_change(action.change)
    match action.WhichOneof("action"):
        case "create_table":
            return CreateTable(*_schema_from_pb(action.create_table))
        case "alter_table":
            return AlterTable(*_schema_from_pb(action.alter_table))
        case "add_parts":
            added = action.add_parts
            runs = tuple(Run(run.origin, run.generation) for run in added.empty_runs)
            return AddParts(added.table, arrow_from_bytes(added.parts), data_change, runs)
        case "remove_parts":
            return RemoveParts(action.remove_parts.table, tuple(action.remove_parts.keys), data_change)
        case "set_flags":
            return SetFlags(action.set_flags.table, flags_from_pb(action.set_flags.flags), action.set_flags.version)
        case "collect":
            return Collect(tuple(UUID(bytes=uuid) for uuid in action.collect.transactions))
        case _:
            return _rare_from_pb(action)


def _rare_from_pb(action: pb.Action) -> Action:
    match action.WhichOneof("action"):
        case "add_tombstones":
            of = action.add_tombstones
            return AddTombstones(of.table, tuple(tombstone_from_pb(tombstone) for tombstone in of.tombstones))
        case "retire_tombstones":
            ids = action.retire_tombstones.ids
            return RetireTombstones(action.retire_tombstones.table, tuple(UUID(bytes=uuid) for uuid in ids))
        case "seal":
            return Seal(action.seal.heir)
        case "adopt":
            adopt = action.adopt
            tables = tuple(table_from_pb(table) for table in adopt.tables)
            return Adopt(adopt.writer, adopt.final_revision, UUID(bytes=adopt.final_uuid), tables)
        case "reset":
            reset = action.reset
            tables = tuple(table_from_pb(table) for table in reset.tables)
            return Reset(_reason(reset.reason), reset.revision, tables, adopted_from_pb(reset.adopted))
        case "upgrade":
            return Upgrade(action.upgrade.min_reader, action.upgrade.min_writer)
        case _:
            raise UnknownFormat("A transaction has an action that this version does not know.", help="Upgrade Instar.")


def _schema_from_pb(message: pb.CreateTable | pb.AlterTable) -> tuple[TableSchema, Unknown]:
    schema, extra = schema_from_json(message.schema_json)
    # Under their own numbers they must be unknown to a table's state too, where they are going.
    fields = unknown_fields(pb.TableState.FromString(unknown_fields(message)))
    return schema, Unknown(fields, extra)


def _reason(number: pb.ResetReason) -> ResetReason:
    for reason, known in _REASONS.items():
        if known == number:
            return reason
    raise UnknownFormat(f"A reset's reason is {number}, which this version does not know.", help="Upgrade Instar.")


def _data_change(change: pb.Change) -> bool:
    if change not in (pb.CHANGE_DATA, pb.CHANGE_LAYOUT):
        raise UnknownFormat(
            f"An action's change is {change}, which this version does not know.", help="Upgrade Instar."
        )
    return change == pb.CHANGE_DATA
