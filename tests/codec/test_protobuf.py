import contextlib
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.protobuf import ProtobufCodec
from instar.codec.protocol import CodecError
from instar.model.schema import Column, ColumnId
from instar.model.types import DataType, parse_type
from instar.model.values import to_array, to_values
from tests.strategies import exact_rows, values

PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";

enum Size { SMALL = 0; LARGE = 7; }
enum Alias { option allow_alias = true; NONE = 0; FIRST = 1; SECOND = 1; }

message Item {
  optional string sku = 1;
  repeated int32 counts = 2;
  Item inside = 3;
  google.protobuf.Timestamp made = 4;
}

message Order {
  bool a_bool = 1;
  int32 an_int32 = 2;
  sint32 a_sint32 = 3;
  sfixed32 an_sfixed32 = 4;
  int64 an_int64 = 5;
  sint64 a_sint64 = 6;
  sfixed64 an_sfixed64 = 7;
  uint32 a_uint32 = 8;
  fixed32 a_fixed32 = 9;
  uint64 a_uint64 = 10;
  fixed64 a_fixed64 = 11;
  float a_float = 12;
  double a_double = 13;
  string a_string = 14;
  bytes some_bytes = 15;
  Size an_enum = 16;
  google.protobuf.Timestamp a_time = 17;
  Item an_item = 18;
  optional int64 maybe_int64 = 19;
  optional string maybe_string = 20;
  optional Size maybe_enum = 21;
  optional double maybe_double = 22;
  repeated sint64 numbers = 23;
  repeated string texts = 24;
  repeated Size enums = 25;
  repeated Item items = 26;
  repeated google.protobuf.Timestamp times = 27;
  map<string, int64> map_of_numbers = 28;
  map<string, Size> map_of_enums = 29;
  map<string, Item> map_of_items = 30;
  map<string, google.protobuf.Timestamp> map_of_times = 31;
  map<int32, string> by_number = 32;
  Alias alias = 33;
  oneof payment { string card = 34; int64 cash = 35; }
}

