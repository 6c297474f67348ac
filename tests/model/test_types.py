import pyarrow as pa
import pytest

from instar.model.arrow import from_arrow, to_arrow
from instar.model.types import ALL_TYPES, DataType, UnsupportedType, parse_type


@pytest.mark.parametrize("data_type", ALL_TYPES, ids=str)
def test_a_type_is_found_by_its_name_and_by_its_arrow_type(data_type: DataType) -> None:
    assert parse_type(str(data_type)) == data_type
    assert from_arrow(to_arrow(data_type)) == data_type


def test_no_two_types_share_an_arrow_type() -> None:
    assert len({to_arrow(data_type) for data_type in ALL_TYPES}) == len(ALL_TYPES)


@pytest.mark.parametrize("name", ["", "Int64", "int32", "timestamptz"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnsupportedType, match=f"no type '{name}'.*timestamp_ns"):
        parse_type(name)


@pytest.mark.parametrize(
    "arrow_type",
    [pa.int32(), pa.float32(), pa.large_string(), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.null()],
    ids=str,
)
def test_an_arrow_type_that_would_need_a_conversion_is_refused(arrow_type: pa.DataType) -> None:
    with pytest.raises(UnsupportedType, match="has no counterpart"):
        from_arrow(arrow_type)
