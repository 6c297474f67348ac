import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.json_forms import read_value, write_value
from instar.model.types import INT16, JSONB, STRING, DataType
from instar.model.values import InvalidValue, sort_key
from tests.strategies import types, values


@given(st.data(), types)
def test_a_value_comes_back_from_its_text(data: st.DataObject, data_type: DataType) -> None:
    value = data.draw(values(data_type))
    assert sort_key(data_type, read_value(data_type, write_value(data_type, value))) == sort_key(data_type, value)


@pytest.mark.parametrize(
    ("data_type", "value"), [(INT16, 2**15), (STRING, 5), (STRING, "\ud800"), (JSONB, "{"), (INT16, "x")]
)
def test_what_is_no_value_of_the_type_is_refused(data_type: DataType, value: object) -> None:
    with pytest.raises(InvalidValue):
        write_value(data_type, value)