"""
OLD = """
syntax = "proto2";
package old;
enum Color { RED = 1; }
message Thing {
  required int32 id = 1;
  optional string text = 2;
  optional Color color = 3;
  optional int32 number = 4 [default = 5];
  extensions 100 to 200;
}
extend Thing { optional int32 more = 100; }
"""
ITEM = "record<sku string, counts list<int32>, inside record<sku string>, made timestamp_ns>"
ENUMS = {"an_enum", "maybe_enum", "enums", "map_of_enums"}
COLUMNS = {
    "a_bool": "bool",
    "an_int32": "int32",
    "a_sint32": "int32",
    "an_sfixed32": "int32",
    "an_int64": "int64",
    "a_sint64": "int64",
    "an_sfixed64": "int64",
    "a_uint32": "uint32",
    "a_fixed32": "uint32",
    "a_uint64": "uint64",
    "a_fixed64": "uint64",
    "a_float": "float32",
    "a_double": "float64",
    "a_string": "string",
    "some_bytes": "bytes",
    "an_enum": "string",
    "a_time": "timestamp_ns",
    "an_item": ITEM,
    "maybe_int64": "int64",
    "maybe_string": "string",
    "maybe_enum": "string",
    "maybe_double": "float64",
    "numbers": "list<int64>",
    "texts": "list<string>",
    "enums": "list<string>",
    "items": f"list<{ITEM}>",
    "times": "list<timestamp_ns>",
    "map_of_numbers": "map<int64>",
    "map_of_enums": "map<string>",
    "map_of_items": f"map<{ITEM}>",
    "map_of_times": "map<timestamp_ns>",
}
NULLABLE = {"a_time", "an_item", "maybe_int64", "maybe_string", "maybe_enum", "maybe_double"}


def compiled(folder: Path, **protos: str) -> bytes:
    """Return the descriptor set of .proto files."""
    for name, text in protos.items():
        (folder / f"{name}.proto").write_text(text)
    known = str(files("grpc_tools") / "_proto")
    arguments = [f"-I{folder}", f"-I{known}", "--include_imports", f"--descriptor_set_out={folder / 'set'}"]
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", *arguments, *(f"{name}.proto" for name in protos)], check=True
    )
    return (folder / "set").read_bytes()


@pytest.fixture(scope="module")
def descriptor_set(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(tmp_path_factory.mktemp("protos"), shop=PROTO, old=OLD)


@pytest.fixture(scope="module")
def codec(descriptor_set: bytes) -> ProtobufCodec:
    return ProtobufCodec("orders", descriptor_set, "shop.Order")


@pytest.fixture(scope="module")
def old(descriptor_set: bytes) -> ProtobufCodec:
    return ProtobufCodec("things", descriptor_set, "old.Thing")


def columns(**named: str) -> list[Column]:
    return [Column(ColumnId(place), name, parse_type(of)) for place, (name, of) in enumerate(named.items(), 1)]


def table(of: list[Column], *rows: dict[str, Any]) -> pa.Table:
    return pa.table({column.name: to_array(column.type, [row.get(column.name) for row in rows]) for column in of})


def blobs(*rows: bytes | None) -> pa.Array:
    return pa.array(rows, pa.binary())


def cells(data_type: DataType, *, enum: bool = False) -> st.SearchStrategy[Any]:
    """Draw a value that a field holds: no null in lists and maps, nor for them."""
    match data_type.kind:
        case "list":
            return st.lists(cells(data_type.inner, enum=enum), max_size=3)
        case "map":
            return st.dictionaries(st.text(max_size=3), cells(data_type.inner, enum=enum), max_size=3)
        case "record":
            parts = data_type.parts
            return st.fixed_dictionaries(
                {name: cells(part) if part.kind == "list" else st.none() | cells(part) for name, part in parts}
            )
        case _:
            return st.sampled_from(["SMALL", "LARGE"]) if enum else values(data_type)


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[Column], pa.Table]:
    """Draw some columns of orders, and rows that have them."""
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=6, unique=True))
    chosen = columns(**{name: COLUMNS[name] for name in names})
    each = {
        column.name: (st.none() if column.name in NULLABLE else st.nothing())
        | cells(column.type, enum=column.name in ENUMS)
        for column in chosen
    }
    return chosen, table(chosen, *draw(st.lists(st.fixed_dictionaries(each), max_size=5)))


@given(orders())
def test_every_table_decodes_to_what_was_encoded(codec: ProtobufCodec, drawn: tuple[list[Column], pa.Table]) -> None:
    chosen, rows = drawn
    decoded = codec.decode(chosen, codec.encode(chosen, rows))
    assert decoded.schema.equals(pa.schema([column.arrow_field() for column in chosen]), check_metadata=True)
    assert exact_rows(decoded) == exact_rows(rows)


@pytest.mark.parametrize("name", COLUMNS)
@given(data=st.data())
def test_every_kind_of_field_holds_its_type(codec: ProtobufCodec, name: str, data: st.DataObject) -> None:
    (column,) = columns(**{name: COLUMNS[name]})
    rows = table([column], *({name: data.draw(cells(column.type, enum=name in ENUMS))} for _ in range(3)))
    assert exact_rows(codec.decode([column], codec.encode([column], rows))) == exact_rows(rows)


def test_a_message_is_what_the_proto_file_says(codec: ProtobufCodec) -> None:
    chosen = columns(
        an_int64="int64", an_enum="string", a_time="timestamp_ns", maybe_int64="int64", texts="list<string>"
    )
    row = {"an_int64": 1, "an_enum": "LARGE", "a_time": -1, "maybe_int64": 0, "texts": ["é", ""]}
    (blob,) = codec.encode(chosen, table(chosen, row)).to_pylist()
    time = b"\x08" + b"\xff" * 9 + b"\x01" + b"\x10" + b"\xff\x93\xeb\xdc\x03"
    expected = b"\x28\x01" + b"\x80\x01\x07" + b"\x8a\x01" + bytes([len(time)]) + time + b"\x98\x01\x00"
    assert blob == expected + b"\xc2\x01\x02\xc3\xa9" + b"\xc2\x01\x00"


def test_an_unset_field_is_null_where_it_has_presence_and_its_default_elsewhere(codec: ProtobufCodec) -> None:
    chosen = columns(**COLUMNS)
    (row,) = codec.decode(chosen, blobs(b"")).to_pylist()
    assert {name for name, value in row.items() if value is None} == NULLABLE
    assert (row["an_int64"], row["a_string"], row["an_enum"], row["numbers"]) == (0, "", "SMALL", [])


def test_an_empty_message_is_no_null(codec: ProtobufCodec) -> None:
    chosen = columns(an_item="record<sku string>", a_time="timestamp_ns")
    rows = table(chosen, {"an_item": {"sku": None}, "a_time": 0}, {})
    decoded = codec.decode(chosen, codec.encode(chosen, rows))
    assert decoded["an_item"].to_pylist() == [{"sku": None}, None]
    assert to_values(chosen[1].type, decoded["a_time"]) == [0, None]


def test_a_record_may_have_its_fields_in_any_order(codec: ProtobufCodec) -> None:
    chosen = columns(an_item="record<made timestamp_ns, sku string>")
    rows = table(chosen, {"an_item": {"sku": "a", "made": 1}})
    assert exact_rows(codec.decode(chosen, codec.encode(chosen, rows))) == exact_rows(rows)


def test_no_columns_make_empty_blobs(codec: ProtobufCodec, old: ProtobufCodec) -> None:
    for each in (codec, old):
        encoded = each.encode([], pa.table({"x": [1, 2]}))
        assert encoded.to_pylist() == [b"", b""]
        assert each.decode([], encoded).column_names == []


def test_the_name_is_its_own(codec: ProtobufCodec, old: ProtobufCodec) -> None:
    assert (codec.name, old.name) == ("orders", "things")


def test_one_of_many_is_set_or_none(codec: ProtobufCodec) -> None:
    chosen = columns(card="string", cash="int64")
    rows = table(chosen, {"card": ""}, {"cash": 0}, {})
    assert exact_rows(codec.decode(chosen, codec.encode(chosen, rows))) == exact_rows(rows)
    with pytest.raises(CodecError, match=r"Row 1, column 'cash'.* 'card' of the same oneof has a value too"):
        codec.encode(chosen, table(chosen, {}, {"card": "", "cash": 0}))


# What does not fit.


@pytest.mark.parametrize(
    ("name", "of", "fact"),
    [
        ("an_int32", "int64", "Column 'an_int32' is int64, but the field shop.Order.an_int32 is int32"),
        ("a_fixed64", "int64", "is int64, but the field shop.Order.a_fixed64 is fixed64"),
        ("an_int64", "list<int64>", "is list<int64>, but the field shop.Order.an_int64 is int64"),
        ("numbers", "int64", "is int64, but the field shop.Order.numbers is repeated sint64"),
        ("numbers", "list<string>", "is list<string>, but the field shop.Order.numbers is repeated sint64"),
        ("an_enum", "int32", "is int32, but the field shop.Order.an_enum is shop.Size"),
        ("a_time", "timestamp", "is timestamp, but the field shop.Order.a_time is google.protobuf.Timestamp"),
        ("an_item", "string", "is string, but the field shop.Order.an_item is shop.Item"),
        ("items", "map<int64>", "is map<int64>, but the field shop.Order.items is repeated shop.Item"),
        ("map_of_items", "map<int64>", "is map<int64>, but the field .* is map<string, shop.Item>"),
        ("map_of_items", "list<int64>", "is list<int64>, but the field .* is map<string, shop.Item>"),
        ("by_number", "map<string>", "is map<string>, but the field .* is map<int32, string>"),
        ("nothing", "string", "is string, but shop.Order has no field 'nothing'"),
        ("an_item", "record<sku bytes>", "Column 'an_item', field 'sku' is bytes, but .*Item.sku is string"),
        ("an_item", "record<color string>", "Column 'an_item', field 'color' is string, but shop.Item has no field"),
    ],
)
def test_a_column_and_a_field_that_do_not_fit_name_both_types(
    codec: ProtobufCodec, name: str, of: str, fact: str
) -> None:
    chosen = columns(**{name: of})
    with pytest.raises(CodecError, match=fact):
        codec.encode(chosen, table(chosen))
    with pytest.raises(CodecError, match=fact):
        codec.decode(chosen, blobs())


@pytest.mark.parametrize(
    ("name", "of", "value", "fact"),
    [
        ("an_int64", "int64", None, "shop.Order.an_int64 has no presence, so it holds no null. Declare it optional"),
        ("numbers", "list<int64>", None, "shop.Order.numbers is repeated sint64, which holds no null"),
        ("numbers", "list<int64>", [1, None], "shop.Order.numbers is repeated sint64, which holds no null"),
        ("map_of_numbers", "map<int64>", {"a": None}, "is map<string, int64>, which holds no null"),
        ("an_item", "record<counts list<int32>>", {"counts": None}, "shop.Item.counts is repeated int32"),
        ("an_enum", "string", "HUGE", "shop.Size has no value 'HUGE'. It has: SMALL, LARGE"),
        ("alias", "string", "SECOND", "shop.Alias has no value 'SECOND'. It has: NONE, FIRST"),
    ],
)
def test_a_value_that_a_field_can_not_hold_names_the_row_and_the_column(
    codec: ProtobufCodec, name: str, of: str, value: Any, fact: str
) -> None:
    chosen = columns(**{name: of})
    with pytest.raises(CodecError, match=rf"Row 0, column '{name}', which is {of}: .*{fact}"):
        codec.encode(chosen, table(chosen, {name: value}))


def test_values_of_another_type_name_the_column(codec: ProtobufCodec) -> None:
    with pytest.raises(CodecError, match="'an_int64' is int64, but its values are string"):
        codec.encode(columns(an_int64="int64"), pa.table({"an_int64": ["1"]}))


@pytest.mark.parametrize(
    ("name", "of", "blob", "fact"),
    [
        ("a_string", "string", b"\xa0\x06\x01", "Row 0: Field number 100 of shop.Order is unknown"),
        ("a_string", "string", b"\x28\x01", "Row 0: The field shop.Order.an_int64 has a value, but no place to go"),
        ("an_item", ITEM, b"\x92\x01\x03\xa0\x06\x01", "Row 0, column 'an_item'.*Field number 100 of shop.Item"),
        ("an_item", "record<sku string>", b"\x92\x01\x02\x1a\x00", "The field shop.Item.inside has a value"),
        ("a_time", "timestamp_ns", b"\x8a\x01\x02\x18\x01", "Field number 3 of google.protobuf.Timestamp"),
        ("map_of_numbers", "map<int64>", b"\xe2\x01\x04\x10\x01\x18\x01", "Field number 28 of shop.Order"),
        ("an_enum", "string", b"\x80\x01\x03", "shop.Size has no value with the number 3"),
        ("a_time", "timestamp_ns", b"\x8a\x01\x06\x08\x85\xfa\x85\xae\x22", "9223372037 seconds .* out of range"),
        ("a_time", "timestamp_ns", b"\x8a\x01\x0b\x10" + b"\xff" * 9 + b"\x01", "-1 nanoseconds .* out of range"),
        ("a_string", "string", b"\x72\x01\xff", "blob of row 0 is no shop.Order"),
        ("a_string", "string", b"\x72\x05a", "blob of row 0 is no shop.Order"),
        ("a_string", "string", None, "Row 0 has no blob"),
    ],
)
def test_a_blob_that_does_not_fit_names_the_row_and_what_is_wrong(
    codec: ProtobufCodec, name: str, of: str, blob: bytes | None, fact: str
) -> None:
    with pytest.raises(CodecError, match=fact):
        codec.decode(columns(**{name: of}), blobs(blob))


@given(orders(), st.integers(0, 500), st.integers(0, 255))
def test_a_flipped_byte_is_a_codec_error_or_another_value(
    codec: ProtobufCodec, drawn: tuple[list[Column], pa.Table], place: int, byte: int
) -> None:
    chosen, rows = drawn
    for blob in filter(None, codec.encode(chosen, rows).to_pylist()):
        at = place % len(blob)
        with contextlib.suppress(CodecError):
            found = codec.decode(chosen, blobs(blob[:at] + bytes([byte]) + blob[at + 1 :]))
            assert exact_rows(codec.decode(chosen, codec.encode(chosen, found))) == exact_rows(found)


# Syntax proto2.


def test_a_default_of_the_proto_file_is_no_value(old: ProtobufCodec) -> None:
    chosen = columns(id="int32", number="int32")
    rows = table(chosen, {"id": 1}, {"id": 2, "number": 5})
    assert exact_rows(old.decode(chosen, old.encode(chosen, rows))) == exact_rows(rows)


def test_a_required_field_may_be_in_the_other_blob_but_is_never_null(old: ProtobufCodec) -> None:
    """A key and its values are two blobs of one message."""
    chosen = columns(text="string")
    rows = table(chosen, {"text": "a"})
    assert exact_rows(old.decode(chosen, old.encode(chosen, rows))) == exact_rows(rows)
    with pytest.raises(CodecError, match=r"column 'id'.* old.Thing.id is required"):
        old.encode(columns(id="int32"), table(columns(id="int32"), {}))


@pytest.mark.parametrize(
    ("blob", "fact"),
    [
        (b"\x12\x01\xff", "column 'text'.* is not UTF-8"),
        (b"\x18\x09", "Field number 3 of old.Thing is unknown, or its value is"),
        (b"\xa0\x06\x01", "old.more has a value, but no place to go"),
    ],
)
def test_what_proto2_alone_has_is_not_lost(old: ProtobufCodec, blob: bytes, fact: str) -> None:
    with pytest.raises(CodecError, match=fact):
        old.decode(columns(id="int32", text="string", color="string"), blobs(blob))


# Descriptor sets.


def test_an_unknown_message_is_named(descriptor_set: bytes) -> None:
    for name in ("shop.Nothing", "shop.Size", "Order"):
        with pytest.raises(CodecError, match=f"no message '{name}'"):
            ProtobufCodec("orders", descriptor_set, name)


def test_a_descriptor_set_without_its_imports_says_what_is_missing(descriptor_set: bytes) -> None:
    alone = [file for file in FileDescriptorSet.FromString(descriptor_set).file if file.name == "shop.proto"]
    with pytest.raises(CodecError, match=r"timestamp.proto.*--include_imports"):
        ProtobufCodec("orders", FileDescriptorSet(file=alone).SerializeToString(), "shop.Order")


def test_garbage_is_no_descriptor_set() -> None:
    with pytest.raises(CodecError, match="descriptor set can't be read"):
        ProtobufCodec("orders", b"\xff", "shop.Order")


def test_two_sets_with_messages_of_one_name_do_not_meet(descriptor_set: bytes, tmp_path: Path) -> None:
    other = compiled(tmp_path, other='syntax = "proto3"; package shop; message Order { bytes an_int64 = 1; }')
    for described, of, value in ((descriptor_set, "int64", 1), (other, "bytes", b"a")):
        codec = ProtobufCodec("orders", described, "shop.Order")
        chosen = columns(an_int64=of)
        rows = table(chosen, {"an_int64": value})
        assert exact_rows(codec.decode(chosen, codec.encode(chosen, rows))) == exact_rows(rows)
