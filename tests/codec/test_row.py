import contextlib
import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.protocol import CodecError
from instar.codec.registry import codec_named
from instar.codec.row import BATCH_ROWS
from instar.codec.row_pb2 import Datum, Null, Row, Values
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import (
    BOOL,
    BYTES,
    FLOAT64,
    INT64,
    SCALARS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    DataType,
    parse_type,
)
from instar.model.values import sort_key, to_array, to_values
from tests.strategies import exact_rows, schemas, types, update_tables, values

CODEC = codec_named("row")
FIRST = (BOOL, INT64, FLOAT64, STRING, BYTES, TIMESTAMP, TIMESTAMP_NS)
"""The types that the first release had."""
NAME = Column(ColumnId(1), "name", STRING)
AGE = Column(ColumnId(2), "age", INT64)


def of(data_type: DataType) -> Column:
    return Column(ColumnId(1), "x", data_type)


def table(data_type: DataType, drawn: list[Any]) -> pa.Table:
    return pa.table({"x": to_array(data_type, drawn)})


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


@pytest.mark.parametrize("data_type", SCALARS, ids=str)
@given(data=st.data())
def test_each_type_has_a_kind_of_its_own(data: st.DataObject, data_type: DataType) -> None:
    other = data.draw(types.filter(lambda drawn: drawn.kind != data_type.kind))
    encoded = CODEC.encode([of(data_type)], table(data_type, [data.draw(values(data_type))]))
    with pytest.raises(CodecError, match=r"Row 0 holds .* for column 'x'"):
        CODEC.decode([of(other)], encoded)


@given(st.data(), types)
def test_the_ordinary_library_reads_every_value_and_writes_the_same_bytes(
    data: st.DataObject, data_type: DataType
) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), min_size=1, max_size=5))
    encoded = CODEC.encode([of(data_type)], table(data_type, drawn))
    for blob in encoded.to_pylist():
        row = Row.FromString(blob)
        assert row.SerializeToString() == blob
        assert not row.datums[0].HasField("null") or None in drawn


@given(st.data(), types)
def test_blobs_in_another_layout_are_read_by_the_ordinary_library(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), min_size=1, max_size=5))
    encoded = CODEC.encode([of(data_type)], table(data_type, drawn)).to_pylist()
    # A length may be written in more bytes than it needs.
    padded = pa.array([b"\x0a" + bytes([len(blob) - 2 | 0x80, 0]) + blob[2:] for blob in encoded if len(blob) < 130])
    found = CODEC.decode([of(data_type)], padded.cast(pa.binary()))["x"]
    expected = [value for value, blob in zip(drawn, encoded, strict=True) if len(blob) < 130]
    keys = [sort_key(data_type, value) for value in to_values(data_type, found)]
    assert keys == [sort_key(data_type, value) for value in expected]


def test_other_writers_may_write_decimals_and_json_as_they_like() -> None:
    decimals = blobs(*(Row(datums=[Datum(numeric_value=text)]) for text in ("1.00", "1e2", "-0")))
    found = CODEC.decode([of(parse_type("numeric"))], decimals)["x"]
    assert found.to_pylist() == [
        {"lossy": 1.0, "actual": "1"},
        {"lossy": 100.0, "actual": "100"},
        {"lossy": 0.0, "actual": "0"},
    ]


@pytest.mark.parametrize(
    ("text", "datum", "message"),
    [
        ("numeric", Datum(numeric_value="ten"), "'ten'"),
        ("uuid", Datum(uuid_value=b"short"), "5 bytes"),
        ("list<jsonb>", Datum(list_value=Values(values=[Datum(jsonb_value="[1,"), Datum()])), r"'\[1,'"),
        ("interval", Datum(interval_value=b""), "0 bytes"),
        ("int16", Datum(int16_value=40_000), "40000"),
        ("time", Datum(time_value=-1), "-1"),
        ("record<a int64>", Datum(record_value=Values()), "0 values for 1 fields"),
        ("list<int64>", Datum(list_value=Values(values=[Datum(bool_value=True)])), "bool_value, not int64_value"),
    ],
)
def test_a_value_that_its_type_does_not_have_names_row_and_column(text: str, datum: Datum, message: str) -> None:
    null = Row(datums=[Datum(null=Null())])
    with pytest.raises(CodecError, match=f"Row 1 holds {message} for column 'x'"):
        CODEC.decode([of(parse_type(text))], blobs(null, Row(datums=[datum])))


@given(st.data(), schemas())
def test_a_flipped_bit_gives_a_table_or_an_error_that_says_so(data: st.DataObject, schema: TableSchema) -> None:
    encoded = CODEC.encode(schema.columns, data.draw(update_tables(schema, max_size=3))).to_pylist()
    broken = bytearray(encoded[0])
    place = data.draw(st.integers(0, 8 * len(broken) - 1))
    broken[place // 8] ^= 1 << place % 8
    flipped = pa.array([bytes(broken), *encoded[1:]], pa.binary())
    with contextlib.suppress(CodecError):
        CODEC.decode(schema.columns, flipped).validate(full=True)


@pytest.mark.parametrize("rows", [0, 1, BATCH_ROWS, BATCH_ROWS + 1])
def test_batches_are_put_together_in_order(rows: int) -> None:
    numbers = pa.table({"name": [str(n) for n in range(rows)], "age": pa.array(range(rows), pa.int64())})
    numbers = numbers.cast(pa.schema([NAME.arrow_field(), AGE.arrow_field()]))
    assert CODEC.decode([NAME, AGE], CODEC.encode([NAME, AGE], numbers)).to_pylist() == numbers.to_pylist()


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
    with pytest.raises(CodecError, match="Row 0 holds a value of unknown kind, not string_value for column 'name'"):
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
    schema = TableSchema.create("a.b", {str(t): str(t) for t in FIRST}, ids=itertools.count(1).__next__)
    cells = [[True], [-2], [0.5], ["é"], [b"\x00"], [1], [-1]]
    rows = pa.table(
        [pa.array(c, f.type) for c, f in zip(cells, schema.arrow_schema(), strict=True)], schema.arrow_schema()
    )
    expected = (
        "0a0210010a0218030a0921000000000000e03f0a042a02c3a90a033201000a093901000000000000000a0941ffffffffffffffff"
    )
    assert CODEC.encode(schema.columns, rows)[0].as_py().hex() == expected
