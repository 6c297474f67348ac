"""Actions of the log, for people and for programs."""

from typing import Any

import pyarrow.compute as pc

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
    Seal,
    SetFlags,
    Upgrade,
)
from instar.catalog.tombstones import KeyTombstone, Tombstone
from instar.cli.output import counted, flags_in_words


def in_words(action: Action) -> str:  # noqa: PLR0911 - one for each
    """Return a short phrase that says what an action did."""
    match action:
        case CreateTable():
            return (
                f"created {action.table} ({action.schema.merge_mode}, {counted(len(action.schema.columns), 'column')})"
            )
        case AddParts():
            parts = f"{counted(action.parts.num_rows, 'part')}, {counted(_rows(action), 'row')}"
            return f"added {parts} to {action.table}{_layout_only(action)}"
        case RemoveParts():
            return f"removed {counted(len(action.keys), 'part')} from {action.table}{_layout_only(action)}"
        case SetFlags():
            return f"set flags of {action.table}: {flags_in_words(action.flags)}"
        case Collect():
            return f"fenced off {counted(len(action.transactions), 'transaction')}"
        case AlterTable():
            return f"altered {action.table} ({counted(len(action.schema.columns), 'column')})"
        case _:
            return _rare_in_words(action)


def _rare_in_words(action: AddTombstones | RetireTombstones | Seal | Adopt | Reset | Upgrade) -> str:  # noqa: PLR0911 - one for each
    match action:
        case AddTombstones():
            return f"placed {counted(len(action.tombstones), 'tombstone')} in {action.table}"
        case RetireTombstones():
            return f"retired {counted(len(action.ids), 'tombstone')} of {action.table}"
        case Seal():
            return f"sealed for {action.heir}"
        case Adopt():
            parts = sum(len(table.part_set) for table in action.tables)
            return f"adopted {counted(parts, 'part')} of {action.writer}@{action.final}"
        case Reset() if action.reason is ResetReason.RESTORE:
            return f"restored revision {action.revision}"
        case Reset():
            return f"rebuilt {counted(len(action.tables), 'table')} from files"
        case Upgrade():
            return f"asks for reader version {action.min_reader} and writer version {action.min_writer}"


def to_json(action: Action) -> dict[str, Any]:  # noqa: PLR0911 - one for each
    match action:
        case CreateTable():
            return {"action": "create_table", "table": action.table, "schema": action.schema.to_json()}
        case AddParts():
            return {
                "action": "add_parts",
                "table": action.table,
                "data_change": action.data_change,
                "rows": _rows(action),
                "runs": [{"origin": run.origin, "generation": run.generation} for run in action.runs],
                "parts": list(action.keys),
            }
        case RemoveParts():
            return {
                "action": "remove_parts",
                "table": action.table,
                "data_change": action.data_change,
                "parts": list(action.keys),
            }
        case SetFlags():
            flags = action.flags.to_json()
            return {"action": "set_flags", "table": action.table, "flags": flags, "version": action.version}
        case Collect():
            return {"action": "collect", "transactions": [str(uuid) for uuid in action.transactions]}
        case AlterTable():
            return {"action": "alter_table", "table": action.table, "schema": action.schema.to_json()}
        case _:
            return _rare_to_json(action)


def _rare_to_json(action: AddTombstones | RetireTombstones | Seal | Adopt | Reset | Upgrade) -> dict[str, Any]:
    match action:
        case AddTombstones():
            tombstones = [_tombstone_to_json(of) for of in action.tombstones]
            return {"action": "add_tombstones", "table": action.table, "tombstones": tombstones}
        case RetireTombstones():
            return {"action": "retire_tombstones", "table": action.table, "ids": [str(uuid) for uuid in action.ids]}
        case Seal():
            return {"action": "seal", "heir": action.heir}
        case Adopt():
            tables = {str(table.schema.name): len(table.part_set) for table in action.tables}
            return {"action": "adopt", "writer": action.writer, "final": action.final, "parts": tables}
        case Reset():
            tables = {str(table.schema.name): len(table.part_set) for table in action.tables}
            return {"action": str(action.reason), "revision": action.revision, "parts": tables}
        case Upgrade():
            return {"action": "upgrade", "min_reader": action.min_reader, "min_writer": action.min_writer}


def _tombstone_to_json(tombstone: Tombstone) -> dict[str, Any]:
    if isinstance(tombstone, KeyTombstone):
        return {"id": str(tombstone.id), "keys": tombstone.keys.num_rows, "t": tombstone.t}
    return {"id": str(tombstone.id), "where": tombstone.where, "covers": str(tombstone.covers)}


def _rows(action: AddParts) -> int:
    return int(pc.sum(action.parts["rows"], min_count=0).as_py())


def _layout_only(action: AddParts | RemoveParts) -> str:
    return "" if action.data_change else " (same rows, other files)"
