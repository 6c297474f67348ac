"""Hypothesis strategies for tables whose updates meet: few keys, few times, edge cases for values."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from instar.model.schema import MergeMode, TableSchema
from tests.expr.strategies import SCHEMA, rows
from tests.plan.oracle import Update, identity

ODD_NAMES = [".a", "[0]", "a.b", ".x[1]", 'say "so"', "k_s", "Größe", "t", "v"]
"""Some of them are paths to Arrow."""

writers = st.sampled_from(["a", "b", "é"])
origins = st.sampled_from(["", "o1", "o2"])


@st.composite
def tables(draw: st.DrawFn, modes: tuple[MergeMode, ...] = tuple(MergeMode)) -> TableSchema:
    """Draw a table of a few columns of any types, under odd names."""
    chosen = draw(st.lists(st.sampled_from(SCHEMA.columns), min_size=2, max_size=4, unique=True))
    names = draw(st.lists(st.sampled_from(ODD_NAMES), min_size=len(chosen), max_size=len(chosen), unique=True))
    columns = tuple(replace(column, name=name) for column, name in zip(chosen, names, strict=True))
    mode = draw(st.sampled_from(modes))
    key = tuple(c.id for c in columns[: draw(st.integers(1, len(columns)))]) if mode is MergeMode.UPSERT else ()
    sort_by = draw(st.lists(st.sampled_from([column.id for column in columns]), unique=True))
    return TableSchema(SCHEMA.name, columns, key, mode, key or tuple(sort_by))


@st.composite
def updates(draw: st.DrawFn, schema: TableSchema, max_size: int = 12) -> list[Update]:
    """Draw updates such that an origin of a writer holds one version per key and time."""
    keys = draw(st.lists(rows(schema.key_columns), min_size=1, max_size=3))

    @st.composite
    def one(draw: st.DrawFn) -> Update:
        diff = draw(st.sampled_from([1, 1, 1, -1])) if schema.key else 1
        values = draw(rows(schema.value_columns)) if diff > 0 else dict.fromkeys(c.name for c in schema.value_columns)
        return Update(values | draw(st.sampled_from(keys)), draw(st.integers(0, 3)), diff, draw(writers), draw(origins))

    def place(update: Update) -> Any:
        return update.age[:3], identity(update.row, schema)

    return draw(st.lists(one(), max_size=max_size, unique_by=place if schema.key else None))
