"""Actions of the log, for people and for programs."""

from typing import Any

import pyarrow.compute as pc

from instar.catalog.actions import Action, AddParts, Collect, CreateTable, RemoveParts, SetFlags
from instar.cli.output import counted, flags_in_words


def in_words(action: Action) -> str:
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


def to_json(action: Action) -> dict[str, Any]:
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


def _rows(action: AddParts) -> int:
    return int(pc.sum(action.parts["rows"], min_count=0).as_py())


def _layout_only(action: AddParts | RemoveParts) -> str:
    return "" if action.data_change else " (same rows, other files)"
