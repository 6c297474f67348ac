"""Preconditions: what a change was planned on, as data, so that it can be checked again on a newer revision."""

from dataclasses import dataclass
from typing import Protocol

from instar.catalog.snapshot import Snapshot


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
        gone = set(self.keys) - (set(state.parts["key"].to_pylist()) if state else set())
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
