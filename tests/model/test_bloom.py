import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.bloom import build_bloom, hash_values, may_contain
from instar.model.types import DataType
from instar.model.values import sort_key, to_array
from tests.strategies import key_types, values


def admits(bloom: bytes | None, values: pa.Array) -> list[bool]:
    return [bool(may_contain(pa.array([bloom], pa.binary()), hashed)[0]) for hashed in hash_values(values)]


@given(st.data(), key_types)
def test_a_filter_admits_what_is_in_it(data: st.DataObject, data_type: DataType) -> None:
    held = to_array(data_type, data.draw(st.lists(values(data_type), min_size=1, max_size=20)))
    bloom = build_bloom(np.unique(hash_values(held)), 1_024)
    assert bloom is not None
    assert all(admits(bloom, held))


@given(st.data(), key_types)
def test_equal_values_have_equal_hashes(data: st.DataObject, data_type: DataType) -> None:
    cells = data.draw(st.lists(values(data_type), min_size=1, max_size=5))
    hashes: dict[object, np.uint64] = {}
    for cell, hashed in zip(cells, hash_values(to_array(data_type, cells)), strict=True):
        if cell == cell:  # noqa: PLR0124  # not NaN
            assert hashes.setdefault(sort_key(data_type, cell), hashed) == hashed


def test_a_value_keeps_its_hash_when_its_column_is_widened() -> None:
    for narrow, wide in [(pa.int16(), pa.int64()), (pa.uint16(), pa.uint64()), (pa.float32(), pa.float64())]:
        numbers = pa.array([0, 1, 255], narrow)
        assert np.array_equal(hash_values(numbers), hash_values(numbers.cast(wide)))


def test_a_hash_is_the_same_whatever_lies_beside_it() -> None:
    texts = pa.array(["a", "", "station 7", "a"])
    alone = [hash_values(texts.slice(place, 1))[0] for place in range(len(texts))]
    assert hash_values(texts).tolist() == alone
    assert hash_values(texts)[0] == hash_values(texts)[3]


def test_hashes_are_those_of_the_files_that_are_there() -> None:
    assert hash_values(pa.array(["station 7", ""])).tolist() == [14393656711938526585, 16294208416658607535]
    assert hash_values(pa.array([7, -1])).tolist() == [7191089600892374487, 16490336266968443936]


def test_few_values_that_are_not_there_are_admitted() -> None:
    held, others = (pa.array([f"{prefix}-{n}" for n in range(4_000)]) for prefix in ("id", "other"))
    bloom = build_bloom(np.unique(hash_values(held)), 8_192)
    assert bloom is not None
    assert sum(admits(bloom, others)) < 0.03 * len(others)


@pytest.mark.parametrize(("count", "most_bytes", "size"), [(1, 64, 8), (400, 512, 512), (1_000, 512, 512), (0, 8, 8)])
def test_a_filter_has_the_size_that_it_needs(count: int, most_bytes: int, size: int) -> None:
    bloom = build_bloom(np.arange(count, dtype=np.uint64), most_bytes)
    assert bloom is not None
    assert len(bloom) == size


@pytest.mark.parametrize(("count", "most_bytes"), [(1_025, 512), (1, 7), (1, 0)])
def test_a_filter_that_would_admit_nearly_all_is_not_made(count: int, most_bytes: int) -> None:
    assert build_bloom(np.arange(count, dtype=np.uint64), most_bytes) is None


@pytest.mark.parametrize("broken", [None, b"", b"123"])
def test_what_is_no_filter_admits_everything(broken: bytes | None) -> None:
    assert admits(broken, pa.array([1, 2, 3])) == [True] * 3
