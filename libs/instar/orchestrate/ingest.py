"""What an ingest takes: its sources, their interval, its generation, and tables with the flags of now.

A run that is started with a table ingests that one. Any other ingests what the Variable `instar_sources` lists:
`[{"table": "weather.h2o_temperature", "source": "stations", "landing": "s3://bucket/stations", "writer": "main"}, …]`,
the last two optional.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urlsplit

from instar.config import Settings
from instar.errors import InstarError
from instar.orchestrate.resources import SOURCES_VARIABLE

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXAMPLE = '{"table": "weather.h2o_temperature", "source": "stations"}'
logger = logging.getLogger(__name__)


class InvalidSource(InstarError):
    """A source that can't be ingested, or a list of sources that is none."""


class AmbiguousSources(InstarError):
    """Two sources of a table that would take each other's place, or bring the same rows twice."""


class NoInterval(InstarError):
    """A run that has no data interval and was not told one."""


class NotStarted(InstarError):
    """A run without a start, by which its generation could be told."""


class InvalidInterval(InstarError):
    """An interval start that is no time in a zone."""


class DagRun(Protocol):
    """What an ingest needs to know of its run."""

    @property
    def data_interval_start(self) -> datetime | None: ...
    @property
    def start_date(self) -> datetime | None: ...
    @property
    def clear_number(self) -> int | None: ...


@dataclass(frozen=True)
class Source:
    """Where rows of a table come from: the name is that of their origins, the landing is where the files are."""

    table: str
    source: str
    landing: str = ""
    """URI of a folder; `landing` in the work folder if empty."""
    writer: str = ""
    """Timeline to commit to; that of the source's name if empty."""

    @classmethod
    def parse(cls, values: Any, where: str) -> "Source":
        """Read a source from JSON. `where` it was found begins the message of what is wrong with it."""
        from instar.model.schema import InvalidSchema, TableName

        known = [field.name for field in fields(cls)]
        if not isinstance(values, Mapping):
            raise InvalidSource(f"{where}: {values!r} is not a JSON object.", help=f"Write it like {_EXAMPLE}.")
        if unknown := values.keys() - set(known):
            raise InvalidSource(f"{where} has an entry {min(unknown)!r}.", help=f"Use {', '.join(known)}.")
        if wrong := [name for name in known if not isinstance(values.get(name, ""), str)]:
            raise InvalidSource(f"{where}: {wrong[0]} is {values[wrong[0]]!r}, which is not text.", help="Quote it.")
        if missing := [name for name in ("table", "source") if not values.get(name)]:
            raise InvalidSource(f"{where}: there is no {missing[0]}.", help="Name both the table and its source.")
        source = cls(**values)
        if source.landing and urlsplit(source.landing).scheme not in ("file", "s3"):
            raise InvalidSource(
                f"{where}: the landing {source.landing!r} is not the URI of a folder.",
                help="Use file:///folder or s3://bucket/prefix.",
            )
        try:
            TableName.parse(source.table)
        except InvalidSchema as error:
            raise InvalidSource(f"{where}: {error.fact}", help=error.help) from error
        return source


def list_sources(params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the sources of a run, for its tasks; say how to add one where there is none."""
    from instar.orchestrate.flags import TaskVariables

    sources = run_sources(params, TaskVariables().variable(SOURCES_VARIABLE))
    if not sources:
        logger.info(
            "There is no source, so nothing is ingested. To add one, set the Variable %s to [%s], "
            "or start a run with table and source.",
            SOURCES_VARIABLE,
            _EXAMPLE,
        )
    return [asdict(source) for source in sources]


def run_sources(params: Mapping[str, Any], text: str | None) -> Sequence[Source]:
    """Return the source that a run was started with, or else those of the Variable's `text`, None if there is none."""
    given = {field.name: params[field.name] for field in fields(Source) if params[field.name]}
    if given:
        return [Source.parse(given, "The parameters of the run")]
    return [] if text is None else _parse_sources(text)


def _parse_sources(text: str) -> Sequence[Source]:
    try:
        entries = json.loads(text)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise InvalidSource(f"Variable {SOURCES_VARIABLE} is not a JSON list.", help=f"Write it like [{_EXAMPLE}].")
    sources = [
        Source.parse(entry, f"Variable {SOURCES_VARIABLE}, source {number}") for number, entry in enumerate(entries, 1)
    ]
    for name, harm in (("source", "would replace each other's rows"), ("landing", "would bring the same rows twice")):
        pairs = [(source.table, getattr(source, name).rstrip("/")) for source in sources]
        if twice := [pair for pair in pairs if pairs.count(pair) > 1]:
            table, value = twice[0]
            raise AmbiguousSources(
                f"Variable {SOURCES_VARIABLE} has two sources of {table} with the {name} {value!r}, which {harm}.",
                help=f"Give each source of a table a {name} of its own.",
            )
    return sources


def prepare(source: Source, start: str | None, run: DagRun) -> dict[str, Any]:
    """See to it that the writer holds the table, with the Variables' flags; return the job's arguments."""
    from instar.lake import Lake
    from instar.model.schema import TableName
    from instar.orchestrate.flags import TaskVariables, bring_in, read_texts
    from instar.orchestrate.store import lake_store

    settings = Settings.load()
    store = lake_store(settings)
    interval = interval_start(start, run)
    name = TableName.parse(source.table)
    writer = source.writer or source.source
    lake = Lake(store, writer=writer)
    lake.table(name).join()
    bring_in(lake, name, read_texts(TaskVariables(), name))
    return {
        "store": asdict(store),
        "table": str(name),
        "writer": writer,
        "landing": source.landing or (settings.work / "landing").as_uri(),
        "source": source.source,
        "interval_start": interval.isoformat(),
    }


def interval_start(given: str | None, run: DagRun) -> datetime:
    """Return the start that a run was given, or else that of its data interval, in UTC."""
    if not given:
        if run.data_interval_start is None:
            raise NoInterval(
                "A run that was started by hand has no data interval.", help="Give interval_start, or a logical date."
            )
        return run.data_interval_start.astimezone(UTC)
    try:
        start = datetime.fromisoformat(given)
    except ValueError:
        start = None
    if start is None or start.tzinfo is None:
        raise InvalidInterval(
            f"interval_start is {given!r}, which is no time in a zone.", help="Write 2026-01-31T23:00:00+00:00."
        )
    return start.astimezone(UTC)


def generation(run: DagRun) -> int:
    """Return a number that grows with each run of an interval, and is the same for the retries of a task in it.

    A run that is cleared or reprocessed by a backfill, once it had ended, starts anew and so has a later start; so has
    another run of the same interval. A run that is cleared while it goes on keeps its start, but counts the clearing.
    A retry changes neither. (The number of a try grows with retries too, and run ids stay the same when cleared.)
    """
    if run.start_date is None:
        raise NotStarted("The run has not started.", help="Start it through the scheduler.")
    return (run.start_date - _EPOCH) // _MICROSECOND + (run.clear_number or 0)
