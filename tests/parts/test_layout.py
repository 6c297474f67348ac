import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from instar.codec.registry import codec_named
from instar.codec.row_pb2 import Row
from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, FIELD_ID_KEY, T_COLUMN, TableSchema
from instar.parts.layout import blob_columns, lay_out, stored_columns
from tests.parts.samples import COLUMNS, stored_sample, updates, weather

ROW = codec_named("row")
CODEC, DUAL, STRUCTURED = PartFormat.CODEC, PartFormat.DUAL, PartFormat.STRUCTURED


def names(schema: TableSchema) -> dict[str, list[str]]:
    return {blob: [column.name for column in columns] for blob, columns in blob_columns(schema).items()}


def test_an_upsert_table_splits_key_and_values() -> None:
    assert names(weather(upsert=True)) == {"k": ["station", "time"], "v": ["degrees", "note"]}


def test_an_append_table_keeps_whole_rows_in_k_and_nothing_in_v() -> None:
    assert names(weather()) == {"k": list(COLUMNS), "v": []}
    content = lay_out(updates(weather()), weather(), CODEC, ROW)
    assert set(content.column("v").to_pylist()) == {b""}
    assert {len(Row.FromString(blob).datums) for blob in content.column("k").to_pylist()} == {4}


@pytest.mark.parametrize(
    ("format", "upsert", "expected"),
    [
        (CODEC, True, ["k", "v", "t", "d"]),
        (DUAL, True, ["k", "v", "t", "d", "k_s", "v_s"]),
        (DUAL, False, ["k", "v", "t", "d", "k_s"]),
        (STRUCTURED, True, [*COLUMNS, T_COLUMN, D_COLUMN]),
    ],
)
def test_each_format_has_its_columns(format: PartFormat, upsert: bool, expected: list[str]) -> None:
    schema = weather(upsert=upsert)
    assert lay_out(updates(schema), schema, format, ROW).column_names == expected


@pytest.mark.parametrize("format", [DUAL, STRUCTURED])
def test_parquet_field_ids_are_column_ids(format: PartFormat) -> None:
    store, part, schema = stored_sample(format, upsert=True)
    fields = pq.ParquetFile(store.open_input(part.key)).schema_arrow
    found = stored_columns(fields, format)
    assert {number: path[-1] for number, path in found.items()} == {c.id: c.name for c in schema.columns}
    assert {path[:-1] for path in found.values()} == ({("k_s",), ("v_s",)} if format is DUAL else {()})


def test_helper_columns_have_no_field_id() -> None:
    store, part, _ = stored_sample(DUAL)
    fields = pq.ParquetFile(store.open_input(part.key)).schema_arrow
    assert not any(FIELD_ID_KEY in (fields.field(name).metadata or {}) for name in ("k", "v", "t", "d", "k_s"))


@pytest.mark.parametrize("format", [DUAL, STRUCTURED])
def test_table_columns_may_be_null_in_every_file(format: PartFormat) -> None:
    schema = weather(upsert=True)
    fields = lay_out(updates(schema), schema, format, ROW).schema
    if format is DUAL:
        fields = [*fields.field("k_s").type, *fields.field("v_s").type]
    assert all(field.nullable for field in fields if not field.name.startswith("_instar_"))


def test_any_parquet_reader_sees_the_values_of_a_structured_part() -> None:
    store, part, _ = stored_sample(STRUCTURED)
    frame = pq.read_table(pa.BufferReader(store.get(part.key))).to_pandas()
    assert list(frame.columns) == [*COLUMNS, T_COLUMN, D_COLUMN]
    assert frame["note"].tolist() == [f"note {i}" for i in range(6)]
