"""A small table, its updates, and where they come from."""

import itertools
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.parts.footer import Provenance
from instar.parts.writer import WrittenPart, write_part
from instar.storage.memory import MemoryStore

TRANSACTION = UUID("12345678-1234-5678-1234-567812345678")
COLUMNS = {"station": "string", "time": "timestamp_ns", "degrees": "float64", "note": "string"}


def weather(*, upsert: bool = False) -> TableSchema:
    key = ("station", "time") if upsert else ()
    return TableSchema.create(
        "weather.h2o", COLUMNS, ids=itertools.count(101).__next__, key=key, merge_mode="upsert" if upsert else "append"
    )


def provenance(schema: TableSchema, **changes: Any) -> Provenance:
    known: dict[str, Any] = {
        "writer": "landing",
        "table": schema.name,
        "partition": "2026-01-01",
        "transaction": TRANSACTION,
        "origin": "landing/2026-01-01",
        "generation": 1,
        "attempt": 2,
    }
    return Provenance(**(known | changes))


def updates(schema: TableSchema, size: int = 6) -> pa.Table:
    return pa.table(
        {
            "station": [f"s{i % 3}" for i in range(size)],
            "time": pa.array(range(size), pa.timestamp("ns")),
            "degrees": [None if i % 4 == 3 else i / 2 for i in range(size)],
            "note": [f"note {i}" for i in range(size)],
            T_COLUMN: pa.array(range(size), pa.int64()),
            D_COLUMN: pa.array([1] * size, pa.int64()),
        }
    )


def stored(part: WrittenPart) -> MemoryStore:
    store = MemoryStore()
    store.put(part.key, part.data)
    return store


def stored_sample(
    format: PartFormat, *, upsert: bool = False, size: int = 6
) -> tuple[MemoryStore, WrittenPart, TableSchema]:
    schema = weather(upsert=upsert)
    part = write_part(updates(schema, size), schema, format, provenance(schema))
    return stored(part), part, schema
