"""Flags: from Airflow's Variables, where people change them, into the catalog, whose record everything obeys.

`instar_flags` holds the defaults and what databases say; a table's own Variable has the last word. Each has a version
that grows with every edit; their sum is the version of a table's flags in the catalog. Variables know no
compare-and-set, so there is one way to change them (`change`, by tasks in a pool of one slot), and the catalog, which
takes each version once, decides between two that write at the same time.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

from instar.catalog.actions import SetFlags
from instar.catalog.commit import Change, CommitConflict, commit
from instar.catalog.snapshot import TableState
from instar.errors import InstarError
from instar.flags import Flags, InvalidFlags
from instar.lake import Lake
from instar.model.schema import TableName
from instar.orchestrate.resources import FLAGS_VARIABLE

ALL_FLAGS = frozenset(field.name for field in fields(Flags))
_SHARED_KEYS = ("version", "defaults", "databases")


class InvalidVariable(InstarError):
    """A Variable that does not hold flags."""


class VersionNotRaised(InstarError):
    """Variables that say something else than the catalog under the version that it has."""


class VariablesBehind(InstarError):
    """Variables that are older than what the catalog holds."""


class FlagsChanged(InstarError):
    """Flags that somebody changed since they were read."""


class VariableShadowed(InstarError):
    """A Variable that does not show what was written to it."""


class Variables(Protocol):
    """Where the Variables are: seen by a task, or over the API."""

    def variable(self, key: str) -> str | None: ...

    def set_variable(self, key: str, text: str) -> None: ...


class TaskVariables:
    """The Variables as a task sees them."""

    def variable(self, key: str) -> str | None:
        from airflow.sdk import Variable

        text: str | None = Variable.get(key, default=None)
        return text

    def set_variable(self, key: str, text: str) -> None:
        from airflow.sdk import Variable

        Variable.set(key, text)


@dataclass(frozen=True)
class FlagTexts:
    """The texts of the two Variables that speak of a table; None where there is none."""

    shared: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class WantedFlags:
    """What the Variables want of a table. `version` is the catalog's; `table_version` that of the table's own one."""

    flags: Flags
    version: int
    table_version: int


@dataclass(frozen=True)
class FlagChange:
    """A change of a table's own Variable, before it is written. `text` is None where the flags are so already."""

    before: WantedFlags
    after: Flags
    text: str | None


def variable_name(name: TableName) -> str:
    """Return the Variable of a table. Different tables never share one: what could end a database's name is escaped."""
    database = re.sub(r"%|_(?=_|$)", lambda found: f"%{ord(found[0]):02X}", name.database)
    return f"{FLAGS_VARIABLE}__{database}__{name.table}"


def read_texts(variables: Variables, name: TableName) -> FlagTexts:
    return FlagTexts(variables.variable(FLAGS_VARIABLE), variables.variable(variable_name(name)))


def wanted_flags(name: TableName, texts: FlagTexts) -> WantedFlags:
    """Return the defaults, with the database's flags over them, and the table's own over those."""
    shared, own = _parse(FLAGS_VARIABLE, texts.shared), _parse(variable_name(name), texts.table)
    if unknown := shared.keys() - set(_SHARED_KEYS):
        raise InvalidVariable(
            f"Variable {FLAGS_VARIABLE} has an entry {min(unknown)!r}.", help=f"Use {', '.join(_SHARED_KEYS)}."
        )
    databases = _object(FLAGS_VARIABLE, "databases", shared.get("databases", {}))
    layers = [
        (FLAGS_VARIABLE, _object(FLAGS_VARIABLE, "defaults", shared.get("defaults", {}))),
        (FLAGS_VARIABLE, _object(FLAGS_VARIABLE, name.database, databases.get(name.database, {}))),
        (variable_name(name), {flag: value for flag, value in own.items() if flag != "version"}),
    ]
    flags = Flags()
    for variable, values in layers:
        try:
            flags = Flags.parse(values, flags)
        except InvalidFlags as error:
            raise InvalidVariable(f"Variable {variable}: {error.fact}", help=error.help) from error
    table_version: int = own.get("version", 0)
    return WantedFlags(flags, shared.get("version", 0) + table_version, table_version)


