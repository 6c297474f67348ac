"""Open what the options of a command name: the lake, and timelines of it."""

import difflib
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
        "--as-of", metavar="REVISION", help="Revision to read: a number, or writer/database@number joined by commas."
    ),
]
DatabaseArgument = Annotated[str | None, typer.Argument(help="Database to look at; all if not given.")]
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
    """Return what `--as-of` names: a number is the revision of the only timeline, anything else a vector."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


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
