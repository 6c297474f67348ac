import itertools
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.schema import TableSchema
from instar.model.settings import TableSettings
from instar.parts.budget import fit_budget
from instar.parts.statistics import PartStatistics, collect_statistics
from tests.strategies import schemas, update_tables


def size(statistics: PartStatistics, schema: TableSchema) -> int:
    kept = {*schema.key, *schema.keep_statistics}
    scalars = (scalar for of in statistics.columns if of.column not in kept for scalar in of.known.values())
    return sum(pa.array([scalar], scalar.type).nbytes for scalar in scalars)


@given(st.data(), schemas(), st.integers(0, 400))
def test_what_is_left_fits_and_is_a_part_of_what_there_was(
    data: st.DataObject, schema: TableSchema, budget: int
) -> None:
    schema = replace(schema, settings=TableSettings(statistics_bytes=budget))
    whole = collect_statistics(schema, data.draw(update_tables(schema)))
    fitted = fit_budget(whole, schema)
    assert size(fitted, schema) <= budget
    before = {(of.column, of.path): of for of in whole.columns}
    for of in fitted.columns:
        assert of.known.items() <= before[of.column, of.path].known.items()
    kept = [of for of in whole.columns if of.column in schema.key]
    assert [of for of in fitted.columns if of.column in schema.key] == kept


TABLE = TableSchema.create(
    "d.t",
    {"id": "int64", "note": "string", "tag": "string"},
    ids=itertools.count(1).__next__,
    keep_statistics=["tag"],
)
ROWS = pa.table({"id": [1, 2], "note": ["x" * 60, "y" * 60], "tag": ["a" * 90, "b" * 90]})


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (4_096, {1: {"lower", "upper", "nulls", "values"}, 2: {"lower", "upper", "nulls", "values"}}),
        (300, {1: {"lower", "upper", "nulls", "values"}, 2: {"lower", "upper", "nulls"}}),
        (100, {1: {"lower", "upper", "nulls", "values"}, 2: {"nulls"}}),
        (10, {1: {"nulls"}}),
        (0, {}),
    ],
)
def test_the_largest_go_first_and_kept_columns_stay(budget: int, left: dict[int, set[str]]) -> None:
    schema = replace(TABLE, settings=TableSettings(statistics_bytes=budget))
    fitted = fit_budget(collect_statistics(schema, ROWS), schema)
    found = {int(of.column): set(of.known) for of in fitted.columns}
    assert found.pop(3) == {"lower", "upper", "nulls", "values"}
    assert found == left
