import dataclasses
import io
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.registry import codec_named
from instar.demo.faulty_encoder import dual_part_with_wrong_value
from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, Column, ColumnId, TableName, TableSchema, UnknownColumn
from instar.model.types import INT64, NUMERIC
from instar.model.values import to_array, to_values
from instar.parts.checksums import ForeignFile
from instar.parts.footer import BATCH_VERSION
from instar.parts.layout import lay_out
from instar.parts.reader import ColumnTypeMismatch, IgnoredPart, ReadFormat, UnreadablePart, read_footer, read_part
from instar.parts.updates import check_updates
from instar.parts.writer import WrittenPart, make_footer, seal_part, write_part
from instar.plan.write import as_updates
from instar.storage.memory import MemoryStore
from instar.storage.protocol import NotFound
from tests.parts.samples import provenance, stored, stored_sample, updates, weather
from tests.strategies import exact_rows, schemas, update_tables

each_format = pytest.mark.parametrize("format", PartFormat)


class WatchedStore(MemoryStore):
    """Remember which byte ranges were read."""

    def __init__(self) -> None:
        super().__init__()
        self.ranges: list[range] = []

    def open_input(self, key: str) -> pa.NativeFile:
        return pa.PythonFile(_WatchedFile(self.get(key), self.ranges), mode="r")


class _WatchedFile(io.BytesIO):
    def __init__(self, data: bytes, ranges: list[range]) -> None:
        super().__init__(data)
        self._ranges = ranges

    def read(self, size: int | None = -1, /) -> bytes:
        start = self.tell()
        data = super().read(size)
        self._ranges.append(range(start, start + len(data)))
        return data


def touched(part: WrittenPart, schema: TableSchema, columns: list[str] | None, read_format: ReadFormat) -> set[str]:
    """Return the leaf columns of which any byte was read, apart from the tail that comes with the footer."""
    store = WatchedStore()
    store.put(part.key, part.data)
    read_part(store, part.key, schema, columns=columns, read_format=read_format)
    group = pq.read_metadata(pa.BufferReader(part.data)).row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    return {
        chunk.path_in_schema
        for chunk in chunks
        for found in store.ranges
        if found.stop < len(part.data)
        if found.start < _start(chunk) + chunk.total_compressed_size and _start(chunk) < found.stop
    }


def _start(chunk: Any) -> int:
    return int(chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset)


@pytest.mark.parametrize(
    ("format", "read_format", "columns", "expected"),
    [
        (PartFormat.STRUCTURED, "structured", ["note"], {"note", T_COLUMN, D_COLUMN}),
        (PartFormat.DUAL, "structured", ["note"], {"v_s.note", "t", "d"}),
        (PartFormat.DUAL, "structured", [], {"t", "d"}),
        (PartFormat.DUAL, "codec", ["note"], {"v", "t", "d"}),
        (PartFormat.DUAL, "codec", ["station"], {"k", "t", "d"}),
        (PartFormat.CODEC, "structured", None, {"k", "v", "t", "d"}),
    ],
)
def test_only_the_bytes_of_needed_columns_are_read(
    format: PartFormat, read_format: ReadFormat, columns: list[str] | None, expected: Any
) -> None:
    schema = weather(upsert=True)
    rows = updates(schema, 50_000)
    # Noise, so that chunks are large: small ones between two that are needed are read along with them.
    random = np.random.default_rng(1)
    notes = [random.bytes(10).hex() for _ in range(rows.num_rows)]
    rows = rows.set_column(2, "degrees", [random.normal(size=rows.num_rows)]).set_column(3, "note", [notes])
    part = write_part(rows, schema, format, provenance(schema))
    assert touched(part, schema, columns, read_format) == expected


@given(st.data(), schemas(), st.sampled_from(PartFormat), st.sampled_from(["codec", "structured"]))
def test_a_projection_is_the_same_columns_of_the_whole(
    data: st.DataObject, schema: TableSchema, format: PartFormat, read_format: ReadFormat
) -> None:
    part = write_part(data.draw(update_tables(schema)), schema, format, provenance(schema))
    names = data.draw(st.lists(st.sampled_from([column.name for column in schema.columns]), unique=True))
    some = read_part(stored(part), part.key, schema, columns=names, read_format=read_format)
    whole = read_part(stored(part), part.key, schema, read_format=read_format)
    assert some.column_names == [*names, T_COLUMN, D_COLUMN]
    assert exact_rows(some) == exact_rows(whole.select([*names, T_COLUMN, D_COLUMN]))


