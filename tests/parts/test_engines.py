"""Structured parts in the hands of other engines: each cell of the reference's table is what they show."""

import itertools
import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.model.types import parse_type
from instar.model.values import AclItem, Array, Interval, Range, to_array
from instar.parts.writer import write_part
from instar.plan.write import as_updates
from tests.parts.samples import provenance

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "types.md"
VALUES: dict[str, Any] = {
    "bool": True,
    "int16": -1,
    "int32": -1,
    "int64": -1,
    "uint16": 1,
    "uint32": 1,
    "uint64": 1,
    "float32": 0.5,
    "float64": 0.5,
    "string": "é",
    "bytes": b"\xff",
    "numeric": Decimal("1.5"),
    "date": 1,
    "time": 1,
    "timestamp": 1,
    "timestamptz": 1,
    "timestamp_ns": 1_000,
    "interval": Interval(1, 2, 3),
    "jsonb": '{"a":1}',
    "uuid": UUID(int=5),
    "mz_timestamp": 1,
    "mz_aclitem": AclItem("a", "b", 1),
    "aclitem": AclItem(1, 2, 1),
    "int2vector": [1, 2],
    "list<int64>": [1, 2],
    "array<int64>": Array((1, 2), ((1, 2),)),
    "map<int64>": {"a": 1},
    "range<int64>": Range(1, 2),
    "record<x int64>": {"x": 1},
    "list<uuid>": [UUID(int=5)],
    "list<interval>": [Interval(1, 2, 3)],
    "list<list<uuid>>": [[UUID(int=5)]],
    "map<uuid>": {"a": UUID(int=5)},
}
FIRST = datetime(1970, 1, 1, 0, 0, 0, 1, UTC)
PLAIN = {
    "bool": True,
    "int16": -1,
    "int32": -1,
    "int64": -1,
    "uint16": 1,
    "uint32": 1,
    "uint64": 1,
    "float32": 0.5,
    "float64": 0.5,
    "string": "é",
    "bytes": b"\xff",
    "date": date(1970, 1, 2),
    "time": time(0, 0, 0, 1),
    "timestamp": FIRST.replace(tzinfo=None),
    "timestamptz": FIRST,
    "timestamp_ns": FIRST.replace(tzinfo=None),
    "list<int64>": [1, 2],
    "record<x int64>": {"x": 1},
}
"""What Arrow has natively, as Python has it."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    schema = TableSchema.create("d.t", {name: name for name in VALUES}, ids=itertools.count(1).__next__)
    row = pa.table({name: to_array(parse_type(name), [value]) for name, value in VALUES.items()})
    file = tmp_path_factory.mktemp("part") / "part.parquet"
    file.write_bytes(write_part(as_updates(row, 0), schema, PartFormat.STRUCTURED, provenance(schema)).data)
    return file


def table() -> Iterator[tuple[str, list[str]]]:
    """Yield each type of the reference's table, and its cells."""
    rows = REFERENCE.read_text().split("| type | pandas |")[1].split("\n\n")[0].splitlines()[2:]
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("|").split(" | "))
        yield name.strip("| `"), [cell.strip() for cell in cells]


CELLS = dict(table())


def test_the_table_has_every_type() -> None:
    assert CELLS.keys() == {name for name in VALUES if name not in NESTED}


NESTED = ("list<uuid>", "list<interval>", "list<list<uuid>>", "map<uuid>")


def first_word(cell: str) -> str:
    found = re.search(r"`([^`]+)`", cell)
    assert found, cell
    return found[1]


@pytest.fixture(scope="module")
def frame(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path)


@pytest.mark.parametrize("name", CELLS)
def test_pandas_shows_what_the_reference_says(frame: pd.DataFrame, name: str) -> None:
    cell = CELLS[name][0]
    assert str(frame[name].dtype) == first_word(cell)
    value = frame[name][0]
    if cell.startswith("`object`: `"):
        kinds = {"uuid.UUID": UUID, "numpy.ndarray": np.ndarray, "datetime.date": date, "datetime.time": time}
        words = {"str": str, "bytes": bytes, "dict": dict, **kinds}
        assert isinstance(value, words[re.findall(r"`([^`]+)`", cell)[1]])


@pytest.mark.parametrize("name", PLAIN)
def test_pandas_shows_plain_values(frame: pd.DataFrame, name: str) -> None:
    value = frame[name][0]
    assert (value.tolist() if isinstance(value, np.ndarray) else value) == PLAIN[name]


@pytest.mark.parametrize("name", NESTED)
def test_pandas_opens_what_lies_in_lists(frame: pd.DataFrame, name: str) -> None:
    assert frame[name][0] is not None


@pytest.fixture(scope="module")
def duck(path: Path) -> dict[str, tuple[str, Any]]:
    relation = duckdb.connect().sql(f"SELECT * FROM '{path}'")
    (row,) = relation.fetchall()
    return {name: (str(of), value) for name, of, value in zip(relation.columns, relation.types, row, strict=True)}


@pytest.mark.parametrize("name", CELLS)
def test_duckdb_shows_what_the_reference_says(duck: dict[str, tuple[str, Any]], name: str) -> None:
    assert duck[name][0].replace('"', "") == first_word(CELLS[name][1])


@pytest.mark.parametrize("name", PLAIN)
def test_duckdb_shows_plain_values(duck: dict[str, tuple[str, Any]], name: str) -> None:
    assert duck[name][1] == PLAIN[name]


@pytest.fixture(scope="module")
def polar(path: Path) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # extensions that it does not know are what we look at
        return pl.read_parquet(path)


@pytest.mark.parametrize("name", CELLS)
def test_polars_shows_what_the_reference_says(polar: pl.DataFrame, name: str) -> None:
    cell, found = CELLS[name][2], str(polar.schema[name])
    if cell.startswith("extension of"):
        assert "Extension" in found or "instar" in found or "arrow.json" in found, found
        found = str(polar[name].ext.storage().dtype)
    assert re.sub("time_unit=|, time_zone=None|time_zone=", "", found).startswith(first_word(cell))


@pytest.mark.parametrize("name", PLAIN)
def test_polars_shows_plain_values(polar: pl.DataFrame, name: str) -> None:
    assert polar[name].to_list()[0] == PLAIN[name]
