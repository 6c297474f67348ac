"""The catalog at one revision, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.catalog.errors import InvalidAction
from instar.catalog.origin_set import OriginSet
from instar.catalog.part_set import PartSet
from instar.catalog.tombstones import PlacedTombstone
from instar.flags import Flags
from instar.model.schema import TableSchema


class UnknownTable(InvalidAction):
    """A table that the timeline does not hold."""


@dataclass(frozen=True)
class Unknown:
    """What a newer version has written beside what this one understands. It is kept, and written again."""

    fields: bytes = b""
    """Fields of the message, as they were encoded."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """Members of the schema's JSON."""


@dataclass(frozen=True)
class TableState:
    """One table of one timeline."""

    schema: TableSchema
    part_set: PartSet = field(default_factory=PartSet)
    flags: Flags = field(default_factory=Flags)
    flags_version: int = 0
    origins: OriginSet = field(default_factory=OriginSet)
    tombstones: tuple[PlacedTombstone, ...] = ()
    schema_time: int = 0
    """The commit time of the transaction that gave it this schema."""
    unknown: Unknown = field(default_factory=Unknown)

    @property
    def parts(self) -> pa.Table:
        """Return a row per live part."""
        return self.part_set.table


@dataclass(frozen=True)
class Adoption:
    """A timeline that was sealed at `final`, and whose tables this one has held since `revision`."""

    final: int
    uuid: UUID
    revision: int


@dataclass(frozen=True)
class Protocol:
    """The least versions that may read and write a timeline."""

    min_reader: int = 1
    min_writer: int = 1


@dataclass(frozen=True)
class Snapshot:
    """A timeline at one revision. Revision 0 is the empty timeline, before its first transaction."""

    writer: str
    database: str
    revision: int = 0
    uuid: UUID | None = None
    commit_time: int = 0
    tables: Mapping[str, TableState] = field(default_factory=dict)
    collected: frozenset[UUID] = frozenset()
    adopted: Mapping[str, Adoption] = field(default_factory=dict)
    """By writer."""
    heir: str | None = None
    """The writer that may adopt this timeline, which is sealed; None while it is not."""
    protocol: Protocol = field(default_factory=Protocol)
    unknown: bytes = b""

    def table(self, name: str) -> TableState:
        if name not in self.tables:
            raise UnknownTable(
                f"Writer {self.writer!r} has no table {name!r} in {self.database} at revision {self.revision}.",
                help=f"It has: {', '.join(sorted(self.tables)) or 'none'}.",
            )
        return self.tables[name]

    def live_keys(self) -> frozenset[str]:
        return frozenset(key for table in self.tables.values() for key in table.parts["key"].to_pylist())

    def equals(self, other: "Snapshot") -> bool:
        """Tell whether both are the same state, reached by whatever path: replay or checkpoint."""
        return self == other
