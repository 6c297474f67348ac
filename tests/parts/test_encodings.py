"""The encodings that a file really has, as Parquet's own metadata says."""

from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from instar.model.part import PartFormat
from instar.model.schema import Column, ColumnId, TableName, TableSchema
from instar.model.types import parse_type
from instar.model.values import to_array
from instar.parts.footer import Provenance
from instar.parts.writer import write_part

ROWS = 100
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "tag": ("string", ["a", "b"] * (ROWS // 2)),
    "text": ("string", [f"text {n}" for n in range(ROWS)]),
    "time": ("timestamp_ns", list(range(ROWS))),
    "count": ("uint32", list(range(ROWS))),
    "degrees": ("float64", [n / 7 for n in range(ROWS)]),
    "narrow": ("float32", [float(n) for n in range(ROWS)]),
    "flag": ("bool", [n % 3 == 0 for n in range(ROWS)]),
    "id": ("uuid", [UUID(int=n) for n in range(ROWS)]),
    "doc": ("jsonb", [f'{{"n":{n}}}' for n in range(ROWS)]),
    "samples": ("list<float64>", [[1.0, 2.0]] * ROWS),
    "labels": ("map<string>", [{"a": "b"}] * ROWS),
}
FLAT = {
    "tag": "RLE_DICTIONARY",
    "text": "DELTA_LENGTH_BYTE_ARRAY",
    "time": "DELTA_BINARY_PACKED",
    "count": "DELTA_BINARY_PACKED",
    "degrees": "BYTE_STREAM_SPLIT",
    "narrow": "BYTE_STREAM_SPLIT",
    "flag": "RLE",
    "id": "PLAIN",
    "doc": "DELTA_LENGTH_BYTE_ARRAY",
    "samples.list.element": "BYTE_STREAM_SPLIT",
    "labels.key_value.key": "RLE_DICTIONARY",
    "labels.key_value.value": "RLE_DICTIONARY",
}


def written(format: PartFormat) -> pq.FileMetaData:
    columns = tuple(
        Column(ColumnId(number), name, parse_type(text))
        for number, (name, (text, _)) in enumerate(COLUMNS.items(), start=1)
    )
    schema = TableSchema(TableName("db", "t"), columns)
    arrays = [to_array(column.type, COLUMNS[column.name][1]) for column in columns]
    arrays += [pa.array(range(ROWS), pa.int64()), pa.array([1] * ROWS, pa.int64())]
    updates = pa.Table.from_arrays(arrays, schema.update_schema().names)
    of = Provenance("main", schema.name, "", UUID(int=1, version=4), "o", 0, 0)
    return pq.read_metadata(pa.BufferReader(write_part(updates, schema, format, of).data))


def encodings(metadata: pq.FileMetaData) -> dict[str, tuple[str, ...]]:
    group = metadata.row_group(0)
    chunks = (group.column(number) for number in range(group.num_columns))
    return {chunk.path_in_schema: chunk.encodings for chunk in chunks}


@pytest.mark.parametrize(("path", "encoding"), FLAT.items())
def test_a_structured_column_has_the_encoding_of_its_type(path: str, encoding: str) -> None:
    found = encodings(written(PartFormat.STRUCTURED))[path]
    assert encoding in found
    assert ("RLE_DICTIONARY" in found) == (encoding == "RLE_DICTIONARY")


def test_blobs_are_plain_and_differences_are_runs() -> None:
    found = encodings(written(PartFormat.DUAL))
    assert set(found["k"]) == {"PLAIN", "RLE"}
    assert "DELTA_BINARY_PACKED" in found["t"]
    assert "RLE_DICTIONARY" in found["d"]
    assert "BYTE_STREAM_SPLIT" in found["k_s.degrees"]
    assert "BYTE_STREAM_SPLIT" in found["k_s.samples.list.element"]


def test_every_column_is_compressed_with_zstd_and_has_a_page_index() -> None:
    group = written(PartFormat.STRUCTURED).row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    assert {chunk.compression for chunk in chunks} == {"ZSTD"}
    assert all(chunk.has_offset_index for chunk in chunks)
