"""`instar catalog show`: a timeline at one revision."""

from typing import Annotated, Any

import typer

from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline
from instar.cli.lake import DatabaseArgument, LakeOption, WriterOption, chosen_timelines, open_lake
from instar.cli.output import JsonOption, flags_in_words, moment, note, print_json, print_rows


def show(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    revision: Annotated[int | None, typer.Option("--revision", min=0, help="The newest unless given.")] = None,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show what timelines hold: their tables, and how far back they can be travelled."""
    shown = []
    for timeline in chosen_timelines(open_lake(lake), database, writer):
        snapshot, warning = timeline.load_readable() if revision is None else (timeline.load(revision), None)
        if warning:
            note(warning)
        shown.append(_describe(timeline, snapshot))
    if as_json:
        print_json(shown)
        return
    print_rows(
        ("timeline", "revision", "time", "oldest", "checkpoints", "table", "parts", "origins", "tombstones", "flags"),
        [
            (
                f"{of['writer']}/{of['database']}{' (sealed)' if of['heir'] else ''}",
                of["revision"],
                of["time"],
                of["oldest"],
                ", ".join(map(str, of["checkpoints"])),
                table["table"],
                table["parts"],
                table["origins"],
                table["tombstones"],
                table["flags"],
            )
            for of in shown
            for table in of["tables"]
        ],
    )


def _describe(timeline: Timeline, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "writer": snapshot.writer,
        "database": snapshot.database,
        "revision": snapshot.revision,
        "uuid": str(snapshot.uuid),
        "time": moment(snapshot.commit_time),
        "oldest": timeline.oldest(),
        "checkpoints": list(timeline.listing().checkpoints),
        "heir": snapshot.heir,
        "adopted": {writer: of.final for writer, of in snapshot.adopted.items()},
        "fenced_transactions": len(snapshot.collected),
        "min_reader": snapshot.protocol.min_reader,
        "min_writer": snapshot.protocol.min_writer,
        "tables": [
            {
                "table": name,
                "schema": state.schema.to_json(),
                "parts": len(state.part_set),
                "origins": len(state.origins),
                "tombstones": len(state.tombstones),
                "flags": flags_in_words(state.flags),
                "flags_version": state.flags_version,
            }
            for name, state in sorted(snapshot.tables.items())
        ],
    }
