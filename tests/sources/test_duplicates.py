"""Duplicates inside one ingest."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.model.schema import TableSchema
from instar.sources.duplicates import resolve_duplicates
from tests.sources.strategies import numbered, string_text

COLUMNS = {
    "tag": "string",
    "f": "float64",
    "time": "timestamp_ns",
    "b": "bool",
    "s": "string",
    "y": "bytes",
    "f_last": "int64",
    "at": "timestamp",
}
KEY = ("tag", "time")
SCHEMA = TableSchema.create("db.m", COLUMNS, ids=numbered(), key=KEY, merge_mode="upsert")
LOOSE = replace(SCHEMA, columns=tuple(replace(c, nullable=c.nullable or c.name == "tag") for c in SCHEMA.columns))

rows_of = st.fixed_dictionaries(
    {
        "tag": st.one_of(st.none(), st.sampled_from(["a", "b"])),
        "time": st.integers(0, 2),
        "f": st.one_of(st.none(), st.integers(0, 9).map(float)),
        "b": st.one_of(st.none(), st.booleans()),
        "s": st.one_of(st.none(), string_text),
        "y": st.one_of(st.none(), st.binary(max_size=3)),
        "f_last": st.one_of(st.none(), st.integers(0, 9)),
        "at": st.one_of(st.none(), st.integers(0, 9)),
    }
)


def as_table(rows: list[dict[str, object]], schema: TableSchema) -> pa.Table:
    return pa.Table.from_arrays(
        [pa.array([row[f.name] for row in rows], f.type) for f in schema.arrow_schema()], schema=schema.arrow_schema()
    )


@settings(deadline=None)
@given(st.lists(rows_of, max_size=30), st.integers(1, 7))
def test_each_key_keeps_the_last_value_that_is_not_null(rows: list[dict[str, object]], cut: int) -> None:
    merged: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        known = merged.setdefault(tuple(row[name] for name in KEY), dict.fromkeys(COLUMNS))
        known.update({name: value for name, value in row.items() if value is not None})
    whole = as_table(rows, LOOSE)
    chunked = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    expected = as_table(list(merged.values()), LOOSE)
    for table in (whole, chunked):
        assert resolve_duplicates(table, LOOSE).combine_chunks() == expected
    assert resolve_duplicates(whole, LOOSE).schema.equals(LOOSE.arrow_schema(), check_metadata=True)


def test_many_rows_of_one_key_across_chunks_keep_their_order() -> None:
    rows = [{**dict.fromkeys(COLUMNS), "tag": "a", "time": n % 5, "f": float(n)} for n in range(100_000)]
    table = pa.concat_tables([as_table(rows[n : n + 997], SCHEMA) for n in range(0, len(rows), 997)])
    assert resolve_duplicates(table, SCHEMA)["f"].to_pylist() == [99_995.0, 99_996.0, 99_997.0, 99_998.0, 99_999.0]


def test_a_table_of_keys_alone_keeps_each_key_once() -> None:
    schema = TableSchema.create(
        "db.m", {"a": "int64", "b": "string"}, ids=numbered(), key=("a", "b"), merge_mode="upsert"
    )
    table = as_table([{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 1, "b": "x"}], schema)
    assert resolve_duplicates(table, schema).to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]


def test_an_append_table_keeps_every_row() -> None:
    schema = TableSchema.create("db.m", {"a": "int64"}, ids=numbered())
    table = as_table([{"a": 1}, {"a": 1}], schema)
    assert resolve_duplicates(table, schema) == table
