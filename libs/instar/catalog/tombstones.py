"""Tombstones: deletes as records of the catalog, which readers apply and compactions carry out."""

from dataclasses import dataclass
from uuid import UUID

import pyarrow as pa

from instar.catalog.vector import RevisionVector
from instar.errors import InstarError


class InvalidTombstone(InstarError):
    """A tombstone that says nothing, or that its table can't have."""


@dataclass(frozen=True)
class KeyTombstone:
    """Rows of an upsert table are deleted: those with any of `keys` whose logical time is not after `t`."""

    id: UUID
    keys: pa.Table
    """The key columns, a row per deleted key."""
    t: int

    def __post_init__(self) -> None:
        if not self.keys.num_rows:
            raise InvalidTombstone(f"Tombstone {self.id} names no key.", help="Delete at least one.")


@dataclass(frozen=True)
class PredicateTombstone:
    """Rows of an append table are deleted: those that satisfy `where`, in parts that `covers` holds."""

    id: UUID
    where: str
    covers: RevisionVector

    def __post_init__(self) -> None:
        if not self.where.strip():
            raise InvalidTombstone(f"Tombstone {self.id} has no condition.", help="Write true to delete every row.")


Tombstone = KeyTombstone | PredicateTombstone


@dataclass(frozen=True)
class PlacedTombstone:
    """A tombstone in force, and the revision of its timeline that placed it."""

    tombstone: Tombstone
    revision: int
