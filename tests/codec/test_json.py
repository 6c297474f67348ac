import contextlib
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.json import JsonCodec
from instar.codec.protocol import CodecError
from instar.codec.registry import codec_named
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import FLOAT32, FLOAT64, INT64, NUMERIC, SCALARS, STRING, DataType, parse_type
from instar.model.values import MICROS_PER_DAY, AclItem, Array, Interval, Range, to_array, to_values
from tests.strategies import exact_rows, schemas, types, update_tables, values

CODEC = JsonCodec()
NAME = Column(ColumnId(1), "name", STRING)
AGE = Column(ColumnId(2), "age", INT64)
RANGE = '{"lower":%s,"upper":%s,"lower_inclusive":%s,"upper_inclusive":false,"empty":false}'


def of(data_type: DataType | str) -> Column:
    return Column(ColumnId(1), "x", parse_type(str(data_type)))


def blobs(*texts: str | bytes | None) -> pa.Array:
    return pa.array([text.encode() if isinstance(text, str) else text for text in texts], pa.binary())


def read(data_type: DataType | str, text: str) -> Any:
    column = of(data_type)
    (value,) = to_values(column.type, CODEC.decode([column], blobs(f'{{"x":{text}}}'))["x"])
    return value


def write(data_type: DataType | str, value: Any) -> str:
    column = of(data_type)
    (blob,) = CODEC.encode([column], pa.table({"x": to_array(column.type, [value])})).to_pylist()
    text: str = blob.decode()
    assert text.startswith('{"x":')
    assert text.endswith("}")
    return text[len('{"x":') : -1]


def test_it_is_found_by_its_name() -> None:
    assert isinstance(codec_named("json"), JsonCodec)


@given(st.data(), schemas())
def test_every_table_decodes_to_what_was_encoded(data: st.DataObject, schema: TableSchema) -> None:
    updates = data.draw(update_tables(schema))
    encoded = CODEC.encode(schema.columns, updates)
    decoded = CODEC.decode(schema.columns, encoded)
    assert decoded.schema.equals(schema.arrow_schema(), check_metadata=True)
    assert exact_rows(decoded) == exact_rows(updates.select(schema.arrow_schema().names))


@pytest.mark.parametrize("data_type", SCALARS, ids=str)
@given(data=st.data())
def test_every_value_reads_back_as_itself(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), max_size=5))
    rows = pa.table({"x": to_array(data_type, drawn)})
    assert exact_rows(CODEC.decode([of(data_type)], CODEC.encode([of(data_type)], rows))) == exact_rows(rows)


@given(st.data(), schemas())
def test_what_is_written_is_json_without_blanks_in_column_order(data: st.DataObject, schema: TableSchema) -> None:
    for blob in CODEC.encode(schema.columns, data.draw(update_tables(schema))).to_pylist():
        row = json.loads(blob, parse_float=Number, parse_int=Number)
        assert list(row) == [column.name for column in schema.columns]
        assert compact(row) == blob.decode()


class Number(str):
    """A number as it is written."""

    __slots__ = ()


