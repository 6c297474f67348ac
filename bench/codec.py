"""Measure the `row` codec against protobuf's own library, used row by row."""

import json
from typing import Any

import pyarrow as pa

from bench.ratio import Ratio, compare
from bench.samples import FOUR, TWELVE, rows_of, schema_of
from instar.codec.row import RowCodec
from instar.codec.row_pb2 import Datum, Row, Values
from instar.model.schema import TableSchema

ROWS = 1_000_000
ROUNDS = 3
BARS = {"encode": 4.0, "decode": 6.0}
_COMPOSITE = ("list_value", "record_value")


def main() -> None:
    ratios = {}
    print(f"{'rows':>9} {'columns':>7} {'encode':>18} {'decode':>18}   times as fast as row by row, and the spread")
    for columns in (FOUR, TWELVE):
        found = measure(schema_of(columns))
        shown = [f"{of.value:.1f} ({of.spread[0]:.1f}-{of.spread[1]:.1f})" for of in found.values()]
        print(f"{ROWS:>9,} {len(columns):>7} {shown[0]:>18} {shown[1]:>18}")
        for name, of in found.items():
            ratios[f"{name}_{len(columns)}_columns"] = of.to_json(BARS[name], "higher")
    print(json.dumps({"bench": "codec", "ratios": ratios}))


def measure(schema: TableSchema) -> dict[str, Ratio]:
    codec, rows = RowCodec(), rows_of(schema, ROWS)
    blobs = codec.encode(schema.columns, rows)
    read = read_rows(blobs)
    if _write_rows(read) != blobs.to_pylist() or not codec.decode(schema.columns, blobs).equals(rows):
        raise SystemExit("The two ways do not agree.")
    return {
        "encode": compare(lambda: codec.encode(schema.columns, rows), lambda: _write_rows(read), ROUNDS),
        "decode": compare(lambda: codec.decode(schema.columns, blobs), lambda: read_rows(blobs), ROUNDS),
    }


def read_rows(blobs: pa.BinaryArray) -> list[list[tuple[str, Any]]]:
    """Return each row's values with their kinds, as a program would that knows the library alone."""
    return [[_read(datum) for datum in Row.FromString(blob).datums] for blob in blobs.to_pylist()]


def _read(datum: Datum) -> tuple[str, Any]:
    kind = datum.WhichOneof("kind") or ""
    value = getattr(datum, kind)
    return kind, [_read(inner) for inner in value.values] if kind in _COMPOSITE else value


def _write_rows(rows: list[list[tuple[str, Any]]]) -> list[bytes]:
    return [Row(datums=[_write(kind, value) for kind, value in row]).SerializeToString() for row in rows]


def _write(kind: str, value: Any) -> Datum:
    if kind in _COMPOSITE:
        value = Values(values=[_write(*inner) for inner in value])
    return Datum(**{kind: value})


if __name__ == "__main__":
    main()
