"""`instar catalog prune|restore|rebuild|fsck|retire`: what changes the log is a dry run until `--commit`."""

from typing import Annotated

import typer

from instar.catalog import fsck as checks
from instar.catalog.prune import PrunePlan, plan_prune
from instar.catalog.prune import prune as prune_log
from instar.catalog.rebuild import UNKNOWABLE, plan_rebuild
from instar.catalog.rebuild import rebuild as rebuild_log
from instar.catalog.restore import plan_restore
from instar.catalog.restore import restore as restore_log
from instar.catalog.retire import plan_retire
from instar.catalog.retire import retire as retire_writer
from instar.catalog.timeline import Timeline
from instar.cli.duration import parse_duration
from instar.cli.lake import (
    CommitOption,
    DatabaseArgument,
    LakeOption,
    WriterOption,
    chosen_timeline,
    chosen_timelines,
    open_lake,
)
from instar.cli.output import JsonOption, counted, invite, moment, print_json, print_rows

OneDatabase = Annotated[str, typer.Argument(help="The database.")]


def prune(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    horizon: Annotated[
        str, typer.Option("--horizon", help="Keep what was the newest in this time: 24h, 7d.", metavar="DURATION")
    ] = "7d",
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Cut history that is older than the horizon off the log."""
    opened = open_lake(lake)
    micros = parse_duration(horizon)
    timelines = chosen_timelines(opened, database, writer)
    plans = [plan_prune(timeline, now=opened.clock(), horizon=micros) for timeline in timelines]
    for timeline, plan in zip(timelines, plans, strict=True):
        if commit:
            prune_log(timeline, plan)
    if as_json:
        print_json([{**plan.to_json(), "done": commit} for plan in plans])
        return
    for plan in plans:
        typer.echo(_prune_in_words(plan, commit))
    invite(commit, any(not plan.empty for plan in plans))


def _prune_in_words(plan: PrunePlan, commit: bool) -> str:
    place = f"{plan.writer}/{plan.database}@{plan.head}"
    if plan.empty:
        return f"{place}: nothing to cut; {plan.reason}."
    verb = "cut" if commit else "would cut"
    gone = f"{counted(len(plan.transactions), 'transaction')} and {counted(len(plan.checkpoints), 'checkpoint')}"
    return f"{place}: {verb} {gone}; the oldest revision is then {plan.oldest}."


def restore(
    database: OneDatabase,
    revision: Annotated[int, typer.Argument(min=0, help="The revision to make the newest again.")],
    writer: WriterOption = None,
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an old revision the newest again, as a new revision; list what that undoes."""
    opened = open_lake(lake)
    timeline = chosen_timeline(opened, database, writer)
    plan = plan_restore(timeline, revision)
    done = restore_log(timeline, plan, clock=opened.clock, uuids=opened.uuids) if commit else None
    if as_json:
        print_json({**plan.to_json(), "revision": done.revision if done else None})
        return
    print_rows(("undone", "time", "uuid"), [(of.revision, moment(of.commit_time), str(of.uuid)) for of in plan.undone])
    for number in plan.damaged:
        typer.echo(f"Revision {number} is damaged; its object {'was' if commit else 'would be'} moved aside.")
    changes = f"{counted(len(plan.returning), 'part')} would return, {counted(len(plan.leaving), 'part')} would leave"
    if done:
        typer.echo(f"{_place(timeline)}: revision {revision} is the newest again, as revision {done.revision}.")
    else:
        typer.echo(f"{_place(timeline)}@{plan.head.revision}: {changes}; {counted(len(plan.missing), 'file')} missing.")
    invite(commit, something=True)


def rebuild(
    database: OneDatabase,
    writer: Annotated[str, typer.Option("--writer", help="The writer whose files are read.")],
    lenient: Annotated[bool, typer.Option("--lenient", help="Choose where files leave a choice, and say so.")] = False,
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a catalog from what the data files say of themselves, when the log is lost."""
    opened = open_lake(lake)
    timeline = opened.catalog.timeline(writer, database)
    plan = plan_rebuild(timeline, lenient=lenient)
    if commit:
        rebuild_log(timeline, plan, clock=opened.clock, uuids=opened.uuids)
    if as_json:
        print_json({**plan.to_json(), "done": commit})
        return
    print_rows(("table", "parts"), [(str(of.schema.name), len(of.part_set)) for of in plan.tables])
    if plan.left:
        print_rows(("left out", "reason"), [(key, f"{reason} {detail}".rstrip()) for key, reason, detail in plan.left])
    for guess in plan.guesses:
        typer.echo(f"Guessed: {guess}")
    typer.echo(f"Not known: {'; '.join(UNKNOWABLE)}.")
    typer.echo(f"{_place(timeline)}: {'rebuilt' if commit else 'would be rebuilt'} as revision {plan.revision}.")
    invite(commit, something=True)


def fsck(
    database: DatabaseArgument = None,
    writer: WriterOption = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Read every live part, and hold its statistics against its rows.")
    ] = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Check the log, its checkpoints, and the files that it names. Exits with 1 if anything is an error."""
    found = [
        (timeline, problem)
        for timeline in chosen_timelines(open_lake(lake), database, writer)
        for problem in checks.fsck(timeline, statistics=statistics)
    ]
    if as_json:
        print_json([{"timeline": _place(timeline), **problem.to_json()} for timeline, problem in found])
    else:
        print_rows(
            ("severity", "subject", "fact", "help"),
            [(str(of.severity), of.subject, of.fact, of.help) for _, of in found],
        )
    raise typer.Exit(int(any(problem.severity is checks.Severity.ERROR for _, problem in found)))


def retire(
    database: OneDatabase,
    writer: Annotated[str, typer.Option("--writer", help="The writer to retire.")],
    heir: Annotated[str, typer.Option("--heir", help="The writer that adopts its tables.")],
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Seal a writer's timeline for good, and let another writer adopt its tables."""
    opened = open_lake(lake)
    timeline = chosen_timeline(opened, database, writer)
    other = opened.catalog.timeline(heir, database)
    plan = plan_retire(timeline, other)
    done = retire_writer(timeline, other, plan, clock=opened.clock, uuids=opened.uuids) if commit else None
    if as_json:
        print_json({**plan.to_json(), "revision_of_heir": done.revision if done else None})
        return
    tables = ", ".join(plan.tables) or "no table"
    verb = "adopted" if commit else "would adopt"
    typer.echo(f"{heir}/{database} {verb} {counted(plan.parts, 'part')} of {_place(timeline)}: {tables}.")
    invite(commit, not plan.adopted)


def _place(timeline: Timeline) -> str:
    return f"{timeline.writer}/{timeline.database}"
