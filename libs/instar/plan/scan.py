"""Plan a scan: which parts have to be read for an answer. Pure: nothing is read here."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from instar.catalog.vector import RevisionVector
from instar.expr.nodes import Expr, columns_of
from instar.expr.parse import parse_filter
from instar.flags import Flags, Pushdown
from instar.model.schema import Column, ColumnId, TableSchema
from instar.pushdown.domain import Mask
from instar.pushdown.prune import Pruning, prune


@dataclass(frozen=True)
class ScanPlan:
    """How a question will be answered at one revision vector."""

    schema: TableSchema
    vector: RevisionVector
    flags: Flags
    where: str | None
    """The filter as it was written."""
    filter: Expr | None
    columns: tuple[Column, ...]
    """What the answer shows."""
    parts: pa.Table
    """All live parts."""
    pruning: Pruning | None
    """The verdict on each part; None where there is no filter, or pushdown is off."""
    aliases: Mapping[str, Mapping[ColumnId, ColumnId]] = field(default_factory=dict)
    """Per writer, the columns that its files hold under ids of their own."""

    @property
    def proven(self) -> Mask:
        """Return which parts may hold what the filter asks for: the others are proven not to matter."""
        return np.ones(self.parts.num_rows, np.bool_) if self.pruning is None else self.pruning.keep

    @property
    def keep(self) -> Mask:
        """Return which parts are read. Soft pushdown reads all, to see whether the proof holds."""
        return self.proven if self.flags.pushdown is Pushdown.ON else np.ones_like(self.proven)

    @property
    def kept(self) -> pa.Table:
        return self.parts.filter(pa.array(self.keep))

    @property
    def skipped(self) -> pa.Table:
        return self.parts.filter(pa.array(~self.keep))

    @property
    def read_columns(self) -> tuple[Column, ...]:
        """Return the columns that have to be read: those shown, those filtered by, and the key."""
        needed = {column.id for column in self.columns} | set(self.schema.key)
        if self.filter is not None:
            needed |= columns_of(self.filter)
        return tuple(column for column in self.schema.columns if column.id in needed)

    def columns_of(self, writer: str, held: AbstractSet[ColumnId]) -> tuple[Column, ...]:
        """Return the columns that have to be read, with the ids that a part of a writer holds them under."""
        own = {united: number for number, united in self.aliases.get(writer, {}).items()}
        return tuple(
            replace(column, id=own[column.id]) if column.id not in held and column.id in own else column
            for column in self.read_columns
        )

    def under(self, flags: Flags) -> "ScanPlan":
        """Return the plan of the same question under other flags."""
        names = [column.name for column in self.columns]
        return plan_scan(
            self.schema, self.parts, flags, self.vector, where=self.where, columns=names, aliases=self.aliases
        )

    def restrict(self, places: npt.NDArray[np.int64]) -> "ScanPlan":
        """Return the plan for some of its parts alone, with the verdicts that they have among all."""
        pruning = None if self.pruning is None else Pruning(self.pruning.verdicts[places])
        return replace(self, parts=self.parts.take(pa.array(places)), pruning=pruning)


def plan_scan(
    schema: TableSchema,
    parts: pa.Table,
    flags: Flags,
    vector: RevisionVector,
    *,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    aliases: Mapping[str, Mapping[ColumnId, ColumnId]] | None = None,
) -> ScanPlan:
    """Decide which of a table's live parts, of all its writers, answer for the rows that satisfy `where`."""
    shown = schema.columns if columns is None else tuple(schema.column(name) for name in columns)
    expr = None if where is None else parse_filter(where, schema)
    pruning = None if expr is None or flags.pushdown is Pushdown.OFF else prune(expr, parts, schema)
    return ScanPlan(schema, vector, flags, where, expr, shown, parts, pruning, aliases or {})
