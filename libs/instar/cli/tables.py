"""`instar tables`: what a lake holds."""

from collections import Counter
from typing import Any

import pyarrow.compute as pc

from instar.catalog.union import UnitedTable, View
from instar.catalog.vector import TimelineId
from instar.cli.lake import LakeOption, open_lake
from instar.cli.output import JsonOption, file_size, note, print_json, print_rows
from instar.model.schema import TableName


def tables(lake: LakeOption = "", as_json: JsonOption = False) -> None:
    """List the tables with their size, formats, flags, writers and revisions."""
    opened = open_lake(lake)
    view = opened.catalog.view()
    described = [_describe(name, view.tables[name], view) for name in sorted(view.tables)]
    if as_json:
        print_json(described)
        return
    columns = ("table", "merge", "updates", "parts", "size", "formats", "write", "read", "pushdown", "revisions")
    print_rows(columns, [_row(table) for table in described])
    if not described:
        note(f"{opened.store.uri} holds no table.")


def _describe(name: TableName, table: UnitedTable, view: View) -> dict[str, Any]:
    parts = table.parts
    return {
        "table": str(name),
        "merge_mode": str(table.schema.merge_mode),
        "updates": pc.sum(parts["rows"], min_count=0).as_py(),
        "parts": parts.num_rows,
        "bytes": pc.sum(parts["bytes"], min_count=0).as_py(),
        "formats": dict(sorted(Counter(parts["format"].to_pylist()).items())),
        "flags": table.flags.to_json(),
        "timelines": [
            {
                "writer": writer,
                "revision": view.vector[TimelineId(writer, name.database)],
                "flags_version": state.flags_version,
            }
            for writer, state in table.timelines.items()
        ],
    }


def _row(table: dict[str, Any]) -> tuple[str | int, ...]:
    return (
        table["table"],
        table["merge_mode"],
        table["updates"],
        table["parts"],
        file_size(table["bytes"]),
        ", ".join(f"{count} {of}" for of, count in table["formats"].items()),
        *table["flags"].values(),
        ", ".join(f"{of['writer']}@{of['revision']}" for of in table["timelines"]),
    )
