"""Preconditions: what a change was planned on, as data, so that it can be checked again on a newer revision."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from instar.catalog.snapshot import Snapshot
from instar.model.schema import ColumnId, TableSchema


class Precondition(Protocol):
    def violation(self, snapshot: Snapshot) -> str | None:
        """Return how `snapshot` breaks this, as a sentence, or None where it holds."""


@dataclass(frozen=True)
class TableAbsent:
    table: str

    def violation(self, snapshot: Snapshot) -> str | None:
        return f"Table {self.table!r} exists." if self.table in snapshot.tables else None


@dataclass(frozen=True)
class TableExists:
    table: str

    def violation(self, snapshot: Snapshot) -> str | None:
        return None if self.table in snapshot.tables else f"There is no table {self.table!r}."


@dataclass(frozen=True)
class PartsLive:
    """The parts that the change was computed from are still the data."""

    table: str
    keys: tuple[str, ...]

    def violation(self, snapshot: Snapshot) -> str | None:
        state = snapshot.tables.get(self.table)
        gone = set(self.keys) - (state.part_set.present(self.keys) if state else set())
        return f"Part {min(gone)} of {self.table!r} is no longer live." if gone else None


@dataclass(frozen=True)
class FlagsVersion:
    """The flags that the change was planned under are still in force."""

    table: str
    version: int

    def violation(self, snapshot: Snapshot) -> str | None:
        state = snapshot.tables.get(self.table)
        if state is None:
            return f"There is no table {self.table!r}."
        if state.flags_version == self.version:
            return None
        return f"The flags of {self.table!r} went from version {self.version} to {state.flags_version}."


@dataclass(frozen=True)
class SchemaIs:
    """The table still has the schema that the change was made for."""

    schema: TableSchema

    def violation(self, snapshot: Snapshot) -> str | None:
        name = self.schema.name.table
        state = snapshot.tables.get(name)
        if state is None:
            return f"There is no table {name!r}."
        return None if state.schema == self.schema else f"Table {name!r} was altered."


@dataclass(frozen=True)
class ColumnsLive:
    """None of these columns was dropped."""

    table: str
    columns: tuple[ColumnId, ...]

    def violation(self, snapshot: Snapshot) -> str | None:
        state = snapshot.tables.get(self.table)
        gone = set(self.columns) - ({column.id for column in state.schema.columns} if state else set())
        return f"Column {min(gone)} of {self.table!r} was dropped." if gone else None


@dataclass(frozen=True)
class NoTombstonesSince:
    """No row of the table was deleted after the revision that the change was computed from."""

    table: str
    revision: int

    def violation(self, snapshot: Snapshot) -> str | None:
        state = snapshot.tables.get(self.table)
        placed = [of.revision for of in state.tombstones if of.revision > self.revision] if state else []
        return f"Rows of {self.table!r} were deleted at revision {min(placed)}." if placed else None


@dataclass(frozen=True)
class HeadIs:
    """Nothing at all was committed since the change was planned."""

    revision: int
    uuid: UUID | None

    def violation(self, snapshot: Snapshot) -> str | None:
        if (snapshot.revision, snapshot.uuid) == (self.revision, self.uuid):
            return None
        return f"Revision {snapshot.revision} was committed after revision {self.revision} was looked at."
