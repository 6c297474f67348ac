from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from instar.model.part import JSON_KINDS
from instar.model.values import json_text, parse_json
from instar.parts.json_statistics import MOST_KEYS, json_statistics
from tests.strategies import json_values

KINDS: dict[Any, str] = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}


def known_of(documents: list[Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    texts = pa.array([None if document is None else json_text(document) for document in documents], pa.string())
    found = json_statistics(texts)
    return {path: {name: scalar.as_py() for name, scalar in known.items()} for path, known in found.items()}


def step(value: Any, key: str) -> Any:
    return value.get(key, KeyError) if isinstance(value, dict) else KeyError


@given(st.lists(st.none() | json_values, max_size=8))
def test_what_is_known_at_a_path_is_true_of_every_row(documents: list[Any]) -> None:
    rows = [KeyError if document is None else parse_json(json_text(document)) for document in documents]
    for path, known in known_of(documents).items():
        found: list[Any] = rows
        for key in path:
            found = [step(value, key) for value in found]
        there = [value for value in found if value is not KeyError]
        assert known["nulls"] == len(rows) - len(there)
        for value in there:
            kind = KINDS.get(type(value), "number")
            assert known["kinds"] & JSON_KINDS[kind]
            if kind == "number":
                assert known["lower_number"] <= float(value) <= known["upper_number"]
            if kind == "string":
                assert known["lower_string"].encode() <= value.encode()
                assert known["upper_string"] is None or value.encode() <= known["upper_string"].encode()


def test_keys_inside_keys_have_statistics_of_their_own() -> None:
    known = known_of([{"a": {"b": 1}}, {"a": {"b": 3.5}}, {"a": None}, {}, None, 7])
    assert known[()] == {"nulls": 1, "kinds": 32 + 4, "lower_number": 7.0, "upper_number": 7.0}
    assert known["a",] == {"nulls": 3, "kinds": 32 + 1}
    assert known["a", "b"] == {"nulls": 4, "kinds": 4, "lower_number": 1.0, "upper_number": 3.5}


def test_objects_with_a_key_per_row_have_no_statistics_of_keys() -> None:
    documents = [{f"id {number}": number} for number in range(MOST_KEYS + 1)]
    assert known_of(documents).keys() == {()}
    assert len(known_of(documents[:-1])) == MOST_KEYS + 1