def test_an_unknown_column_is_refused() -> None:
    store, part, schema = stored_sample(PartFormat.DUAL)
    with pytest.raises(UnknownColumn, match="colour"):
        read_part(store, part.key, schema, columns=["colour"])


def renamed(schema: TableSchema, **changes: Any) -> TableSchema:
    columns = tuple(dataclasses.replace(c, **changes) if c.name == "note" else c for c in schema.columns)
    return dataclasses.replace(schema, columns=columns)


@each_format
@pytest.mark.parametrize("read_format", ["codec", "structured"])
def test_a_renamed_column_is_found_by_its_id(format: PartFormat, read_format: ReadFormat) -> None:
    store, part, schema = stored_sample(format, upsert=True)
    found = read_part(store, part.key, renamed(schema, name="remark"), columns=["remark"], read_format=read_format)
    assert sorted(found.column("remark").to_pylist()) == [f"note {i}" for i in range(6)]


@each_format
@pytest.mark.parametrize("read_format", ["codec", "structured"])
def test_a_column_that_was_dropped_and_added_again_is_another_one(format: PartFormat, read_format: ReadFormat) -> None:
    store, part, schema = stored_sample(format, upsert=True)
    again = renamed(schema, id=ColumnId(999))
    found = read_part(store, part.key, again, read_format=read_format)
    assert found.column("note").null_count == found.num_rows == 6
    assert found.column("degrees").null_count == 1


@each_format
def test_an_added_column_changes_nothing_else(format: PartFormat) -> None:
    store, part, schema = stored_sample(format)
    wider = dataclasses.replace(schema, columns=(Column(ColumnId(999), "first", INT64), *schema.columns))
    found = read_part(store, part.key, wider, read_format="codec")
    assert found.column("first").type == pa.int64()
    assert exact_rows(found.drop_columns(["first"])) == exact_rows(read_part(store, part.key, schema))


@each_format
def test_a_column_of_another_type_is_refused_with_the_parts_name(format: PartFormat) -> None:
    store, part, schema = stored_sample(format)
    with pytest.raises(ColumnTypeMismatch, match=f"'note' is int64, but string in {part.key}"):
        read_part(store, part.key, renamed(schema, type=INT64))


def two_faced() -> tuple[MemoryStore, str, TableSchema]:
    """Store a dual part in which blobs and structs differ, so that it shows which of them was read."""
    schema = weather()
    part = dual_part_with_wrong_value(
        updates(schema), schema, provenance(schema), row=0, column="note", value="structured"
    )
    return stored(part), part.key, schema


@pytest.mark.parametrize(
    ("read_format", "ignored", "expected"),
    [
        ("structured", frozenset(), "structured"),
        ("codec", frozenset(), "note 0"),
        ("structured", {BATCH_VERSION}, "note 0"),
        ("structured", {BATCH_VERSION + 1}, "structured"),
    ],
)
def test_a_dual_part_is_read_as_asked_unless_its_batch_version_is_ignored(
    read_format: ReadFormat, ignored: frozenset[int], expected: Any
) -> None:
    store, key, schema = two_faced()
    found = read_part(store, key, schema, read_format=read_format, ignore_batch_versions=ignored)
    assert found.column("note")[0].as_py() == expected


def test_a_structured_part_of_an_ignored_batch_version_is_refused() -> None:
    store, part, schema = stored_sample(PartFormat.STRUCTURED)
    with pytest.raises(IgnoredPart, match=part.key):
        read_part(store, part.key, schema, ignore_batch_versions={BATCH_VERSION})


def test_a_codec_part_of_an_ignored_batch_version_is_read_as_ever() -> None:
    store, part, schema = stored_sample(PartFormat.CODEC)
    assert read_part(store, part.key, schema, ignore_batch_versions={BATCH_VERSION}).num_rows == 6


