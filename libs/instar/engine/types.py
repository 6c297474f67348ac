"""How a table's types show in Spark. Nothing is lossy: what Spark has no type for shows as what it is made of."""

from collections.abc import Sequence

import pyarrow as pa

from instar.model.arrow import to_arrow
from instar.model.schema import Column
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType

SPARK_TYPES: dict[DataType, str] = {
    BOOL: "boolean",
    INT64: "bigint",
    FLOAT64: "double",
    STRING: "string",
    BYTES: "binary",
    TIMESTAMP: "timestamp_ntz",
    TIMESTAMP_NS: "bigint",  # nanoseconds since the epoch: Spark's timestamps have microseconds
}


def spark_fields(columns: Sequence[Column]) -> str:
    """Return the columns as Spark's DDL."""
    return ", ".join(f"`{column.name.replace('`', '``')}` {SPARK_TYPES[column.type]}" for column in columns)


def to_spark_form(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return the columns as Arrow data that Spark takes."""
    return pa.Table.from_arrays(
        [
            _recast(table.column(c.name), pa.int64()) if c.type == TIMESTAMP_NS else table.column(c.name)
            for c in columns
        ],
        names=[c.name for c in columns],
    )


def from_spark_form(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return the columns as the table's own types."""
    return pa.Table.from_arrays(
        [_recast(table.column(c.name), to_arrow(c.type)) for c in columns], names=[c.name for c in columns]
    )


def _recast(values: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    return values if values.type == target else values.cast(target)
