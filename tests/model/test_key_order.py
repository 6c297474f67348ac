from hypothesis import given
from hypothesis import strategies as st

from instar.model.key_order import order_bytes
from instar.model.types import DataType
from instar.model.values import sort_key
from tests.strategies import key_types, values


@given(st.data(), st.lists(key_types, min_size=1, max_size=3))
def test_keys_as_bytes_sort_as_the_keys_do(data: st.DataObject, types: list[DataType]) -> None:
    left, right = ([data.draw(values(of)) for of in types] for _ in range(2))
    if data.draw(st.booleans()):
        left[0] = right[0]
    sides = [[sort_key(of, value) for of, value in zip(types, key, strict=True)] for key in (left, right)]
    packed = [order_bytes(types, key) for key in (left, right)]
    assert (packed[0] < packed[1], packed[0] == packed[1]) == (sides[0] < sides[1], sides[0] == sides[1])
