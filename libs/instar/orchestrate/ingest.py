"""What an ingest takes: its interval, its generation, and a table with the flags of now."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from instar.config import Settings
from instar.errors import InstarError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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


def prepare(params: Mapping[str, Any], run: DagRun) -> dict[str, Any]:
    """See to it that the writer holds the table, with the Variables' flags; return the job's arguments."""
    from instar.lake import Lake
    from instar.model.schema import TableName
    from instar.orchestrate.flags import TaskVariables, bring_in, read_texts
    from instar.orchestrate.store import lake_store

    settings = Settings.load()
    store = lake_store(settings)
    name = TableName.parse(params["table"])
    writer = params["writer"] or params["source"]
    lake = Lake(store, writer=writer)
    lake.table(name).join()
    bring_in(lake, name, read_texts(TaskVariables(), name))
    return {
        "store": asdict(store),
        "table": str(name),
        "writer": writer,
        "landing": params["landing"] or (settings.work / "landing").as_uri(),
        "source": params["source"],
        "interval_start": interval_start(params["interval_start"], run).isoformat(),
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
