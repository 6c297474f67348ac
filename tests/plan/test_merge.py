import itertools
import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.model.schema import D_COLUMN, T_COLUMN, MergeMode, TableSchema
from instar.plan.merge import BY_WRITER, FROM_ORIGIN, merge, newest_versions
from tests.plan.oracle import Update, counted, matching, to_labelled
from tests.plan.strategies import tables, updates
from tests.strategies import exact_rows

LABELS = [T_COLUMN, D_COLUMN, BY_WRITER, FROM_ORIGIN]


def upsert(key_type: str = "int64", *, key: str = "k", value: str = "f") -> TableSchema:
    columns = {key: key_type, value: "int64", "note": "string"}
    return TableSchema.create("db.t", columns, ids=itertools.count(1).__next__, key=[key], merge_mode="upsert")


def rows(schema: TableSchema, *updates: Update) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = merge(to_labelled(updates, schema), schema).to_pylist()
    return found


def version(k: Any, f: int | None, t: int, **other: Any) -> Update:
    note = other.pop("note", None)
    return Update({"k": k, "f": f, "note": note}, t, **other)


@settings(max_examples=300)
@given(st.data(), tables())
def test_a_merge_gives_the_rows_of_the_model(data: st.DataObject, schema: TableSchema) -> None:
    drawn = data.draw(updates(schema))
    cut = data.draw(st.integers(0, len(drawn)))
    table = to_labelled(drawn, schema)
    chunked = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    result = merge(chunked, schema)
    assert counted(result) == matching(drawn, schema, None, [c.name for c in schema.columns])
    result.validate(full=True)


@settings(max_examples=200)
@given(st.data(), tables())
def test_a_projection_merges_to_the_projection_of_the_merge(data: st.DataObject, schema: TableSchema) -> None:
    table = to_labelled(data.draw(updates(schema)), schema)
    keys = [column.name for column in schema.key_columns]
    some = data.draw(st.lists(st.sampled_from([c.name for c in schema.value_columns] or keys), unique=True))
    shown = [c.name for c in schema.columns if c.name in {*keys, *some}]
    assert exact_rows(merge(table.select([*shown, *LABELS]), schema)) == exact_rows(merge(table, schema).select(shown))


@settings(max_examples=100)
@given(st.data(), tables((MergeMode.UPSERT,)))
def test_the_order_of_the_updates_does_not_matter(data: st.DataObject, schema: TableSchema) -> None:
    drawn = data.draw(updates(schema))
    shuffled = data.draw(st.permutations(drawn))
    first, second = (exact_rows(merge(to_labelled(each, schema), schema)) for each in (drawn, shuffled))
    assert first == second


def test_each_field_is_the_last_value_that_is_not_null() -> None:
    found = rows(upsert(), version(1, 5, 1, note="a"), version(1, None, 3, note="b"), version(1, 7, 2))
    assert found == [{"k": 1, "f": 7, "note": "b"}]


def test_time_goes_before_writer_and_writer_before_origin() -> None:
    late = version(1, 1, 2, writer="a", origin="a")
    greater_writer = version(2, 1, 1, writer="b", origin="a")
    greater_origin = version(3, 1, 1, writer="a", origin="b")
    lost = [version(k, 0, 1, writer="a", origin="a" if k == 3 else "z") for k in (1, 2, 3)]
    assert [row["f"] for row in rows(upsert(), late, greater_writer, greater_origin, *lost)] == [1, 1, 1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_delete_takes_what_is_before_it_and_level_with_it_and_leaves_what_comes_after(order: list[int]) -> None:
    def with_delete(level: int) -> list[dict[str, Any]]:
        several = [version(1, 5, 1, note="old"), version(1, None, 2, d=-1), version(1, 6, level)]
        return rows(upsert(), *(several[place] for place in order))

    assert with_delete(2) == []
    assert with_delete(3) == [{"k": 1, "f": 6, "note": None}]


@pytest.mark.parametrize(
    ("key_type", "keys"),
    [
        ("float64", [math.nan, -math.nan]),
        ("float64", [0.0, -0.0]),
        ("string", ["\x00é\U0010ffff", "\x00é\U0010ffff"]),
        ("bytes", [b"\x00\xff", b"\x00\xff"]),
        ("bool", [False, False]),
        ("timestamp", [-(2**63), -(2**63)]),
        ("timestamp_ns", [2**63 - 1, 2**63 - 1]),
    ],
)
def test_equal_keys_are_one_key(key_type: str, keys: list[Any]) -> None:
    schema = upsert(key_type)
    found = merge(to_labelled([version(key, t, t) for t, key in enumerate(keys)], schema), schema)
    assert found["f"].to_pylist() == [1]


@pytest.mark.parametrize("name", [".a", "[0]", "a.b"])
def test_names_that_arrow_takes_for_paths_are_names(name: str) -> None:
    schema = upsert(key=name, value=".f")
    old, new = (Update({name: 1, ".f": value, "note": None}, t) for t, value in ((1, 5), (2, 6)))
    assert rows(schema, new, old) == [{name: 1, ".f": 6, "note": None}]


def test_no_updates_are_no_rows() -> None:
    result = merge(to_labelled([], upsert()), upsert())
    assert result.schema.equals(upsert().arrow_schema(), check_metadata=True)
    assert result.num_rows == 0


def test_an_append_table_keeps_every_update_in_its_order() -> None:
    schema = TableSchema.create("db.t", {"k": "int64"}, ids=itertools.count(1).__next__)
    assert rows(schema, Update({"k": 2}, 2), Update({"k": 1}, 1), Update({"k": 2}, 1)) == [{"k": 2}, {"k": 1}, {"k": 2}]


def test_of_rows_in_the_order_of_age_each_key_keeps_its_newest_version() -> None:
    schema = upsert("float64", key=".k")
    given = pa.table({".k": [0.0, 1.0, -0.0, 0.0], "f": [1, 2, 3, 4], "note": ["a", None, None, None]})
    assert newest_versions(given, schema).to_pylist() == [
        {".k": 0.0, "f": 4, "note": "a"},
        {".k": 1.0, "f": 2, "note": None},
    ]
