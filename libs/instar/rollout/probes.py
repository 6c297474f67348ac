"""Filters made from a table's own statistics, so that pushdown is tried where it can skip something."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.compare import COMPARABLE
from instar.expr.nodes import ColumnRef, Compare, IsNull, Literal, Op
from instar.expr.sql import to_sql
from instar.model.part import statistics_name
from instar.model.schema import Column, TableSchema
from instar.model.types import TIMESTAMP, TIMESTAMP_NS


def probe_filters(parts: pa.Table, schema: TableSchema) -> Iterator[str]:
    """Yield filters that cut each column's range at the middle of the parts' lower bounds, and one for its nulls."""
    for column in schema.columns:
        reference = ColumnRef(column.id, column.type)
        yield to_sql(IsNull(reference), schema)
        middle = _middle(parts, column) if column.type in COMPARABLE else None
        if middle is not None:
            for op in (Op.LT, Op.GE, Op.EQ):
                yield to_sql(Compare(op, reference, middle), schema)


def _middle(parts: pa.Table, column: Column) -> Literal | None:
    name = statistics_name(column.id, "lower")
    if name not in parts.column_names:
        return None
    bounds = parts[name].drop_null()
    if column.type in (TIMESTAMP, TIMESTAMP_NS):
        bounds = bounds.cast(pa.int64())
    ordered = bounds.take(pc.sort_indices(bounds)) if len(bounds) else bounds
    return Literal(column.type, ordered[len(ordered) // 2].as_py()) if len(ordered) else None
