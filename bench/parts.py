"""Measure part files: reads against the codec row by row and against bare Parquet, dual writes against structured."""

import json
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from bench.codec import read_rows
from bench.ratio import compare
from bench.samples import FOUR, rows_of, schema_of
from instar.model.part import PartFormat
from instar.parts.footer import Provenance
from instar.parts.reader import read_part
from instar.parts.writer import write_part
from instar.plan.write import as_updates
from instar.storage.memory import MemoryStore

ROWS = 1_000_000


def main() -> None:
    schema = schema_of(FOUR)
    updates = as_updates(rows_of(schema, ROWS), 0)
    of = Provenance("main", schema.name, "", UUID(int=1, version=4), "bench", 0, 0)
    store = MemoryStore()
    parts = {kind: write_part(updates, schema, kind, of, ordinal=n) for n, kind in enumerate(PartFormat)}
    for part in parts.values():
        store.put(part.key, part.data)
    structured, codec = parts[PartFormat.STRUCTURED], parts[PartFormat.CODEC]
    if not read_part(store, structured.key, schema).equals(read_part(store, codec.key, schema)):
        raise SystemExit("The formats do not agree.")

    def row_by_row() -> None:
        read_rows(pq.read_table(pa.BufferReader(codec.data), columns=["k"])["k"].combine_chunks())

    ratios = {
        "read_structured_vs_rows": compare(
            lambda: read_part(store, structured.key, schema), row_by_row, rounds=3
        ).to_json(15, "higher"),
        "read_structured_vs_parquet": compare(
            lambda: pq.read_table(pa.BufferReader(structured.data)), lambda: read_part(store, structured.key, schema)
        ).to_json(1.1, "lower"),
        "write_dual_vs_structured": compare(
            lambda: write_part(updates, schema, PartFormat.STRUCTURED, of),
            lambda: write_part(updates, schema, PartFormat.DUAL, of),
        ).to_json(2, "lower"),
        "read_codec_vs_structured": compare(
            lambda: read_part(store, structured.key, schema), lambda: read_part(store, codec.key, schema)
        ).to_json(None, "lower"),
    }
    print(f"{ROWS:,} rows of {len(FOUR)} columns; bytes: ", end="")
    print(", ".join(f"{kind} {len(part.data):,}" for kind, part in parts.items()))
    for name, ratio in ratios.items():
        print(f"  {name:<28} {ratio['value']:>8}  spread {ratio['spread']}  bar {ratio['bar']}")
    print(json.dumps({"bench": "parts", "ratios": ratios}))


if __name__ == "__main__":
    main()
