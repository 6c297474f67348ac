"""Statistics that fit: the largest go first."""

from collections.abc import Set as AbstractSet
from dataclasses import replace

import pyarrow as pa

from instar.model.schema import ColumnId, TableSchema
from instar.parts.statistics import ColumnStatistics, PartStatistics


def fit_budget(statistics: PartStatistics, schema: TableSchema) -> PartStatistics:
    """Return what of the statistics fits into the table's budget.

    The key's columns and those that the table keeps stay whole, whatever they take. Of the others the largest single
    statistics are left out until the rest fits, the later of equals first. Less is known then, and nothing is wrong.
    """
    kept = {*schema.key, *schema.keep_statistics}
    return replace(statistics, columns=_fit(statistics.columns, schema.settings.statistics_bytes, kept))


def _fit(
    columns: tuple[ColumnStatistics, ...], budget: int, kept: AbstractSet[ColumnId]
) -> tuple[ColumnStatistics, ...]:
    sizes = {
        (place, statistic): _size(scalar)
        for place, of in enumerate(columns)
        for statistic, scalar in of.known.items()
        if of.column not in kept
    }
    total = sum(sizes.values())
    order = {piece: number for number, piece in enumerate(sizes)}
    for piece in sorted(sizes, key=lambda piece: (-sizes[piece], -order[piece])):
        if total <= budget:
            break
        total -= sizes.pop(piece)
    trimmed = (
        of
        if of.column in kept
        else replace(of, known={name: scalar for name, scalar in of.known.items() if (place, name) in sizes})
        for place, of in enumerate(columns)
    )
    return tuple(of for of in trimmed if of.known)


def _size(scalar: pa.Scalar) -> int:
    """Return about how many bytes the catalog takes for a statistic."""
    return int(pa.array([scalar], scalar.type).nbytes)
