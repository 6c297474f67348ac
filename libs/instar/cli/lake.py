"""Open what the options of a command name: the lake, and timelines of it."""

import difflib
from datetime import datetime
from typing import Annotated

import typer

from instar.catalog.timeline import Timeline
from instar.config import Settings
from instar.errors import InstarError
from instar.lake import AsOf, Lake
from instar.storage.config import StoreConfig

LakeOption = Annotated[
    str, typer.Option("--lake", metavar="URI", help="Root of the lake; the configured one if empty.")
]
WhereOption = Annotated[str | None, typer.Option("--where", metavar="SQL", help="Filter, as a SQL expression.")]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="REVISION",
        help="What to read: a revision number, writer/database@number joined by commas, or a time such as "
        "2026-01-31T12:00:00Z.",
    ),
]
DatabaseArgument = Annotated[str | None, typer.Argument(help="Database to look at; all if not given.")]
CommitOption = Annotated[bool, typer.Option("--commit", help="Do it; without this, only say what would be done.")]
WriterOption = Annotated[str | None, typer.Option("--writer", help="Only the timeline of this writer.")]


class EmptyLake(InstarError):
    """A root below which no timeline has begun."""


class UnknownTimeline(InstarError):
    """A database or a writer that the lake does not have."""


def open_lake(uri: str) -> Lake:
    """Open the lake at `uri`, the configured one if it is empty, by the way that the settings name."""
    settings = Settings.load()
    return Lake(
        StoreConfig(
            uri or settings.lake, settings.s3_profile or None, settings.s3_endpoint or None, settings.s3_region or None
        )
    )


def parse_as_of(text: str | None) -> AsOf:
    """Return what `--as-of` names: the revision of the only timeline, a time with its zone, or a vector."""
    if text is None or "@" in text:
        return text
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def chosen_timeline(lake: Lake, database: str, writer: str | None) -> Timeline:
    """Return the one timeline that a database and a writer name."""
    found = chosen_timelines(lake, database, writer)
    if len(found) != 1:
        raise UnknownTimeline(
            f"{database} has {len(found)} timelines.",
            help=f"Name one: --writer {' or '.join(of.writer for of in found)}.",
        )
    return found[0]


def chosen_timelines(lake: Lake, database: str | None, writer: str | None) -> list[Timeline]:
    """Return the timelines of a database and a writer, of all where they are not given; refuse a name without any."""
    known = lake.catalog.timelines()
    if not known:
        raise EmptyLake(
            f"{lake.store.uri} has no catalog.", help="Check the root; the first table that is created begins one."
        )
    _check("database", database, {place.database for place in known})
    chosen = [place for place in known if database in (None, place.database)]
    _check("writer", writer, {place.writer for place in chosen})
    return [lake.catalog.timeline(place.writer, place.database) for place in chosen if writer in (None, place.writer)]


def _check(kind: str, name: str | None, known: set[str]) -> None:
    if name is None or name in known:
        return
    near = difflib.get_close_matches(name, known, 1)
    raise UnknownTimeline(
        f"There is no {kind} {name!r}.",
        help=f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(sorted(known)) or 'none'}.",
    )
