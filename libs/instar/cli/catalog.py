"""`instar catalog`: the log of a lake, and its upkeep. What changes the lake is a dry run until `--commit`."""

from typing import Annotated, Any

import typer

from instar.catalog.checkpoint import agrees_with_replay, write_checkpoint
from instar.catalog.encoding import encode_checkpoint
from instar.catalog.names import LogKind
from instar.catalog.orphans import MOST_SHARE, OrphanFile, OrphanPlan, SweepResult, plan_orphans, sweep
from instar.catalog.timeline import Timeline
from instar.cli import actions, repair
from instar.cli.catalog_show import show
from instar.cli.duration import parse_duration
from instar.cli.lake import CommitOption, DatabaseArgument, LakeOption, WriterOption, chosen_timelines, open_lake
from instar.cli.output import JsonOption, counted, file_size, invite, moment, print_json, print_rows
from instar.errors import InstarError
from instar.lake import Lake

app = typer.Typer(no_args_is_help=True, help="Look at the catalog's log, and look after it.")
app.command("show")(show)
app.command("prune")(repair.prune)
app.command("restore")(repair.restore)
app.command("rebuild")(repair.rebuild)
app.command("fsck")(repair.fsck)
app.command("retire")(repair.retire)


class CheckpointDisagrees(InstarError):
    """A checkpoint that holds another state than the log before it leads to."""


@app.command("history")
def history(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the revisions that the log still holds, newest last, with what each did."""
    found = [
        (transaction, timeline)
        for timeline in chosen_timelines(open_lake(lake), database, writer)
        for transaction in timeline.history()
    ]
    found.sort(key=lambda entry: entry[0].commit_time)  # stable, and ascending in each timeline already
    if as_json:
        print_json(
            [
                {
                    "writer": timeline.writer,
                    "database": timeline.database,
                    "revision": transaction.revision,
                    "time": moment(transaction.commit_time),
                    "uuid": str(transaction.uuid),
                    "data_change": transaction.data_change,
                    "actions": [actions.to_json(action) for action in transaction.actions],
                }
                for transaction, timeline in found
            ]
        )
        return
    print_rows(
        ("timeline", "revision", "time", "uuid", "actions"),
        [
            (
                _place(timeline),
                transaction.revision,
                moment(transaction.commit_time),
                str(transaction.uuid),
                "; ".join(map(actions.in_words, transaction.actions)),
            )
            for transaction, timeline in found
        ],
    )


@app.command("checkpoint")
def checkpoint(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Store the newest state of each timeline as one object, and check it against the log."""
    done = [_checkpoint(timeline, commit) for timeline in chosen_timelines(open_lake(lake), database, writer)]
    if as_json:
        print_json(done)
        return
    for of in done:
        contents = f"{counted(of['tables'], 'table')}, {counted(of['parts'], 'part')}, {file_size(of['bytes'])}"
        verb = "Wrote" if of["written"] else "Would replace" if of["exists"] else "Would write"
        verified = " It agrees with the replay of the log." if of["agrees_with_replay"] else ""
        typer.echo(f"{verb} {of['key']}: {contents}.{verified}")
    invite(commit, bool(done))


@app.command("gc")
def gc(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    grace: Annotated[
        str, typer.Option("--grace", help="Leave younger files alone: 30s, 10m, 24h, 7d.", metavar="DURATION")
    ] = "24h",
    most_share: Annotated[
        float, typer.Option("--most-share", min=0, max=1, help="Refuse to delete more than this share of the files.")
    ] = MOST_SHARE,
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the data files that no revision names, and delete them with `--commit`."""
    grace_micros = parse_duration(grace)
    opened = open_lake(lake)
    timelines = chosen_timelines(opened, database, writer)
    plans = [plan_orphans(timeline, now=opened.clock(), grace=grace_micros) for timeline in timelines]
    if as_json:
        print_json([_gc_to_json(plan, _sweep(opened, plan, most_share) if commit else None) for plan in plans])
        return
    _print_orphans(plans)
    for plan in plans:
        result = _sweep(opened, plan, most_share) if commit else None
        typer.echo(_gc_in_words(plan, result))
    invite(commit, any(plan.orphans for plan in plans))


def _checkpoint(timeline: Timeline, commit: bool) -> dict[str, Any]:
    snapshot = timeline.load()
    exists = snapshot.revision in timeline.listing().checkpoints
    size = write_checkpoint(timeline, snapshot).bytes if commit else len(encode_checkpoint(snapshot))
    key = timeline.key(snapshot.revision, LogKind.CHECKPOINT)
    if commit and not agrees_with_replay(timeline, snapshot.revision):
        raise CheckpointDisagrees(
            f"{key} holds another state than the log leads to.", help="Delete it: the log alone is enough to read."
        )
    return {
        "writer": timeline.writer,
        "database": timeline.database,
        "revision": snapshot.revision,
        "key": key,
        "tables": len(snapshot.tables),
        "parts": sum(table.parts.num_rows for table in snapshot.tables.values()),
        "bytes": size,
        "exists": exists,
        "written": commit,
        "agrees_with_replay": True if commit else None,
    }


def _sweep(lake: Lake, plan: OrphanPlan, most_share: float) -> SweepResult:
    timeline = lake.catalog.timeline(plan.writer, plan.database)
    return sweep(timeline, plan, clock=lake.clock, uuids=lake.uuids, most_share=most_share)


def _print_orphans(plans: list[OrphanPlan]) -> None:
    print_rows(
        ("orphan", "size", "modified", "reason"),
        [
            (orphan.key, file_size(orphan.bytes), moment(orphan.modified_micros), str(orphan.reason))
            for plan in plans
            for orphan in plan.orphans
        ],
    )


def _gc_in_words(plan: OrphanPlan, result: SweepResult | None) -> str:
    facts = [f"{counted(len(plan.orphans), 'orphan')} of {counted(plan.files, 'file')}, {file_size(plan.bytes)}"]
    if plan.young:
        facts.append(f"{plan.young:,} too young to judge")
    if plan.foreign:
        facts.append(f"not parts, and left alone: {', '.join(plan.foreign)}")
    if result:
        facts.append(f"deleted {counted(len(result.deleted), 'file')}, {file_size(result.bytes)}")
        facts += [f"committed meanwhile, and kept: {orphan.key}" for orphan in result.survivors]
    return f"{plan.writer}/{plan.database}@{plan.revision}: {'; '.join(facts)}."


def _gc_to_json(plan: OrphanPlan, result: SweepResult | None) -> dict[str, Any]:
    return {
        "writer": plan.writer,
        "database": plan.database,
        "revision": plan.revision,
        "files": plan.files,
        "young": plan.young,
        "foreign": list(plan.foreign),
        "bytes": plan.bytes,
        "orphans": [_orphan_to_json(orphan) for orphan in plan.orphans],
        "deleted": None if result is None else [orphan.key for orphan in result.deleted],
        "survivors": None if result is None else [orphan.key for orphan in result.survivors],
    }


def _orphan_to_json(orphan: OrphanFile) -> dict[str, Any]:
    return {
        "key": orphan.key,
        "transaction": str(orphan.transaction),
        "reason": str(orphan.reason),
        "bytes": orphan.bytes,
        "modified": moment(orphan.modified_micros),
    }


def _place(timeline: Timeline) -> str:
    return f"{timeline.writer}/{timeline.database}"
