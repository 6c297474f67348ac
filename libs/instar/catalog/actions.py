"""Actions: what a transaction does to the catalog, as data.

`data_change` tells whether readers may see other rows after the action, or only the same rows laid out differently.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

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
    data_change: ClassVar[bool] = False

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
        for field in PART_FIELDS:
            if field.name not in names or self.parts.schema.field(field.name).type != field.type:
                raise InvalidParts(
                    f"Parts of {self.table} lack a column {field.name} of type {field.type}.",
                    help="Part metadata has the columns of PART_FIELDS.",
                )
            if self.parts[field.name].null_count:
                raise InvalidParts(
                    f"Parts of {self.table} hold a null in {field.name}.", help="Only statistics may be unknown."
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


Action = CreateTable | AddParts | RemoveParts | SetFlags | Collect


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

    def mentioned_keys(self) -> frozenset[str]:
        """Return the keys of all parts that this adds or removes."""
        return frozenset(
            key for action in self.actions if isinstance(action, AddParts | RemoveParts) for key in action.keys
        )


def added(actions: Iterable[Action]) -> list[AddParts]:
    return [action for action in actions if isinstance(action, AddParts)]
