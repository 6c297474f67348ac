from pathlib import Path

import pytest

from instar.cli.explain import REASONS
from instar.pushdown.prune import Verdict
from tests.cli.samples import H2O, STATIONS, build_lake, fail, lines, part_keys, run, run_json

WHERE = ("--where", "state = 'NY'")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build_lake(tmp_path)
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    return tmp_path


def test_each_part_has_a_decision_and_a_reason(root: Path) -> None:
    _, *parts = lines("explain", H2O, *WHERE)
    assert [part[0] for part in parts[:3]] == ["skip", "read", "skip"]
    assert parts[0][1] == "no row can match"
    assert parts[1][1].strip() == "a row may match"
    assert "Reads 1 of 3 parts, 3 of 9 updates, " in parts[-1][0]


def test_json_holds_verdicts_and_totals(root: Path) -> None:
    explained = run_json("explain", H2O, *WHERE)
    lake = build_lake(root / "twin")
    assert [part["key"] for part in explained["parts"]] == part_keys(lake, H2O)
    assert [part["verdict"] for part in explained["parts"]] == [
        "ROWS_CANNOT_MATCH",
        "KEPT_MAY_MATCH",
        "ROWS_CANNOT_MATCH",
    ]
    sizes = [part["bytes"] for part in explained["parts"]]
    assert explained["totals"] == {
        "parts": 3,
        "parts_read": 1,
        "parts_skippable": 2,
        "updates": 9,
        "updates_read": 3,
        "bytes": sum(sizes),
        "bytes_read": sizes[1],
        "bytes_saved": sizes[0] + sizes[2],
    }
    assert explained["vector"] == [{"writer": "main", "database": "weather", "revision": 7}]
    assert explained["flags"]["pushdown"] == "on"


def test_soft_pushdown_reads_what_it_could_skip(root: Path) -> None:
    explained = run_json("explain", H2O, *WHERE, "--pushdown", "soft")
    assert [part["decision"] for part in explained["parts"]] == ["check", "read", "check"]
    assert (explained["totals"]["parts_skippable"], explained["totals"]["bytes_saved"]) == (2, 0)
    assert run("explain", H2O, *WHERE, "--pushdown", "soft").endswith(
        "Soft pushdown reads 2 skippable parts to check the proof.\n"
    )


def test_without_pushdown_every_part_is_read_unjudged(root: Path) -> None:
    explained = run_json("explain", H2O, *WHERE, "--pushdown", "off")
    assert {(part["decision"], part["verdict"], part["reason"]) for part in explained["parts"]} == {
        ("read", None, "pushdown is off")
    }


def test_without_a_filter_every_part_is_read(root: Path) -> None:
    assert {part["reason"] for part in run_json("explain", H2O)["parts"]} == {"there is no filter"}


def test_the_flags_of_the_table_hold_unless_others_are_given(root: Path) -> None:
    where = ("--where", "station = 9")
    assert run_json("explain", STATIONS, *where)["totals"]["parts_read"] == 1
    under = run_json("explain", STATIONS, *where, "--pushdown", "on")
    assert (under["totals"]["parts_read"], under["parts"][0]["reason"]) == (0, "no key can match")


def test_an_old_revision_has_its_own_parts(root: Path) -> None:
    assert run_json("explain", H2O, "--as-of", "2")["totals"]["parts"] == 1


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_words(verdict: Verdict) -> None:
    assert REASONS[verdict]


def test_a_filter_that_can_not_be_understood_is_an_error(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fail(capsys, monkeypatch, "explain", H2O, "--where", "state = ").startswith("error: ")