def compact(value: Any) -> str:
    match value:
        case Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{compact(key)}:{compact(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(compact, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("data_type", "value", "text"),
    [
        ("bool", True, "true"),
        ("int64", -(2**63), "-9223372036854775808"),
        ("uint64", 2**64 - 1, "18446744073709551615"),
        ("float64", 0.1, "0.1"),
        ("float64", -0.0, "-0.0"),
        ("float64", float("-inf"), '"-Infinity"'),
        ("float32", float("nan"), '"NaN"'),
        ("numeric", Decimal("12345678901234567890.12345678901234567890"), "12345678901234567890.1234567890123456789"),
        ("numeric", Decimal("1E+400"), "1E+400"),
        ("numeric", Decimal("Infinity"), '"Infinity"'),
        ("string", 'é"\n', '"é\\"\\n"'),
        ("bytes", b"\x00\xff", '"00ff"'),
        ("uuid", UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ("date", 2**31 - 1, "2147483647"),
        ("time", MICROS_PER_DAY - 1, "86399999999"),
        ("timestamp", -(2**63), "-9223372036854775808"),
        ("timestamptz", 1, "1"),
        ("timestamp_ns", 1, "1"),
        ("mz_timestamp", 2**64 - 1, "18446744073709551615"),
        ("interval", Interval(1, -2, 3), '{"months":1,"days":-2,"micros":3}'),
        ("jsonb", '{"a":null}', '"{\\"a\\":null}"'),
        ("jsonb", "null", '"null"'),
        ("int2vector", [1, -2], "[1,-2]"),
        ("mz_aclitem", AclItem("u1", "u2", 3), '{"grantee":"u1","grantor":"u2","acl_mode":3}'),
        ("aclitem", AclItem(1, 2, 3), '{"grantee":1,"grantor":2,"acl_mode":3}'),
        ("list<int64>", [1, None], "[1,null]"),
        ("map<int64>", {"b": 1, "a": None}, '{"a":null,"b":1}'),
        ("record<y int64, x string>", {"x": None, "y": 1}, '{"y":1,"x":null}'),
        (
            "array<int64>",
            Array((1, None), ((-1, 2),)),
            '{"elements":[1,null],"dimensions":[{"lower_bound":-1,"length":2}]}',
        ),
        ("range<int64>", Range(1, None, lower_inclusive=True), RANGE % ("1", "null", "true")),
        ("int64", None, "null"),
    ],
)
def test_the_form_is_what_old_parts_hold(data_type: str, value: Any, text: str) -> None:
    """Blobs outlive releases: this is the layout of stored data."""
    assert write(data_type, value) == text
    assert repr(read(data_type, text)) == repr(to_values(of(data_type).type, to_array(of(data_type).type, [value]))[0])


def test_no_columns_make_empty_blobs() -> None:
    encoded = CODEC.encode([], pa.table({"name": ["a", "b"]}))
    assert encoded.to_pylist() == [b"", b""]
    assert CODEC.decode([], encoded).column_names == []


def test_no_rows_make_no_blobs() -> None:
    encoded = CODEC.encode([AGE], pa.table({"age": pa.array([], pa.int64())}))
    assert encoded.to_pylist() == []
    assert CODEC.decode([AGE], encoded).num_rows == 0


def test_other_writers_may_use_blanks_escapes_and_any_order() -> None:
    found = CODEC.decode([NAME, AGE], blobs('{ "age" : 1.0e1,\n "name": "\\u00e9" }'))
    assert found.to_pylist() == [{"name": "é", "age": 10}]


def test_other_writers_may_write_decimals_and_json_as_they_like() -> None:
    assert read("numeric", "1.500") == Decimal("1.5")
    assert read("numeric", "-0") == 0
    assert read("jsonb", '"{ \\"b\\": 1.0, \\"a\\": [] }"') == '{"a":[],"b":1}'
    assert read("uuid", '"ABCDEF00-0000-0000-0000-000000000001"') == UUID("abcdef00-0000-0000-0000-000000000001")
    assert read("bytes", '"AB"') == b"\xab"


def test_an_integer_never_goes_through_a_float() -> None:
    assert read("int64", "9007199254740993") == 2**53 + 1
    assert read("numeric", "9007199254740993.0000000000000000001") == Decimal("9007199254740993.0000000000000000001")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float32_is_the_nearest_to_the_number(number: float) -> None:
    if abs(number) < 3e38:
        assert read(FLOAT32, repr(number)) == pa.scalar(number, pa.float64()).cast(pa.float32()).as_py()


@pytest.mark.parametrize(
    ("data_type", "text", "fact"),
    [
        ("bool", "1", "1 is no bool"),
        ("int64", "true", "true is no integer"),
        ("int64", '"1"', '"1" is no integer'),
        ("int64", "1.5", "1.5 is no integer"),
        ("int64", f"1.{'0' * 100}1", "is no integer"),
        ("int64", "9223372036854775808", "is no integer from -9223372036854775808 to 9223372036854775807"),
        ("int64", "1E+999999999", "is no integer"),
        ("int64", "9" * 5000, "is no integer"),
        ("int16", "32768", "is no integer from -32768 to 32767"),
        ("uint32", "-1", "is no integer from 0 to 4294967295"),
        ("date", '"2026-01-01"', "is no integer"),
        ("time", str(MICROS_PER_DAY), "is no integer from 0 to 86399999999"),
        ("float64", "1e400", "beyond the largest float"),
        ("float32", "-1e39", "beyond the largest float"),
        ("float32", "1e400", "beyond the largest float"),
        ("float64", '"nan"', "is no number"),
        ("float64", "true", "is no number"),
        ("numeric", '"1"', "is no number"),
        ("numeric", "[]", "An array is no number"),
        ("string", "1", "1 is no string"),
        ("string", '"\\ud800"', "half of a surrogate pair"),
        ("bytes", '"a"', "is not hexadecimal"),
        ("bytes", '"aa bb"', "is not hexadecimal"),
        ("bytes", '"é"', "is not hexadecimal"),
        ("uuid", '"x"', "is no UUID"),
        ("uuid", f'"{"0" * 32}"', "is no UUID"),
        ("jsonb", '"{"', "is no JSON"),
        ("jsonb", "{}", "An object is no string"),
        ("jsonb", '"\\"\\\\ud800\\""', "half of a surrogate pair"),
        ("jsonb", f'"{"[" * 900}{"]" * 900}"', "nested too deep"),
        ("jsonb", '"1E+9999999999999999999"', "(number beyond all bounds|is no JSON)"),
        ("list<int64>", "{}", "An object is no array"),
        ("list<int64>", '["1"]', '"1" is no integer'),
        ("map<int64>", "[]", "An array is no object"),
        ("map<int64>", '{"a":1,"a":2}', "The key 'a' stands there twice"),
        ("map<int64>", '{"\\ud800":1}', "half of a surrogate pair"),
        ("record<a int64, b int64>", '{"a":1}', "The keys are 'a', not 'a', 'b'"),
        ("record<a int64>", '{"a":1,"c":2}', "The keys are 'a', 'c', not 'a'"),
        ("record<a int64>", '{"a":1,"a":1}', "The key 'a' stands there twice"),
        ("interval", '{"months":1,"days":null,"micros":3}', "A null stands where the type has none"),
        ("interval", '{"months":2147483648,"days":0,"micros":0}', "is no integer"),
        ("aclitem", '{"grantee":"u1","grantor":2,"acl_mode":3}', "is no integer"),
        ("array<int64>", '{"elements":null,"dimensions":[]}', "A null stands"),
        ("array<int64>", '{"elements":[],"dimensions":[null]}', "A null stands"),
        ("range<int64>", RANGE % ("1", "2", "null"), "A null stands"),
        ("range<int64>", RANGE % ("1", '"2"', "true"), '"2" is no integer'),
    ],
)
def test_a_value_of_the_wrong_kind_names_the_row_and_the_column(data_type: str, text: str, fact: str) -> None:
    with pytest.raises(CodecError, match=f"Row 1, column 'x', which is {data_type}: .*{fact}"):
        CODEC.decode([of(data_type)], blobs('{"x":null}', f'{{"x":{text}}}'))


@pytest.mark.parametrize("data_type", SCALARS, ids=str)
def test_no_scalar_takes_an_array_of_arrays(data_type: DataType) -> None:
    with pytest.raises(CodecError, match="Row 0, column 'x'"):
        read(data_type, "[[]]")


def test_a_missing_key_names_the_row_and_the_column() -> None:
    with pytest.raises(CodecError, match="Row 1 has no key for column 'age'"):
        CODEC.decode([NAME, AGE], blobs('{"name":"a","age":1}', '{"name":"a"}'))


def test_a_key_too_many_is_named() -> None:
    with pytest.raises(CodecError, match="Row 0 has the key 'age', which is no column"):
        CODEC.decode([NAME], blobs('{"name":"a","age":1}'))
    with pytest.raises(CodecError, match="Row 0 has the key 'age', which is no column"):
        CODEC.decode([], blobs('{"age":1}'))


def test_a_repeated_key_is_named() -> None:
    with pytest.raises(CodecError, match="Row 0: The key 'age' stands there twice"):
        CODEC.decode([AGE], blobs('{"age":1,"age":1}'))


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"{",
        b'{"age":1}x',
        b'{"age":01}',
        b'{"age":NaN}',
        b'{"age":-Infinity}',
        b'{"age":"\xff"}',
        b'\xef\xbb\xbf{"age":1}',
        '{"age":1}'.encode("utf-16"),
        b'{"age":1E+9999999999999999999}',
        b"[" * 100_000,
    ],
    ids=range(11),
)
def test_broken_json_names_the_row(blob: bytes) -> None:
    with pytest.raises(CodecError, match=r"Row 1: .* is no JSON"):
        CODEC.decode([AGE], blobs('{"age":1}', blob))


@pytest.mark.parametrize("text", ["[]", "1", "null", '"age"'])
def test_a_row_that_is_no_object_is_named(text: str) -> None:
    with pytest.raises(CodecError, match=r"Row 0: .* is no object"):
        CODEC.decode([AGE], blobs(text))


@pytest.mark.parametrize("columns", [[], [AGE]], ids=len)
def test_a_missing_blob_names_the_row(columns: list[Column]) -> None:
    with pytest.raises(CodecError, match="Row 0 has no blob"):
        CODEC.decode(columns, blobs(None))


def test_values_of_another_type_name_the_column() -> None:
    with pytest.raises(CodecError, match="'age' is int64, but its values are string"):
        CODEC.encode([AGE], pa.table({"age": ["1"]}))


def test_a_null_inside_a_range_names_the_row_and_the_column() -> None:
    column = of("range<int64>")
    broken = to_array(column.type, [Range(1, 2), Range(1, 2, empty=None)])  # type: ignore[arg-type]
    with pytest.raises(CodecError, match="Row 1, column 'x', which is range<int64>: A null stands"):
        CODEC.encode([column], pa.table({"x": broken}))


@given(st.data(), types, st.integers(0, 200), st.integers(0, 255))
def test_a_flipped_byte_is_a_codec_error_or_another_value(
    data: st.DataObject, data_type: DataType, place: int, byte: int
) -> None:
    drawn = data.draw(values(data_type))
    (blob,) = CODEC.encode([of(data_type)], pa.table({"x": to_array(data_type, [drawn])})).to_pylist()
    place %= len(blob)
    flipped = blob[:place] + bytes([byte]) + blob[place + 1 :]
    with contextlib.suppress(CodecError):
        again = CODEC.encode([of(data_type)], CODEC.decode([of(data_type)], blobs(flipped)))
        assert CODEC.encode([of(data_type)], CODEC.decode([of(data_type)], again)) == again


@pytest.mark.parametrize("data_type", [FLOAT64, NUMERIC], ids=str)
def test_numbers_that_are_not_finite_are_no_json_numbers(data_type: DataType) -> None:
    with pytest.raises(CodecError, match=r"Row 0: .* is no JSON: Infinity is no number"):
        read(data_type, "Infinity")
