from pathlib import Path

import pytest

from instar.catalog.checkpoint import write_checkpoint
from instar.lake import Lake
from tests.cli.samples import H2O, build_lake, fail, lines, run, run_json


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    return build_lake(tmp_path)


def revision(lake: Lake) -> int:
    return Lake(lake.config).catalog.timeline("main", "weather").load().revision


def test_show_tells_what_a_timeline_holds(lake: Lake) -> None:
    (shown,) = run_json("catalog", "show")
    assert (shown["revision"], shown["oldest"], shown["heir"]) == (7, 0, None)
    assert [(table["table"], table["parts"]) for table in shown["tables"]] == [("h2o", 3), ("stations", 1)]
    assert "╭" in run("catalog", "show", terminal=True) or "┃" in run("catalog", "show", terminal=True)


def test_show_at_a_revision_that_is_not_there(
    lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no revision 9" in fail(capsys, monkeypatch, "catalog", "show", "--revision", "9")


def test_prune_is_a_dry_run_until_it_is_committed(lake: Lake) -> None:
    timeline = lake.catalog.timeline("main", "weather")
    for number in (3, 5, 7):
        write_checkpoint(timeline, timeline.load(number))
    (planned,) = run_json("catalog", "prune", "--horizon", "0s")
    assert (planned["oldest"], planned["done"], timeline.oldest()) == (5, False, 0)
    assert "would cut 4 transactions" in run("catalog", "prune", "--horizon", "0s")
    assert "cut 4 transactions and 1 checkpoint" in run("catalog", "prune", "--horizon", "0s", "--commit")
    assert timeline.oldest() == 5


def test_restore_lists_what_it_undoes_and_commits_when_told(lake: Lake) -> None:
    planned = run_json("catalog", "restore", "weather", "3")
    assert [of["revision"] for of in planned["undone"]] == [4, 5, 6, 7]
    assert (planned["revision"], revision(lake), planned["missing"]) == (None, 7, [])
    assert run_json("catalog", "restore", "weather", "3", "--commit")["revision"] == 8
    assert len(Lake(lake.config).table(H2O).state().parts) == 2
    assert lines("catalog", "history")[-1][-1] == "restored revision 3"


def test_rebuild_is_a_dry_run_until_it_is_committed(lake: Lake) -> None:
    planned = run_json("catalog", "rebuild", "weather", "--writer", "main")
    assert (planned["tables"], planned["revision"]) == ({"weather.h2o": 3, "weather.stations": 1}, 8)
    assert revision(lake) == 7
    run("catalog", "rebuild", "weather", "--writer", "main", "--commit")
    assert revision(lake) == 8
    assert Lake(lake.config).table(H2O).scan().to_arrow().num_rows == 9


def test_fsck_exits_with_1_and_names_the_missing_file(lake: Lake, tmp_path: Path) -> None:
    assert run_json("catalog", "fsck", "--statistics") == []
    key = lake.table(H2O).state().parts["key"][0].as_py()
    (tmp_path / key).unlink()
    with pytest.raises(AssertionError, match="file is missing"):
        run("catalog", "fsck")


def test_retire_moves_a_writers_tables(lake: Lake) -> None:
    edge = Lake(lake.config, writer="edge")
    edge.table(H2O).join()
    planned = run_json("catalog", "retire", "weather", "--writer", "edge", "--heir", "main")
    assert (planned["tables"], planned["sealed"], planned["revision_of_heir"]) == (["h2o"], False, None)
    assert (
        run_json("catalog", "retire", "weather", "--writer", "edge", "--heir", "main", "--commit")["revision_of_heir"]
        == 8
    )
    assert set(Lake(lake.config).table(H2O).state().timelines) == {"main"}


def test_reading_at_a_time(lake: Lake) -> None:
    assert len(lines("read", H2O, "--as-of", "2026-01-01T01:30:00Z")) == 1 + 3
    assert len(lines("read", H2O, "--as-of", "2026-01-01T02:30:00+00:00")) == 1 + 6
