from hypothesis import given
from hypothesis import strategies as st

from instar.catalog.part_set import PartSet
from tests.catalog.samples import numbered_uuids, part_rows


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=50))
def test_a_set_that_grew_in_steps_is_the_table_of_what_is_left(steps: list[tuple[int, bool, bool]]) -> None:
    uuids = numbered_uuids()
    parts, live = PartSet(), []
    for count, remove, look in steps:
        rows = part_rows(uuids(), count)
        parts = parts.add(rows)
        live += rows["key"].to_pylist()
        if remove:
            gone = live.pop(0)
            assert parts.present([gone]) == {gone}
            parts = parts.remove([gone])
            assert parts.present([gone]) == frozenset()
        if look:
            assert parts.table["key"].to_pylist() == live
        assert len(parts) == len(live)
    assert parts.table["key"].to_pylist() == live
    assert parts == PartSet(parts.table)
    assert parts.table["key"].num_chunks <= 40
