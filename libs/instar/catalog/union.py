"""The catalog as readers see it: the union of all timelines, pinned by a revision vector."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from instar.catalog.names import log_prefix, parse_log_name, parse_name
from instar.catalog.snapshot import Snapshot, TableState
from instar.catalog.timeline import Timeline
from instar.catalog.vector import RevisionVector, TimelineId
from instar.errors import InstarError
from instar.flags import Flags, least
from instar.model.schema import TableName, TableSchema
from instar.storage.protocol import Store

WRITER_COLUMN = "writer"
_DEPTH = 3  # writer, database, and what lies below


class UnknownTableName(InstarError):
    """A table that no timeline holds."""


class SchemaMismatch(InstarError):
    """A table that two writers define differently."""


@dataclass(frozen=True)
class UnitedTable:
    """One table over all its writers.

    `parts` is as in one timeline, with the writer of each part in an additional column. `flags` is what all timelines
    have reached.
    """

    schema: TableSchema
    parts: pa.Table
    flags: Flags
    timelines: Mapping[str, TableState]
    """The table in each timeline, by writer."""


@dataclass(frozen=True)
class View:
    """The lake at one revision vector."""

    vector: RevisionVector
    tables: Mapping[TableName, UnitedTable]

    def table(self, name: TableName) -> UnitedTable:
        if name not in self.tables:
            raise UnknownTableName(
                f"There is no table {name}.", help=f"There are: {', '.join(map(str, sorted(self.tables))) or 'none'}."
            )
        return self.tables[name]


class Catalog:
    """Find the timelines of a lake, and read them as one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._timelines: dict[TimelineId, Timeline] = {}

    def timeline(self, writer: str, database: str) -> Timeline:
        """Return a timeline, whether or not it has begun. The same one each time, so that it remembers."""
        return self._timelines.setdefault(TimelineId(writer, database), Timeline(self.store, writer, database))

    def timelines(self) -> list[TimelineId]:
        """Return the timelines that have begun."""
        return sorted(timeline for timeline in self._folders() if self._has_log(timeline))

    def databases(self) -> list[str]:
        return sorted({timeline.database for timeline in self.timelines()})

    def writers(self, database: str) -> list[str]:
        return [timeline.writer for timeline in self.timelines() if timeline.database == database]

    def view(self, vector: RevisionVector | None = None, *, database: str | None = None) -> View:
        """Return the lake at `vector`, or as it is now; only one database if it is given.

        A timeline that the vector leaves out had not begun when it was taken, and is not seen.
        """
        pinned = dict.fromkeys(self.timelines()) if vector is None else dict(vector)
        return unite(
            [
                self.timeline(place.writer, place.database).load(revision)
                for place, revision in pinned.items()
                if database in (None, place.database)
            ]
        )

    def _folders(self) -> Iterator[TimelineId]:
        """Yield what may be timelines, jumping over the contents of each."""
        after = ""
        while True:
            keys = (info.key for info in self.store.list("", after))
            segments = next((found for key in keys if len(found := key.split("/", 2)) == _DEPTH), None)
            if segments is None:
                return
            writer, database = parse_name(segments[0]), parse_name(segments[1])
            if writer is not None and database is not None:
                yield TimelineId(writer, database)
            after = f"{segments[0]}/{segments[1]}0"  # behind the folder: 0 is the character behind the slash

    def _has_log(self, timeline: TimelineId) -> bool:
        prefix = log_prefix(timeline.writer, timeline.database)
        return any(parse_log_name(info.key.removeprefix(prefix)) for info in self.store.list(prefix))


def unite(snapshots: list[Snapshot]) -> View:
    """Return the union of timelines."""
    held: dict[TableName, dict[str, TableState]] = {}
    for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.writer):
        for state in snapshot.tables.values():
            held.setdefault(state.schema.name, {})[snapshot.writer] = state
    vector = {TimelineId(snapshot.writer, snapshot.database): snapshot.revision for snapshot in snapshots}
    return View(RevisionVector.of(vector), {name: _unite_table(states) for name, states in held.items()})


def _unite_table(states: Mapping[str, TableState]) -> UnitedTable:
    first_writer, first = next(iter(states.items()))
    for writer, state in states.items():
        if state.schema != first.schema:
            raise SchemaMismatch(
                f"Writers {first_writer!r} and {writer!r} define {state.schema.name} differently.",
                help="Create the table with the schema that the other writer has, ids included.",
            )
    parts = [
        state.parts.append_column(
            pa.field(WRITER_COLUMN, pa.string(), nullable=False), pa.array([writer] * len(state.parts), pa.string())
        )
        for writer, state in states.items()
    ]
    united = pa.concat_tables(parts, promote_options="permissive")
    return UnitedTable(first.schema, united, least(state.flags for state in states.values()), states)
