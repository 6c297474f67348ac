"""What the demo claims of its own data."""

from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pytest

from instar.clock import random_id
from instar.demo import story
from instar.expr.evaluate import evaluate
from instar.expr.parse import parse_filter
from instar.flags import Flags, Pushdown
from instar.lake import Lake, Table
from instar.parts.reader import read_part
from instar.sources.sample import sample_schema
from instar.storage.config import StoreConfig


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Table:
    lake = Lake(StoreConfig(tmp_path_factory.mktemp("lake").as_uri()))
    table = lake.create_table(replace(sample_schema(random_id), name=story.TABLE))
    assert story.write_history(table) > 100_000
    return table


@pytest.mark.parametrize(("where", "columns"), story.QUESTIONS)
def test_the_questions_read_hardly_more_parts_than_hold_a_match(
    history: Table, where: str, columns: tuple[str, ...]
) -> None:
    plan = history.scan(where, columns).plan().under(Flags(pushdown=Pushdown.ON))
    matches = parse_filter(where, history.schema)
    contents = [read_part(history.lake.store, key, history.schema) for key in plan.parts["key"].to_pylist()]
    optimum = sum(bool(pc.any(evaluate(matches, rows, history.schema)).as_py()) for rows in contents)
    assert 0 < optimum < plan.parts.num_rows
    assert plan.kept.num_rows <= 1.1 * optimum


def test_a_day_can_be_landed_and_is_the_same_each_time(tmp_path: Path) -> None:
    start = story.land(tmp_path, 2)
    landed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in landed] == [story.day_lines(2)[1]]
    assert story.day_lines(2)[0] == start
