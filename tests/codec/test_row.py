import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.protocol import CodecError
from instar.codec.registry import codec_named
from instar.codec.row_pb2 import Datum, Null, Row
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import ALL_TYPES, BOOL, INT64, STRING, DataType, parse_type
from tests.strategies import exact_rows, schemas, update_tables

CODEC = codec_named("row")
NAME = Column(ColumnId(1), "name", STRING)
AGE = Column(ColumnId(2), "age", INT64)


def blobs(*rows: Row) -> pa.Array:
    return pa.array([row.SerializeToString() for row in rows], pa.binary())


@given(st.data(), schemas())
def test_every_table_decodes_to_what_was_encoded(data: st.DataObject, schema: TableSchema) -> None:
    updates = data.draw(update_tables(schema))
    encoded = CODEC.encode(schema.columns, updates)
    assert len(encoded) == updates.num_rows
    decoded = CODEC.decode(schema.columns, encoded)
    assert decoded.schema.equals(schema.arrow_schema(), check_metadata=True)
    assert exact_rows(decoded) == exact_rows(updates.select(schema.arrow_schema().names))


def test_no_columns_make_empty_blobs() -> None:
    rows = pa.table({"name": ["a", "b"]})
    encoded = CODEC.encode([], rows)
    assert encoded.to_pylist() == [b"", b""]
    assert CODEC.decode([], encoded).column_names == []


def test_datums_stand_in_column_order_whatever_the_order_of_the_rows() -> None:
    encoded = CODEC.encode([AGE, NAME], pa.table({"name": ["a"], "age": pa.array([None], pa.int64())}))
    row = Row.FromString(encoded[0].as_py())
    assert [datum.WhichOneof("kind") for datum in row.datums] == ["null", "string_value"]


@pytest.mark.parametrize("data_type", ALL_TYPES, ids=str)
def test_each_type_has_a_kind_of_its_own(data_type: DataType) -> None:
    column = Column(ColumnId(1), "x", data_type)
    other = Column(ColumnId(1), "x", INT64 if data_type == BOOL else BOOL)
    cell = pa.array([0], pa.int64()).cast(column.arrow_field().type) if data_type.name != "bytes" else pa.array([b""])
    encoded = CODEC.encode([column], pa.table({"x": cell}))
    with pytest.raises(CodecError, match=r"Row 0 holds .* for column 'x'"):
        CODEC.decode([other], encoded)


def test_two_timestamps_of_different_units_are_not_taken_for_each_other() -> None:
    micros, nanos = (Column(ColumnId(1), "x", parse_type(name)) for name in ("timestamp", "timestamp_ns"))
    encoded = CODEC.encode([micros], pa.table({"x": pa.array([1], pa.timestamp("us"))}))
    with pytest.raises(CodecError, match="timestamp_value"):
        CODEC.decode([nanos], encoded)


def test_too_few_datums_name_the_column_and_the_row() -> None:
    full = Row(datums=[Datum(string_value="a"), Datum(null=Null())])
    with pytest.raises(CodecError, match=r"Row 1 .* column 'age' has none"):
        CODEC.decode([NAME, AGE], blobs(full, Row(datums=[Datum(string_value="a")])))


def test_too_many_datums_name_the_row() -> None:
    with pytest.raises(CodecError, match="Row 0 holds 2 values for 1 columns"):
        CODEC.decode([NAME], blobs(Row(datums=[Datum(string_value="a")] * 2)))


def test_datums_without_columns_are_refused() -> None:
    with pytest.raises(CodecError, match="Row 0 holds 1 values for 0 columns"):
        CODEC.decode([], blobs(Row(datums=[Datum(null=Null())])))


def test_a_datum_of_unknown_kind_is_no_null() -> None:
    with pytest.raises(CodecError, match="Row 0 holds a value of unknown kind for column 'name'"):
        CODEC.decode([NAME], blobs(Row(datums=[Datum()])))


@pytest.mark.parametrize("blob", [b"\xff", b"\x0a\x03\x2a\x01\xff", b"\x0a\x05\x2a"])
def test_garbage_names_the_row(blob: bytes) -> None:
    good = Row(datums=[Datum(string_value="a")]).SerializeToString()
    with pytest.raises(CodecError, match="row 1"):
        CODEC.decode([NAME], pa.array([good, blob], pa.binary()))


def test_a_missing_blob_names_the_row() -> None:
    with pytest.raises(CodecError, match="Row 0 has no blob"):
        CODEC.decode([NAME], pa.array([None], pa.binary()))


def test_values_of_another_type_name_the_column() -> None:
    with pytest.raises(CodecError, match="'age' is int64, but its values are string"):
        CODEC.encode([AGE], pa.table({"age": ["1"]}))


def test_the_encoding_is_what_old_parts_hold() -> None:
    """Blobs outlive releases: this is the layout of stored data."""
    schema = TableSchema.create("a.b", {t.name: t.name for t in ALL_TYPES}, ids=itertools.count(1).__next__)
    cells = [[True], [-2], [0.5], ["é"], [b"\x00"], [1], [-1]]
    rows = pa.table(
        [pa.array(c, f.type) for c, f in zip(cells, schema.arrow_schema(), strict=True)], schema.arrow_schema()
    )
    expected = (
        "0a0210010a0218030a0921000000000000e03f0a042a02c3a90a033201000a093901000000000000000a0941ffffffffffffffff"
    )
    assert CODEC.encode(schema.columns, rows)[0].as_py().hex() == expected
