"""The catalog as readers see it: the union of all timelines, pinned by a revision vector."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.names import log_prefix, parse_log_name, parse_name
from instar.catalog.snapshot import Snapshot, TableState
from instar.catalog.timeline import Timeline
from instar.catalog.tombstones import PlacedTombstone
from instar.catalog.unify import unify
from instar.catalog.vector import RevisionVector, TimelineId
from instar.errors import InstarError
from instar.flags import Flags, least
from instar.model.schema import ColumnId, TableName, TableSchema
from instar.storage.protocol import Store

WRITER_COLUMN = "writer"
_DEPTH = 3  # writer, database, and what lies below


class UnknownTableName(InstarError):
    """A table that no timeline holds."""


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
    aliases: Mapping[str, Mapping[ColumnId, ColumnId]] = field(default_factory=dict)
    """Per writer, the columns that its files hold under ids of their own, with the ids that they have here."""

    @property
    def tombstones(self) -> tuple[tuple[str, PlacedTombstone], ...]:
        """Return the deletes in force, each with the writer whose timeline holds it."""
        return tuple((writer, placed) for writer, state in self.timelines.items() for placed in state.tombstones)


@dataclass(frozen=True)
class View:
    """The lake at one revision vector."""

    vector: RevisionVector
    tables: Mapping[TableName, UnitedTable]
    broken: Mapping[TableName, InstarError] = field(default_factory=dict)
    """Tables whose timelines can't be united, with the reason. They hide nothing but themselves."""
    notes: tuple[str, ...] = ()
    """Timelines that are not seen at their newest revision, because it is damaged."""

    def table(self, name: TableName) -> UnitedTable:
        if name in self.broken:
            raise self.broken[name]
        if name not in self.tables:
            raise UnknownTableName(
                f"There is no table {name}.", help=f"There are: {', '.join(map(str, sorted(self.tables))) or 'none'}."
            )
        return self.tables[name]


class Catalog:
    """Find the timelines of a lake, and read them as one."""

    def __init__(self, store: Store, *, single_process: bool = False) -> None:
        self.store = store
        self.single_process = single_process
        self._timelines: dict[TimelineId, Timeline] = {}

    def timeline(self, writer: str, database: str) -> Timeline:
        """Return a timeline, whether or not it has begun. The same one each time, so that it remembers."""
        place = TimelineId(writer, database)
        if place not in self._timelines:
            self._timelines[place] = Timeline(self.store, writer, database, single_process=self.single_process)
        return self._timelines[place]

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
        if vector is not None:
            chosen = [(place, revision) for place, revision in vector if database in (None, place.database)]
            return unite([self.timeline(of.writer, of.database).load(revision) for of, revision in chosen])
        places = [place for place in self.timelines() if database in (None, place.database)]
        opened = [self.timeline(place.writer, place.database).load_readable() for place in places]
        return replace(unite([snapshot for snapshot, _ in opened]), notes=tuple(note for _, note in opened if note))

    def vector_at(self, micros: int, *, database: str | None = None) -> RevisionVector:
        """Return the revisions that were the newest at a time, by the commit times that each timeline has."""
        found = {
            place: self.timeline(place.writer, place.database).revision_at(micros)
            for place in self.timelines()
            if database in (None, place.database)
        }
        return RevisionVector.of({place: revision for place, revision in found.items() if revision})

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
    """Return the union of timelines. One that another has adopted, at a revision that is seen, is not looked at."""
    adopted = {(snapshot.database, writer) for snapshot in snapshots for writer in snapshot.adopted}
    held: dict[TableName, dict[str, TableState]] = {}
    for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.writer):
        if (snapshot.database, snapshot.writer) in adopted:
            continue
        for state in snapshot.tables.values():
            held.setdefault(state.schema.name, {})[snapshot.writer] = state
    vector = {TimelineId(snapshot.writer, snapshot.database): snapshot.revision for snapshot in snapshots}
    tables: dict[TableName, UnitedTable] = {}
    broken: dict[TableName, InstarError] = {}
    for name, states in held.items():
        try:
            tables[name] = _unite_table(states)
        except InstarError as error:
            broken[name] = error
    return View(RevisionVector.of(vector), tables, broken)


def _unite_table(states: Mapping[str, TableState]) -> UnitedTable:
    united = unify(states)
    parts = [_labelled(writer, state, united.aliases.get(writer, {})) for writer, state in states.items()]
    return UnitedTable(
        united.schema,
        parts[0] if len(parts) == 1 else pa.concat_tables(parts, promote_options="permissive"),
        least(state.flags for state in states.values()),
        states,
        united.aliases,
    )


def _labelled(writer: str, state: TableState, aliases: Mapping[ColumnId, ColumnId]) -> pa.Table:
    """Return a timeline's parts with their writer, and with statistics under the ids that the union has."""
    parts = state.parts
    for name in parts.column_names if aliases else ():
        if (united := _alias(name, aliases)) != name:
            parts = _moved(parts, name, united)
    field = pa.field(WRITER_COLUMN, pa.string(), nullable=False)
    return parts.append_column(field, pa.repeat(pa.scalar(writer), parts.num_rows))


def _moved(parts: pa.Table, name: str, united: str) -> pa.Table:
    """Return the parts with a statistic under another name, beside what some of them have under it already."""
    if united not in parts.column_names:
        return parts.rename_columns([united if of == name else of for of in parts.column_names])
    here, there = parts[united], parts[name]
    wide = (
        pa.concat_tables([pa.table({"of": here}), pa.table({"of": there})], promote_options="permissive")
        .schema.field("of")
        .type
    )
    both = pc.coalesce(here.cast(wide), there.cast(wide))
    rest = parts.drop_columns([name])
    return rest.set_column(rest.column_names.index(united), united, both)


def _alias(name: str, aliases: Mapping[ColumnId, ColumnId]) -> str:
    number, dot, statistic = name.partition(".")
    if not dot or not number.isdigit():
        return name
    return f"{aliases.get(ColumnId(int(number)), ColumnId(int(number)))}.{statistic}"
