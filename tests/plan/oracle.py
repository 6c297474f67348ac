"""What a table's updates mean, in plain Python: the oracle of merges and reads."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from instar.expr.nodes import Expr
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.plan.merge import BY_WRITER, FROM_ORIGIN
from tests.expr.reference import holds
from tests.expr.strategies import Row


@dataclass(frozen=True)
class Update:
    """One update; timestamps in its row count units of their type."""

    row: Row
    t: int
    d: int = 1
    writer: str = "w"
    origin: str = "o"

    @property
    def age(self) -> tuple[int, str, str, bool]:
        """Return what sorts updates; a delete comes behind what it is level with."""
        return self.t, self.writer, self.origin, self.d < 0


def merged(updates: Iterable[Update], schema: TableSchema) -> list[Row]:
    """Return the rows that a reader sees."""
    if not schema.key:
        return [update.row for update in updates]
    rows: dict[tuple[Any, ...], Row] = {}
    for update in sorted(updates, key=lambda update: update.age):
        key = identity(update.row, schema)
        if update.d < 0:
            rows.pop(key, None)
        else:
            known = rows.setdefault(key, dict.fromkeys(update.row))
            known.update({name: value for name, value in update.row.items() if value is not None})
    return list(rows.values())


def matching(
    updates: Iterable[Update], schema: TableSchema, expr: Expr | None, columns: Sequence[str]
) -> "Counter[str]":
    """Return what a question has for an answer, as `counted` shows it."""
    rows = [row for row in merged(updates, schema) if expr is None or holds(expr, row, schema)]
    return Counter(repr([row[name] for name in columns]) for row in rows)


def counted(table: pa.Table) -> "Counter[str]":
    """Return how often each row is there. Zeros keep their sign, and a NaN is like any other."""
    cells = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in table.columns)
    return Counter(map(repr, map(list, zip(*(column.to_pylist() for column in cells), strict=True))))


def identity(row: Row, schema: TableSchema) -> tuple[Any, ...]:
    """Return the key of a row such that rows with one key have equal ones: NaN is one value, and so is zero."""
    return tuple(_same(row[column.name]) for column in schema.key_columns)


def to_updates(updates: Sequence[Update], schema: TableSchema) -> pa.Table:
    """Return updates as Arrow holds them, without labels."""
    arrays = [pa.array([u.row[f.name] for u in updates], f.type) for f in schema.arrow_schema()]
    arrays += [pa.array([u.t for u in updates], pa.int64()), pa.array([u.d for u in updates], pa.int64())]
    return pa.Table.from_arrays(arrays, names=[*(c.name for c in schema.columns), T_COLUMN, D_COLUMN])


def to_labelled(updates: Sequence[Update], schema: TableSchema) -> pa.Table:
    return (
        to_updates(updates, schema)
        .append_column(BY_WRITER, pa.array([u.writer for u in updates], pa.string()))
        .append_column(FROM_ORIGIN, pa.array([u.origin for u in updates], pa.string()))
    )


def _same(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value