@each_format
def test_the_footer_says_where_the_part_comes_from(format: PartFormat) -> None:
    store, part, schema = stored_sample(format)
    footer = read_footer(store, part.key)
    assert (footer.format, footer.provenance, footer.schema) == (format, provenance(schema), schema)


def test_a_missing_part_is_the_stores_error() -> None:
    with pytest.raises(NotFound):
        read_footer(MemoryStore(), "no/such.parquet")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"station,degrees\n", b"PAR1" + b"\0" * 20 + b"PAR1"])
def test_a_file_that_is_not_parquet_is_named(data: bytes) -> None:
    store = MemoryStore()
    store.put("x.parquet", data)
    with pytest.raises((UnreadablePart, ForeignFile), match=r"x\.parquet"):
        read_footer(store, "x.parquet")


def test_a_parquet_file_of_another_writer_is_named() -> None:
    store, sink = MemoryStore(), pa.BufferOutputStream()
    pq.write_table(pa.table({"k": [b""]}), sink)
    store.put("x.parquet", sink.getvalue().to_pybytes())
    with pytest.raises(ForeignFile, match=r"x\.parquet"):
        read_part(store, "x.parquet", weather())


@each_format
def test_a_flipped_bit_in_a_page_is_noticed(format: PartFormat) -> None:
    store, part, schema = stored_sample(format, size=5_000)
    chunk = pq.read_metadata(pa.BufferReader(part.data)).row_group(0).column(0)
    damaged = bytearray(part.data)
    damaged[_start(chunk) + chunk.total_compressed_size - 2] ^= 1
    store.put(part.key, bytes(damaged))
    with pytest.raises(UnreadablePart, match=part.key):
        read_part(store, part.key, schema, read_format="codec")


def test_blobs_that_do_not_decode_are_named_with_part_row_and_column() -> None:
    schema = weather()
    rows = check_updates(updates(schema), schema)
    content = lay_out(rows, schema, PartFormat.CODEC, codec_named("row"))
    content = content.set_column(0, content.schema.field("k"), pa.array([*content["k"].to_pylist()[:5], b""]))
    part = seal_part([content], make_footer(rows, schema, PartFormat.CODEC, provenance(schema)))
    with pytest.raises(UnreadablePart, match=f"{part.key}, column k: Row 5 holds 0 values .* 'station'"):
        read_part(stored(part), part.key, schema)


@pytest.mark.parametrize("format", [PartFormat.DUAL, PartFormat.STRUCTURED])
def test_parts_of_both_encodings_of_a_type_are_read_as_one_table(format: PartFormat) -> None:
    before, after = (
        TableSchema(TableName("db", "t"), (Column(ColumnId(1), "price", NUMERIC, encoding=version),))
        for version in (0, 1)
    )
    for schema in (before, after):
        prices = to_array(NUMERIC, [Decimal("1.50"), None, Decimal("NaN")])
        rows = as_updates(pa.table({"price": prices}), 0)
        part = write_part(rows, schema, format, provenance(schema))
        found = read_part(stored(part), part.key, after)
        assert [value and str(value) for value in to_values(NUMERIC, found["price"])] == ["1.5", None, "NaN"]


def test_an_encoding_of_a_newer_release_is_refused_by_name() -> None:
    schema = TableSchema(TableName("db", "t"), (Column(ColumnId(1), "price", NUMERIC),))
    rows = as_updates(pa.table({"price": to_array(NUMERIC, [Decimal(1)])}), 0)
    content = lay_out(rows, schema, PartFormat.STRUCTURED, codec_named("row"))
    newer = content.schema.field(0).with_metadata({"PARQUET:field_id": "1", "ARROW:extension:name": "instar.7.numeric"})
    content = content.cast(content.schema.set(0, newer))
    part = seal_part([content], make_footer(rows, schema, PartFormat.STRUCTURED, provenance(schema)))
    with pytest.raises(UnreadablePart, match=r"column 'price': encoding version 7 is unknown\. A newer release"):
        read_part(stored(part), part.key, schema)
