"""`instar flags`: how tables are written and read. The Variables of the running Airflow, and what the catalog obeys."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from instar.catalog.union import UnitedTable
from instar.cli.lake import CommitOption, LakeOption, open_lake
from instar.cli.output import JsonOption, note, print_json, print_rows
from instar.config import Settings
from instar.errors import InstarError
from instar.flags import Flags
from instar.lake import Lake
from instar.model.schema import TableName
from instar.orchestrate.flags import (
    Variables,
    VariablesBehind,
    VersionNotRaised,
    WantedFlags,
    change,
    plan_change,
    read_texts,
    to_commit,
    wanted_flags,
)

if TYPE_CHECKING:
    from instar.orchestrate.api import AirflowApi

app = typer.Typer(no_args_is_help=True, help="Look at flags and change them.")
TableArgument = Annotated[str, typer.Argument(help="The table, as database.table.")]


class NoStack(InstarError):
    """No Airflow to ask."""


class InvalidAssignment(InstarError):
    """A word that sets no flag."""


@app.command("list")
def list_flags(lake: LakeOption = "", as_json: JsonOption = False) -> None:
    """List the flags of every table: what the Variables want, and whether the catalog has it."""
    opened = open_lake(lake)
    with _airflow() as api:
        described = [_describe(opened, api, name) for name in opened.tables()]
    _print(described, as_json)


@app.command("get")
def get_flags(table: TableArgument, lake: LakeOption = "", as_json: JsonOption = False) -> None:
    """Show the flags of one table."""
    opened = open_lake(lake)
    with _airflow() as api:
        described = _describe(opened, api, opened.table(table).name)
    if as_json:
        print_json(described)
    else:
        _print([described], as_json)


@app.command("set")
def set_flags(
    table: TableArgument,
    assignments: Annotated[list[str], typer.Argument(metavar="FLAG=VALUE…", help="What to set, like pushdown=off.")],
    expect: Annotated[
        int | None, typer.Option("--expect", help="Refuse unless the table's Variable has this version.")
    ] = None,
    commit: CommitOption = False,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Set flags of a table in its Variable, and bring them into the catalog."""
    opened = open_lake(lake)
    found = opened.table(table)
    values = _values(assignments)
    with _airflow() as api:
        states = found.state().timelines.values()
        planned = plan_change(found.name, read_texts(api, found.name), states, values, expect)
        after = change(opened, api, found.name, values, expected=expect) if commit else None
    before = planned.before
    if as_json:
        print_json(
            {
                "table": str(found.name),
                "before": before.flags.to_json(),
                "after": planned.after.to_json(),
                "variable": planned.text,
                "version": after.version if after else None,
                "committed": commit,
            }
        )
        return
    rows = [(flag, was, planned.after.to_json()[flag]) for flag, was in before.flags.to_json().items()]
    print_rows(("flag", "before", "after"), rows)
    if after is not None:
        note(f"{found.name} has these flags in version {after.version}.")
    else:
        note("Nothing was changed; add --commit to do it." if planned.text else "It is so already.")


@contextmanager
def _airflow() -> Iterator["AirflowApi"]:
    from instar.orchestrate.stack import connect, running_stack

    settings = Settings.load()
    running = running_stack(settings)
    if running is None:
        raise NoStack("Airflow, which keeps the flags, is not up.", help="Start it: make up.")
    with connect(settings, running) as api:
        yield api


def _values(assignments: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in assignments:
        flag, sign, value = word.partition("=")
        if not sign or flag in values:
            raise InvalidAssignment(f"{word!r} sets no flag, or one again.", help="Write flag=value, each flag once.")
        values[flag] = value
    Flags.parse(values)
    return values


def _describe(lake: Lake, variables: Variables, name: TableName) -> dict[str, Any]:
    wanted = wanted_flags(name, read_texts(variables, name))
    state = lake.table(name).state()
    return {
        "table": str(name),
        "flags": wanted.flags.to_json(),
        "version": wanted.version,
        "table_version": wanted.table_version,
        "catalog": state.flags.to_json(),
        "catalog_versions": {writer: of.flags_version for writer, of in state.timelines.items()},
        "state": _state(name, wanted, state),
    }


def _state(name: TableName, wanted: WantedFlags, table: UnitedTable) -> str:
    """Say how the catalog stands to the Variables."""
    try:
        due = [of for of in table.timelines.values() if to_commit(name, wanted, of)]
    except (VersionNotRaised, VariablesBehind) as error:
        return str(error)
    return "to be brought in" if due else "in force"


def _words(flags: dict[str, str]) -> str:
    return " ".join(f"{flag}={value}" for flag, value in flags.items())


def _print(described: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(described)
        return
    rows = [
        (
            table["table"],
            _words(table["flags"]),
            table["version"],
            _words(table["catalog"]),
            table["state"],
        )
        for table in described
    ]
    print_rows(("table", "wanted", "version", "in the catalog", "state"), rows)
