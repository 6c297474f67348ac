import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog.vector import InvalidVector, RevisionVector, TimelineId

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
vectors = st.dictionaries(st.builds(TimelineId, names, names), st.integers(0, 10**19), max_size=4).map(
    RevisionVector.of
)


@given(vectors)
def test_text_and_json_round_trip(vector: RevisionVector) -> None:
    assert RevisionVector.parse(str(vector)) == vector
    assert RevisionVector.from_json(vector.to_json()) == vector


def test_the_order_in_which_it_is_built_does_not_matter() -> None:
    a, b = TimelineId("a", "d"), TimelineId("b", "d")
    vector = RevisionVector.of({b: 2, a: 1})
    assert vector == RevisionVector.of({a: 1, b: 2})
    assert str(vector) == "a/d@1,b/d@2"
    assert vector[b] == 2
    assert hash(vector) == hash(RevisionVector.of({a: 1, b: 2}))


@pytest.mark.parametrize("text", ["w/d", "w@3", "w/d@", "w/d@-1", "w/d@x", "/d@1", "w/@1", "w/d@²"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidVector, match="no entry of a revision vector"):
        RevisionVector.parse(text)
