"""What each origin of a table has come to, as a value that grows in a time that does not depend on its size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

ORIGIN_FIELDS = pa.schema(
    [
        pa.field("origin", pa.string(), nullable=False),
        pa.field("generation", pa.int64(), nullable=False),
        pa.field("transaction", pa.binary(16), nullable=False),
        pa.field("sealed", pa.bool_(), nullable=False),
    ]
)
_MOST_CHANGES = 1_000


@dataclass(frozen=True)
class OriginState:
    """The newest committed run of an origin.

    A sealed origin's rows were merged with those of others, so they can't be replaced any more.
    """

    generation: int
    transaction: UUID
    sealed: bool = False


class OriginSet(Mapping[str, OriginState]):
    """The origins of a table: an Arrow table, and what has changed since. Never changes once it is made."""

    __slots__ = ("_base", "_changes", "_whole")

    def __init__(self, base: pa.Table | None = None, changes: Mapping[str, OriginState] | None = None) -> None:
        self._base = ORIGIN_FIELDS.empty_table() if base is None else base
        self._changes = dict(changes or {})
        self._whole: dict[str, OriginState] | None = None

    def updated(self, changes: Mapping[str, OriginState]) -> "OriginSet":
        """Return the set with other states for some origins."""
        if not changes:
            return self
        if len(self._changes) < _MOST_CHANGES:
            return OriginSet(self._base, {**self._changes, **changes})
        return OriginSet(OriginSet(self._base, {**self._changes, **changes}).table())

    def table(self) -> pa.Table:
        """Return all of it, in the order of names."""
        if not self._changes:
            return self._base
        items = sorted(self._dict().items())
        arrays = [
            pa.array([origin for origin, _ in items], pa.string()),
            pa.array([state.generation for _, state in items], pa.int64()),
            pa.array([state.transaction.bytes for _, state in items], pa.binary(16)),
            pa.array([state.sealed for _, state in items], pa.bool_()),
        ]
        return pa.Table.from_arrays(arrays, schema=ORIGIN_FIELDS)

    def __getitem__(self, origin: str) -> OriginState:
        if origin in self._changes:
            return self._changes[origin]
        if self._whole is not None:
            return self._whole[origin]
        place = pc.index(self._base["origin"], origin).as_py()
        if place < 0:
            raise KeyError(origin)
        return _state(self._base.slice(place, 1).to_pylist()[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict())

    def __len__(self) -> int:
        return len(self._dict()) if self._changes else int(self._base.num_rows)

    def _dict(self) -> dict[str, OriginState]:
        if self._whole is None:
            whole = {row["origin"]: _state(row) for row in self._base.to_pylist()}
            self._whole = {**whole, **self._changes}
        return self._whole


def _state(row: dict[str, Any]) -> OriginState:
    return OriginState(row["generation"], UUID(bytes=row["transaction"]), row["sealed"])
