"""Actions: what a transaction does to the catalog, as data.

`data_change` tells whether readers may see other rows after the action, or only the same rows laid out differently.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.snapshot import Adoption, TableState, Unknown
from instar.catalog.tombstones import Tombstone
from instar.errors import InstarError
from instar.flags import Flags
from instar.model.part import PART_FIELDS
from instar.model.schema import TableSchema


class InvalidParts(InstarError):
    """Part metadata that the catalog can't hold."""


@dataclass(frozen=True, order=True)
class Run:
    """One run of one origin: the source and interval that rows came from, and which attempt at it this is."""

    origin: str
    generation: int


@dataclass(frozen=True)
class CreateTable:
    schema: TableSchema
    unknown: Unknown = field(default_factory=Unknown)
    data_change: ClassVar[bool] = False

    @property
    def table(self) -> str:
        return self.schema.name.table


@dataclass(frozen=True)
class AlterTable:
    """Give a table another schema. It was made from the one that the table has now: see `SchemaIs`."""

    schema: TableSchema
    unknown: Unknown = field(default_factory=Unknown)
    data_change: ClassVar[bool] = True

    @property
    def table(self) -> str:
        return self.schema.name.table


@dataclass(frozen=True)
class AddParts:
    """Add parts to a table.

    `parts` has the columns of `PART_FIELDS`, any statistics columns beside them, and a row per part. `empty_runs` names
    runs that gave no row and hence no part: they too replace what older generations of their origin left.
    """

    table: str
    parts: pa.Table
    data_change: bool = True
    empty_runs: tuple[Run, ...] = ()

    def __post_init__(self) -> None:
        names = set(self.parts.column_names)
        for of in PART_FIELDS:
            if of.name not in names or self.parts.schema.field(of.name).type != of.type:
                raise InvalidParts(
                    f"Parts of {self.table} lack a column {of.name} of type {of.type}.",
                    help="Part metadata has the columns of PART_FIELDS.",
                )
            if self.parts[of.name].null_count:
                raise InvalidParts(
                    f"Parts of {self.table} hold a null in {of.name}.", help="Only statistics may be unknown."
                )
        if len(pc.unique(self.parts["key"])) != len(self.parts):
            raise InvalidParts(f"Two parts of {self.table} share a key.", help="A part is added once.")

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.parts["key"].to_pylist())

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs whose rows this adds, in order: none where only the layout changes."""
        if not self.data_change:
            return ()
        found = self.parts.select(["origin", "generation"]).group_by(["origin", "generation"]).aggregate([])
        named = {Run(row["origin"], row["generation"]) for row in found.to_pylist() if row["origin"]}
        return tuple(sorted(named | set(self.empty_runs)))


@dataclass(frozen=True)
class RemoveParts:
    """Take parts out of a table. Their files stay until no retained revision names them."""

    table: str
    keys: tuple[str, ...]
    data_change: bool = True

    def __post_init__(self) -> None:
        if len(set(self.keys)) != len(self.keys):
            raise InvalidParts(f"A part of {self.table} is removed twice.", help="Name each part once.")


@dataclass(frozen=True)
class SetFlags:
    """Set a table's flags. `version` grows with each change."""

    table: str
    flags: Flags
    version: int
    data_change: ClassVar[bool] = False


@dataclass(frozen=True)
class Collect:
    """Fence off transactions: from here on a commit of any of them is refused, so their files may go."""

    transactions: tuple[UUID, ...]
    data_change: ClassVar[bool] = False


@dataclass(frozen=True)
class AddTombstones:
    """Delete rows of a table, in the parts that hold them now."""

    table: str
    tombstones: tuple[Tombstone, ...]
    data_change: ClassVar[bool] = True


@dataclass(frozen=True)
class RetireTombstones:
    """Let go of tombstones that have no row left to delete."""

    table: str
    ids: tuple[UUID, ...]
    data_change: ClassVar[bool] = False


@dataclass(frozen=True)
class Seal:
    """End a timeline: nothing can be committed behind this. Only `heir` may adopt what it holds."""

    heir: str
    data_change: ClassVar[bool] = False


@dataclass(frozen=True)
class Adopt:
    """Take over the tables of a sealed timeline of the same database, as they were at its final revision.

    A reader who sees this no longer looks at that timeline. The state travels with the action, so that reading this
    log never needs the other one.
    """

    writer: str
    final: int
    uuid: UUID
    tables: tuple[TableState, ...]
    data_change: ClassVar[bool] = False


class ResetReason(enum.StrEnum):
    RESTORE = "restore"
    REBUILD = "rebuild"


@dataclass(frozen=True)
class Reset:
    """Put other tables in the place of all that are there: those of an old revision, or what a rebuild found.

    A rebuild begins anew: it follows no transaction, for the one before it may be unreadable.
    """

    reason: ResetReason
    revision: int
    """The revision that is made the newest again; 0 where the state was rebuilt from files."""
    tables: tuple[TableState, ...]
    adopted: Mapping[str, Adoption] = field(default_factory=dict)
    data_change: ClassVar[bool] = True


@dataclass(frozen=True)
class Upgrade:
    """Ask more of whoever reads or writes this timeline from here on."""

    min_reader: int
    min_writer: int
    data_change: ClassVar[bool] = False


Action = (
    CreateTable
    | AlterTable
    | AddParts
    | RemoveParts
    | AddTombstones
    | RetireTombstones
    | SetFlags
    | Collect
    | Seal
    | Adopt
    | Reset
    | Upgrade
)


@dataclass(frozen=True)
class Transaction:
    """One step of a timeline. `previous` is the uuid of the step before, None for the first."""

    revision: int
    uuid: UUID
    previous: UUID | None
    commit_time: int
    """Microseconds since the Unix epoch, greater than that of every earlier revision."""
    actions: tuple[Action, ...]

    @property
    def data_change(self) -> bool:
        return any(action.data_change for action in self.actions)

    @property
    def begins_anew(self) -> bool:
        """Tell whether the state after this does not depend on the state before."""
        return any(isinstance(action, Reset) and action.reason is ResetReason.REBUILD for action in self.actions)

    def mentioned_keys(self) -> frozenset[str]:
        """Return the keys of all parts that this adds or removes."""
        return frozenset(key for action in self.actions for key in _mentioned(action))


def added(actions: Iterable[Action]) -> list[AddParts]:
    return [action for action in actions if isinstance(action, AddParts)]


def _mentioned(action: Action) -> Iterable[str]:
    match action:
        case AddParts() | RemoveParts():
            return action.keys
        case Adopt() | Reset():
            return [key for table in action.tables for key in table.parts["key"].to_pylist()]
        case _:
            return ()
