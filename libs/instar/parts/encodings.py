"""Which Parquet encoding each column of a file gets."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from instar.model.part import PartFormat
from instar.parts.layout import BLOBS, time_and_diff

SAMPLE_ROWS = 10_000
"""So many rows tell whether texts repeat."""
_REPEATS = 2
"""Texts that come this often, on average, are worth a dictionary."""


@dataclass(frozen=True)
class Encodings:
    """What Parquet's writer is told: a column has a dictionary, an encoding, or neither."""

    dictionaries: list[str]
    others: dict[str, str]
    compression: dict[str, str]


def choose_encodings(content: pa.Table, format: PartFormat) -> Encodings:
    """Return the encodings for a file's columns.

    Floats are split into streams of their bytes, numbers and times are stored as differences, booleans as runs, texts
    and bytes that repeat in a dictionary and others one after the other behind their lengths; all are compressed by
    zstd. Blobs are plain and compressed by lz4, in less time: they are on their way out.
    """
    blobs = () if format is PartFormat.STRUCTURED else BLOBS
    fields = [field for field in content.schema if field.name not in blobs]
    leaves = {path: leaf for field in fields for path, leaf in _leaves(field.name, field.type)}
    texts = [field.name for field in fields if _is_text(_storage(field.type))]
    repeating = {name for name in (*texts, time_and_diff(format)[1]) if _repeats(content.column(name))}
    dictionaries, others = [], {}
    for path, leaf in leaves.items():
        if path in repeating or (path not in content.column_names and _is_text(leaf)):
            dictionaries.append(path)
        elif (encoding := _encoding(leaf)) is not None:
            others[path] = encoding
    return Encodings(dictionaries, others, {**dict.fromkeys(leaves, "zstd"), **dict.fromkeys(blobs, "lz4")})


def _encoding(leaf: pa.DataType) -> str | None:
    if pa.types.is_floating(leaf):
        return "BYTE_STREAM_SPLIT"
    if pa.types.is_integer(leaf) or pa.types.is_temporal(leaf):
        return "DELTA_BINARY_PACKED"
    if pa.types.is_boolean(leaf):
        return "RLE"
    return "DELTA_LENGTH_BYTE_ARRAY" if _is_text(leaf) else None


def _repeats(values: pa.ChunkedArray) -> bool:
    sample = values.slice(0, SAMPLE_ROWS)
    if isinstance(sample.type, pa.BaseExtensionType):
        sample = pa.chunked_array([chunk.storage for chunk in sample.chunks], sample.type.storage_type)
    return int(pc.count_distinct(sample).as_py()) * _REPEATS <= len(sample)


def _leaves(path: str, of: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Return what Parquet stores of a column, by its path in the file's schema."""
    of = _storage(of)
    if pa.types.is_struct(of):
        for field in of:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_map(of):
        yield from _leaves(f"{path}.key_value.key", of.key_type)
        yield from _leaves(f"{path}.key_value.value", of.item_type)
    elif pa.types.is_list(of):
        yield from _leaves(f"{path}.list.element", of.value_type)
    else:
        yield path, of


def _storage(of: pa.DataType) -> pa.DataType:
    return of.storage_type if isinstance(of, pa.BaseExtensionType) else of


def _is_text(leaf: pa.DataType) -> bool:
    return bool(pa.types.is_string(leaf) or pa.types.is_binary(leaf))
