"""The live parts of a table, as a value that grows by a part in a time that does not depend on how many there are."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from instar.model.part import PART_FIELDS

_MOST_PIECES = 32  # a concatenation walks all pieces, so a long replay would be quadratic in them
_NO_PARTS = PART_FIELDS.empty_table()


class PartSet:
    """Parts as one Arrow table, a row per part, that is put together only when somebody looks.

    Until then it is a base, what was added to it, and the keys that were taken away. Never changes once it is made.
    """

    __slots__ = ("_added", "_base", "_removed", "_table")

    def __init__(
        self, base: pa.Table = _NO_PARTS, added: tuple[pa.Table, ...] = (), removed: frozenset[str] = frozenset()
    ) -> None:
        self._base = base
        self._added = added
        self._removed = removed
        self._table: pa.Table | None = None

    @property
    def table(self) -> pa.Table:
        if self._table is None:
            parts = self._base
            if self._added:
                parts = pa.concat_tables([parts, *self._added], promote_options="permissive")
            if self._removed:
                parts = parts.filter(pc.invert(_among(parts, self._removed)))
            self._table = parts
        return self._table

    def present(self, keys: Iterable[str]) -> frozenset[str]:
        """Return which of `keys` are live."""
        asked = frozenset(keys) - self._removed
        found: set[str] = set()
        for piece in self._pieces():
            found.update(piece["key"].filter(_among(piece, asked)).to_pylist())
        return frozenset(found)

    def add(self, parts: pa.Table) -> "PartSet":
        """Return the set with more parts, whose keys were never in it."""
        if self._table is not None:
            return PartSet(self._table, (parts,))
        if len(self._added) < _MOST_PIECES:
            return PartSet(self._base, (*self._added, parts), self._removed)
        folded = pa.concat_tables([*self._added, parts], promote_options="permissive").combine_chunks()
        if folded.num_rows < self._base.num_rows:
            return PartSet(self._base, (folded,), self._removed)
        return PartSet(PartSet(self._base, (folded,), self._removed).table.combine_chunks())

    def remove(self, keys: Iterable[str]) -> "PartSet":
        """Return the set without parts that it holds."""
        if self._table is not None:
            return PartSet(self._table, (), frozenset(keys))
        return PartSet(self._base, self._added, self._removed | frozenset(keys))

    def __len__(self) -> int:
        return sum(int(piece.num_rows) for piece in self._pieces()) - (
            0 if self._table is not None else len(self._removed)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartSet) and bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PartSet of {len(self)}"

    def _pieces(self) -> tuple[pa.Table, ...]:
        return (self._table,) if self._table is not None else (self._base, *self._added)


def _among(parts: pa.Table, keys: Iterable[str]) -> pa.ChunkedArray:
    return pc.is_in(parts["key"], pa.array(list(keys), pa.string()))