def to_commit(name: TableName, wanted: WantedFlags, state: TableState) -> SetFlags | None:
    """Return what brings a timeline's flags to those that are wanted, None where it has them; refuse a version twice.

    Equal flags are left alone whatever the versions, so that an edit for one table disturbs no other.
    """
    if state.flags == wanted.flags:
        return None
    if wanted.version > state.flags_version:
        return SetFlags(name.table, wanted.flags, wanted.version)
    if wanted.version == state.flags_version:
        raise VersionNotRaised(
            f"The Variables of {name} want {_words(wanted.flags)} in version {wanted.version}, "
            f"under which the catalog has {_words(state.flags)}.",
            help=f"Raise the version in the Variable that was edited, or use: {_command(name, wanted.flags)}",
        )
    raise VariablesBehind(
        f"The Variables of {name} are at version {wanted.version}, the catalog at {state.flags_version} already.",
        help=f"They were set back, or belong to another lake. To keep what is: {_command(name, state.flags)}",
    )


def plan_change(
    name: TableName,
    texts: FlagTexts,
    states: Collection[TableState],
    values: Mapping[str, str],
    expected: int | None = None,
) -> FlagChange:
    """Lay `values` over a table's flags, and return what its Variable becomes.

    The new version is above all that the timelines (`states`) have. `expected` is the version of the table's Variable
    on which the change was decided; flags that are so already need no change, whatever the version. Where Variables
    and catalog contradict each other only a change that names every flag is clear.
    """
    before = wanted_flags(name, texts)
    after = Flags.parse(values, before.flags)
    contradicted = False
    for state in states:
        try:
            to_commit(name, before, state)
        except (VersionNotRaised, VariablesBehind):
            if set(values) != ALL_FLAGS:
                raise
            contradicted = True
    if after == before.flags and not contradicted:
        return FlagChange(before, after, None)
    if expected not in (None, before.table_version):
        raise FlagsChanged(
            f"The flags of {name} went from version {expected} to {before.table_version} meanwhile.",
            help="Look at what was changed, then start again.",
        )
    newest = max((state.flags_version for state in states), default=0)
    shared_version = before.version - before.table_version
    version = max(before.table_version, newest - shared_version) + 1
    own = {**_parse(variable_name(name), texts.table), **values, "version": version}
    return FlagChange(before, after, json.dumps(own))


def bring_in(lake: Lake, name: TableName, texts: FlagTexts) -> WantedFlags:
    """Commit the Variables' flags to every timeline that holds the table and has others. Safe to repeat."""
    wanted = wanted_flags(name, texts)
    states = lake.table(name).state().timelines
    due = [writer for writer, state in states.items() if to_commit(name, wanted, state)]
    for writer in due:
        _bring_into(lake, writer, name, wanted)
    return wanted


def change(
    lake: Lake, variables: Variables, name: TableName, values: Mapping[str, str], *, expected: int | None = None
) -> WantedFlags:
    """Change flags of a table: in its Variable, then in the catalog. Repeated, it finishes what it began."""
    states = lake.table(name).state().timelines.values()
    planned = plan_change(name, read_texts(variables, name), states, values, expected)
    if planned.text is not None:
        key = variable_name(name)
        variables.set_variable(key, planned.text)
        if variables.variable(key) != planned.text:
            raise VariableShadowed(
                f"Variable {key} does not hold what was just written to it.",
                help=f"Unset AIRFLOW_VAR_{key.upper()} where Airflow runs, or wait until nobody else writes it.",
            )
    return bring_in(lake, name, read_texts(variables, name))


def _bring_into(lake: Lake, writer: str, name: TableName, wanted: WantedFlags) -> None:
    timeline = lake.catalog.timeline(writer, name.database)
    while action := to_commit(name, wanted, timeline.load().table(name.table)):
        try:
            commit(timeline, Change(lake.uuids(), (action,)), clock=lake.clock)
        except CommitConflict:
            continue  # somebody brought flags in first: look at which


def _parse(key: str, text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    version = values.get("version") if isinstance(values, dict) else None
    if not isinstance(values, dict) or type(version) is not int or version < 0:
        raise InvalidVariable(
            f"Variable {key} is not a JSON object with a whole number as its version.",
            help='Write it like {"version": 1, …}.',
        )
    return values


def _object(key: str, entry: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidVariable(f"{entry!r} in Variable {key} is not a JSON object.", help="Map names to values.")
    return value


def _words(flags: Flags) -> str:
    return " ".join(f"{flag}={value}" for flag, value in flags.to_json().items())


def _command(name: TableName, flags: Flags) -> str:
    return f"instar flags set {name} {_words(flags)} --commit"
