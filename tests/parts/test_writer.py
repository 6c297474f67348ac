import base64

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.part import PART_FIELDS, PartFormat, statistics_name
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.parts.checksums import FOOTER_KEY
from instar.parts.footer import BATCH_VERSION
from instar.parts.reader import read_footer, read_part
from instar.parts.statistics import statistics_table
from instar.parts.updates import NoUpdates
from instar.parts.writer import part_record, write_part
from tests.parts.samples import TRANSACTION, provenance, stored, stored_sample, updates, weather
from tests.strategies import exact_rows, schemas, update_tables

formats = st.sampled_from(PartFormat)
each_format = pytest.mark.parametrize("format", PartFormat)


def canonical(table: pa.Table) -> list[str]:
    return sorted(map(repr, exact_rows(table)))


@given(st.data(), schemas(), formats, st.integers(1, 5))
def test_any_updates_come_back_from_any_format(
    data: st.DataObject, schema: TableSchema, format: PartFormat, row_group_rows: int
) -> None:
    written = data.draw(update_tables(schema))
    part = write_part(written, schema, format, provenance(schema), row_group_rows=row_group_rows)
    read = read_part(stored(part), part.key, schema)
    assert read.schema.equals(schema.update_schema(), check_metadata=True)
    assert canonical(read) == canonical(written)


@given(st.data(), schemas())
def test_both_encodings_of_a_dual_part_and_all_formats_agree_row_by_row(
    data: st.DataObject, schema: TableSchema
) -> None:
    written = data.draw(update_tables(schema))
    parts = [write_part(written, schema, each, provenance(schema), row_group_rows=3) for each in PartFormat]
    answers = [
        exact_rows(read_part(stored(part), part.key, schema, read_format=read_format))
        for part in parts
        for read_format in ("codec", "structured")
    ]
    assert all(answer == answers[0] for answer in answers)


@given(st.data(), schemas(), formats)
def test_the_same_updates_give_the_same_bytes(data: st.DataObject, schema: TableSchema, format: PartFormat) -> None:
    written = data.draw(update_tables(schema))
    once, again = (
        write_part(table, schema, format, provenance(schema)) for table in (written, written.combine_chunks())
    )
    assert once.data == again.data
    assert once.record == again.record


@each_format
def test_the_record_is_one_row_of_part_fields_and_statistics(format: PartFormat) -> None:
    schema = weather(upsert=True)
    part = write_part(updates(schema), schema, format, provenance(schema), ordinal=4)
    assert part.record.num_rows == 1
    assert part.record.select(PART_FIELDS.names).schema == PART_FIELDS
    known = part.record.drop_columns(PART_FIELDS.names)
    assert known.equals(statistics_table([read_footer(stored(part), part.key).statistics]))
    assert {"101.lower", "102.upper", "103.nan", "104.nulls", "key.lower", "key.upper"} <= set(known.column_names)
    row = part.record.to_pylist()[0]
    assert row["key"] == part.key == f"landing/weather/data/2026-01-01/h2o/{TRANSACTION}-2-00004.parquet"
    assert (row["format"], row["rows"], row["bytes"]) == (format.value, 6, len(part.data))
    assert (row["first_t"], row["last_t"], row["has_deletes"]) == (0, 5, False)
    assert (row["partition"], row["origin"], row["generation"]) == ("2026-01-01", "landing/2026-01-01", 1)
    assert (row["attempt"], row["transaction"], row["batch_version"]) == (2, str(TRANSACTION), BATCH_VERSION)
    degrees = schema.column("degrees").id
    assert [row[statistics_name(degrees, name)] for name in ("lower", "upper", "nulls", "nan")] == [-0.0, 2.5, 1, False]


@each_format
def test_the_record_can_be_made_from_the_file_alone(format: PartFormat) -> None:
    store, part, _ = stored_sample(format)
    footer = read_footer(store, part.key)
    known = part.record.to_pylist()[0]
    again = part_record(part.key, footer, size=known["bytes"], codec_bytes=known["codec_bytes"])
    assert again == part.record


def test_codec_bytes_are_those_of_k_and_v() -> None:
    schema = weather(upsert=True)
    sizes = {}
    for each in PartFormat:
        part = write_part(updates(schema, 1000), schema, each, provenance(schema), row_group_rows=100)
        sizes[each] = part.record.column("codec_bytes")[0].as_py()
    assert sizes[PartFormat.STRUCTURED] == 0
    assert sizes[PartFormat.CODEC] == sizes[PartFormat.DUAL] > 1000


def test_a_table_column_called_k_is_no_blob() -> None:
    schema = TableSchema.create("a.b", {"k": "int64"}, ids=lambda: 1)
    part = write_part(
        pa.table({"k": [1], T_COLUMN: [1], D_COLUMN: [1]}), schema, PartFormat.STRUCTURED, provenance(schema)
    )
    assert part.record.column("codec_bytes")[0].as_py() == 0


def test_deletes_are_flagged() -> None:
    schema = weather(upsert=True)
    table = updates(schema, 2).set_column(5, D_COLUMN, pa.array([1, -1], pa.int64()))
    part = write_part(table, schema, PartFormat.DUAL, provenance(schema))
    assert part.record.column("has_deletes")[0].as_py() is True


def test_an_empty_batch_makes_no_part() -> None:
    schema = weather()
    with pytest.raises(NoUpdates):
        write_part(schema.update_schema().empty_table(), schema, PartFormat.DUAL, provenance(schema))


@each_format
def test_files_are_compressed_indexed_and_cut_into_row_groups(format: PartFormat) -> None:
    schema = weather(upsert=True)
    part = write_part(updates(schema, 10), schema, format, provenance(schema), row_group_rows=4)
    metadata = pq.read_metadata(pa.BufferReader(part.data))
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [4, 4, 2]
    chunk = metadata.row_group(0).column(0)
    compression = "ZSTD" if format is PartFormat.STRUCTURED else "LZ4"  # a blob's
    assert (chunk.compression, chunk.has_offset_index, chunk.has_column_index) == (compression, True, True)


@each_format
def test_the_footer_is_stored_once(format: PartFormat) -> None:
    _, part, _ = stored_sample(format)
    metadata = pq.read_metadata(pa.BufferReader(part.data)).metadata
    assert sorted(metadata) == [b"ARROW:schema", FOOTER_KEY]
    stored_schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(metadata[b"ARROW:schema"])))
    assert not stored_schema.metadata


def test_a_structured_file_says_how_it_is_sorted() -> None:
    schema = weather(upsert=True)
    part = write_part(updates(schema), schema, PartFormat.STRUCTURED, provenance(schema))
    (station, time, t) = pq.read_metadata(pa.BufferReader(part.data)).row_group(0).sorting_columns
    assert [station.column_index, time.column_index, t.column_index] == [0, 1, 4]


def test_an_order_by_floats_is_not_claimed_to_other_readers() -> None:
    schema = TableSchema.create("a.b", {"x": "float64"}, ids=lambda: 1, sort_by=["x"])
    table = pa.table({"x": [1.0], T_COLUMN: [1], D_COLUMN: [1]})
    part = write_part(table, schema, PartFormat.STRUCTURED, provenance(schema))
    assert not pq.read_metadata(pa.BufferReader(part.data)).row_group(0).sorting_columns
