import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.arrow import extension_name, from_arrow, in_file, in_memory, to_arrow
from instar.model.types import SCALARS, DataType, UnsupportedType, can_be_key, parse_type
from instar.model.values import sort_key, to_array, to_values
from tests.strategies import types, values

PLAIN = [t for t in SCALARS if extension_name(t) is None and str(t) not in ("uuid", "jsonb")]


@pytest.mark.parametrize("data_type", PLAIN, ids=str)
def test_a_plain_type_is_found_by_its_arrow_type(data_type: DataType) -> None:
    assert from_arrow(to_arrow(data_type)) == data_type


@pytest.mark.parametrize("text", ["list<int64>", "record<x int64, y list<string>>"])
def test_lists_and_records_are_found_too(text: str) -> None:
    assert from_arrow(to_arrow(parse_type(text))) == parse_type(text)


def test_arrows_own_extensions_and_maps_are_found() -> None:
    assert from_arrow(pa.uuid()) == parse_type("uuid")
    assert from_arrow(pa.json_()) == parse_type("jsonb")
    assert from_arrow(pa.map_(pa.string(), pa.int64())) == parse_type("map<int64>")


@pytest.mark.parametrize(
    "arrow_type", [pa.int8(), pa.large_string(), pa.timestamp("ms"), pa.null(), pa.binary(16), pa.float16()], ids=str
)
def test_an_arrow_type_that_would_need_a_conversion_is_refused(arrow_type: pa.DataType) -> None:
    with pytest.raises(UnsupportedType, match="has no counterpart"):
        from_arrow(arrow_type)


@given(st.data(), types)
def test_a_column_comes_back_from_its_form_in_files(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(st.none() | values(data_type), max_size=5))
    column = pa.chunked_array([to_array(data_type, drawn)])
    stored = in_file(column, data_type)
    stored.validate(full=True)
    assert in_memory(stored, data_type).type == column.type
    found = to_values(data_type, in_memory(stored, data_type))
    assert [sort_key(data_type, value) for value in found] == [sort_key(data_type, value) for value in drawn]


@pytest.mark.parametrize("data_type", [t for t in SCALARS if can_be_key(t)], ids=str)
@given(data=st.data())
def test_arrow_sorts_keys_as_the_values_are(data: st.DataObject, data_type: DataType) -> None:
    drawn = data.draw(st.lists(values(data_type), max_size=8))
    array = to_array(data_type, drawn)
    found = to_values(data_type, array.take(pc.sort_indices(array)))
    keys = [sort_key(data_type, value) for value in found]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("text", "name"),
    [("numeric", "instar.1.numeric"), ("array<int64>", "instar.1.array"), ("int64", None), ("uuid", None)],
)
def test_types_that_arrow_lacks_have_extension_names(text: str, name: str | None) -> None:
    assert extension_name(parse_type(text)) == name
    assert extension_name(parse_type(text), 0) == f"instar.0.{parse_type(text).kind}"
