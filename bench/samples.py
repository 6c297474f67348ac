"""Rows of two shapes, the same for the same size."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from instar.model.schema import Column, ColumnId, TableName, TableSchema
from instar.model.types import parse_type
from instar.model.values import to_array

FOUR = {"station": "string", "time": "timestamp", "degrees": "float64", "readings": "int64"}
TWELVE = FOUR | {
    "calibrated": "bool",
    "price": "numeric",
    "day": "date",
    "id": "uuid",
    "raw": "bytes",
    "document": "jsonb",
    "samples": "list<int64>",
    "place": "record<level int64, name string>",
}


def schema_of(columns: dict[str, str]) -> TableSchema:
    built = [
        Column(ColumnId(number), name, parse_type(text)) for number, (name, text) in enumerate(columns.items(), start=1)
    ]
    return TableSchema(TableName("bench", "rows"), tuple(built))


def rows_of(schema: TableSchema, count: int) -> pa.Table:
    """Return rows of a table whose columns are among TWELVE."""
    random = np.random.default_rng(1)
    drawn: dict[str, Any] = {
        "station": [f"station_{n}" for n in random.integers(0, 1_000, count)],
        "time": (1_767_225_600_000_000 + np.arange(count) * 1_000_000).tolist(),
        "degrees": random.normal(60, 5, count).tolist(),
        "readings": random.integers(-1_000, 100_000, count).tolist(),
        "calibrated": (random.random(count) < 0.5).tolist(),
        "price": [Decimal(int(n)) / 100 for n in random.integers(0, 10**6, count)],
        "day": random.integers(0, 20_000, count).tolist(),
        "id": [UUID(bytes=random.bytes(16)) for _ in range(count)],
        "raw": [random.bytes(12) for _ in range(count)],
        "document": [f'{{"a":{n},"b":"x"}}' for n in random.integers(0, 100_000, count)],
        "samples": random.integers(0, 1_000, (count, 3)).tolist(),
        "place": [{"level": int(n), "name": "shore"} for n in random.integers(0, 1_000, count)],
    }
    arrays = [to_array(column.type, drawn[column.name]) for column in schema.columns]
    return pa.Table.from_arrays(arrays, schema=schema.arrow_schema())
