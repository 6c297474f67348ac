import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from instar.cli import app
from instar.expr.nodes import Expr
from instar.lake import open_lake
from instar.model.schema import TableSchema
from instar.plan.queries import recorded_queries
from instar.pushdown.prune import Pruning, Verdict
from tests.cli.samples import H2O, STATIONS, build_lake, fail, lines, run, run_json, set_flags

NEW_YORK = [
    {"state": "NY", "time": "2026-01-01T00:00:00", "degrees": 61.5},
    {"state": "NY", "time": "2026-01-01T01:00:00", "degrees": "NaN"},
    {"state": "NY", "time": None, "degrees": 60.0},
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build_lake(tmp_path)
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    return tmp_path


def test_rows_are_printed_in_columns(root: Path) -> None:
    header, *body = lines("read", H2O, "--where", "state = 'NY'")
    assert [cell.strip() for cell in header] == ["state", "time", "degrees"]
    assert [[cell.strip() for cell in row] for row in body] == [
        ["NY", "2026-01-01T00:00:00", "61.5"],
        ["NY", "2026-01-01T01:00:00", "NaN"],
        ["NY", "NULL", "60.0"],
    ]


def test_json_is_a_list_of_rows(root: Path) -> None:
    assert run_json("read", H2O, "--where", "state = 'NY'") == NEW_YORK


def test_format_json_and_json_are_the_same(root: Path) -> None:
    assert run("read", H2O, "--format", "json") == run("read", H2O, "--json")


def test_csv_tells_null_from_empty(tmp_path: Path) -> None:
    lake = open_lake(tmp_path.as_uri())
    schema = TableSchema.create("db.t", {"a": "string", "b": "bytes"}, ids=itertools.count(1).__next__)
    lake.create_table(schema).append(pa.table({"a": ["", None, 'x,"y'], "b": [b"\xff", None, b""]}))
    printed = run("read", "db.t", "--format", "csv", "--lake", tmp_path.as_uri())
    assert printed.splitlines() == ['"a","b"', '"","ff"', ",", '"x,""y",""']
    assert list(csv.reader(io.StringIO(printed)))[-1] == ['x,"y', ""]


def test_columns_come_in_the_order_asked_for(root: Path) -> None:
    assert list(run_json("read", H2O, "--columns", "degrees, state")[0]) == ["degrees", "state"]


def test_the_limit_cuts_the_answer_and_says_so(root: Path) -> None:
    assert len(run_json("read", H2O, "--limit", "2")) == 2
    assert len(lines("read", H2O, "--limit", "2")) == 3
    assert CliRunner().invoke(app, ["read", H2O, "--limit", "2"]).stderr == "2 of 9 rows.\n"


def test_an_answer_without_rows_still_has_its_columns(root: Path) -> None:
    assert lines("read", H2O, "--where", "state = 'TX'") == [["state", "time", "degrees"]]
    assert run_json("read", H2O, "--where", "state = 'TX'") == []
    assert run("read", H2O, "--limit", "0", "--format", "csv") == '"state","time","degrees"\n'


def test_an_old_revision_can_be_read_by_number_and_by_vector(root: Path) -> None:
    assert {row["state"] for row in run_json("read", H2O, "--as-of", "2")} == {"CA"}
    assert {row["state"] for row in run_json("read", H2O, "--as-of", "main/weather@3")} == {"CA", "NY"}


def test_upserts_are_merged(root: Path) -> None:
    open_lake(root.as_uri()).table(STATIONS).append(pa.table({"station": [2], "name": ["Santa Monica"]}), t=2)
    assert run_json("read", STATIONS) == [
        {"station": 1, "name": "Coyote Creek"},
        {"station": 2, "name": "Santa Monica"},
    ]


def test_values_can_neither_style_nor_steer_a_terminal(tmp_path: Path) -> None:
    lake = open_lake(tmp_path.as_uri())
    schema = TableSchema.create("db.t", {"a": "string"}, ids=itertools.count(1).__next__)
    lake.create_table(schema).append(pa.table({"a": ["[bold]x[/bold]", "a\x1b[2Jb\nc"]}))
    for terminal in (False, True):
        printed = run("read", "db.t", "--lake", tmp_path.as_uri(), terminal=terminal)
        assert "[bold]x[/bold]" in printed
        assert r"a\x1b[2Jb\nc" in printed


def test_what_a_soft_read_finds_amiss_goes_to_stderr(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = open_lake(root.as_uri())
    set_flags(lake, "h2o", 2, write_format="dual", pushdown="soft")
    monkeypatch.setattr("instar.plan.scan.prune", _skip_everything)
    result = CliRunner().invoke(app, ["read", H2O, "--where", "state = 'NY'", "--json"])
    assert (result.exit_code, result.stdout.count('"NY"')) == (0, 3)
    assert result.stderr.startswith("warning: weather.h2o: \"state = 'NY'\" would skip ")


def test_a_read_is_recorded_as_a_question_and_an_explanation_is_not(root: Path) -> None:
    lake = open_lake(root.as_uri())
    run("explain", H2O, "--where", "state = 'CA'")
    assert list(recorded_queries(lake.store, lake.table(H2O).name)) == []
    run("read", H2O, "--where", "state = 'CA'")
    assert [query.where for query in recorded_queries(lake.store, lake.table(H2O).name)] == ["state = 'CA'"]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["weather.h20"], "There is no table weather.h20."),
        (["h2o"], "is not the name of a table."),
        ([H2O, "--columns", "stat"], "has no column 'stat'."),
        ([H2O, "--where", "stat = 1"], "has no column 'stat'"),
        ([H2O, "--as-of", "99"], "has no revision 99."),
        ([H2O, "--as-of", "yesterday"], "'yesterday' is no entry of a revision vector."),
    ],
)
def test_a_question_that_makes_no_sense_is_one_clear_error(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    fact: str,
) -> None:
    said = fail(capsys, monkeypatch, "read", *arguments)
    assert fact in said.splitlines()[0]
    assert said.startswith("error: ")


def test_two_formats_at_once_are_refused(root: Path) -> None:
    result = CliRunner().invoke(app, ["read", H2O, "--json", "--format", "csv"])
    assert (result.exit_code, result.stdout) == (2, "")


def _skip_everything(_expr: Expr, parts: pa.Table, _schema: TableSchema) -> Pruning:
    return Pruning(np.full(parts.num_rows, Verdict.ROWS_CANNOT_MATCH, np.uint8))
