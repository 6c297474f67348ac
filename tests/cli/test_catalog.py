from pathlib import Path
from typing import Any

import pytest

from instar.catalog.checkpoint import read_checkpoint
from instar.lake import Lake
from instar.storage.config import StoreConfig
from tests.cli.samples import H2O, LEFT_OVER, build_lake, fail, leave_over, lines, part_keys, rows, run, run_json

CHECKPOINT = "main/weather/transactions/00000000000000000007.checkpoint"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    return build_lake(tmp_path)


@pytest.fixture
def edge(lake: Lake) -> Lake:
    """A second writer in the same lake, who commits after the first."""
    other = Lake(StoreConfig(lake.store.uri), writer="edge")
    other.table(H2O).append(rows("OR"))
    return other


def stored(lake: Lake) -> dict[str, int]:
    return {info.key: info.size for info in lake.store.list("")}


def test_the_history_lists_revisions_newest_last_with_their_actions(lake: Lake) -> None:
    _, *revisions = lines("catalog", "history")
    assert [revision[1].strip() for revision in revisions] == list("1234567")
    assert [revision[-1] for revision in revisions[:5]] == [
        "created h2o (append, 3 columns)",
        "added 1 part, 3 rows to h2o",
        "added 1 part, 3 rows to h2o",
        "set flags of h2o: write_format=dual read_format=codec pushdown=on",
        "added 1 part, 3 rows to h2o",
    ]
    assert revisions[0][2] == "2026-01-01T00:00:00.000000Z"


def test_a_run_that_replaces_another_shows_what_it_removed(lake: Lake) -> None:
    gone = part_keys(lake, H2O)[0]
    lake.table(H2O).append(rows("CA"), origin="landing/ca", generation=1)
    assert lines("catalog", "history")[-1][-1] == "removed 1 part from h2o; added 1 part, 3 rows to h2o"
    removed, added = run_json("catalog", "history")[-1]["actions"]
    assert removed == {"action": "remove_parts", "table": "h2o", "data_change": True, "parts": [gone]}
    assert (added["rows"], added["runs"]) == (3, [{"origin": "landing/ca", "generation": 1}])


def test_the_history_of_several_writers_is_one_in_time(lake: Lake, edge: Lake) -> None:
    everything = run_json("catalog", "history", "weather")
    assert [of["writer"] for of in everything] == ["main"] * 7 + ["edge"] * 2
    assert [of["revision"] for of in run_json("catalog", "history", "--writer", "edge")] == [1, 2]
    assert everything[0]["actions"][0]["schema"]["name"] == H2O
    assert [of["data_change"] for of in everything[:2]] == [False, True]


def test_a_dry_run_says_which_checkpoint_it_would_write(lake: Lake) -> None:
    before = stored(lake)
    said = run("catalog", "checkpoint")
    assert said.startswith(f"Would write {CHECKPOINT}: 2 tables, 4 parts, ")
    assert said.endswith("Nothing was changed. Add --commit to do it.\n")
    assert stored(lake) == before


def test_a_committed_checkpoint_is_verified(lake: Lake) -> None:
    said = run("catalog", "checkpoint", "weather", "--commit")
    assert said.startswith(f"Wrote {CHECKPOINT}: 2 tables, 4 parts, ")
    assert said.endswith(" It agrees with the replay of the log.\n")
    timeline = lake.catalog.timeline("main", "weather")
    assert read_checkpoint(timeline, 7).equals(timeline.load())
    assert run("catalog", "checkpoint").startswith(f"Would replace {CHECKPOINT}: ")


def test_the_dry_run_of_a_checkpoint_is_right_about_its_size(lake: Lake) -> None:
    (planned,) = run_json("catalog", "checkpoint")
    assert (planned["written"], planned["exists"], planned["agrees_with_replay"]) == (False, False, None)
    (written,) = run_json("catalog", "checkpoint", "--commit")
    assert written == {**planned, "written": True, "agrees_with_replay": True}
    assert stored(lake)[CHECKPOINT] == written["bytes"]


def test_a_checkpoint_that_disagrees_with_the_log_is_an_error(
    lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("catalog", "checkpoint", "--commit")
    other = build_lake(Path(lake.store.uri.removeprefix("file://")) / "twin")
    other.table(H2O).append(rows("TX"))
    timeline = lake.catalog.timeline("main", "weather")
    monkeypatch.setattr(
        "instar.catalog.checkpoint.read_checkpoint",
        lambda *_: other.catalog.timeline(timeline.writer, timeline.database).load(),
    )
    said = fail(capsys, monkeypatch, "catalog", "checkpoint", "--commit")
    assert said.startswith(f"error: {CHECKPOINT} holds another state than the log leads to.")


def test_the_leftovers_of_an_uncommitted_write_are_in_the_plan_and_survive_a_dry_run(
    lake: Lake, tmp_path: Path
) -> None:
    left = leave_over(lake, tmp_path)
    before = stored(lake)
    _, orphan, summary, invitation = lines("catalog", "gc")
    assert (orphan[0], orphan[-1]) == (left, "its transaction is not in the log")
    assert summary[0].startswith("main/weather@7: 1 orphan of 5 files, ")
    assert invitation == ["Nothing was changed. Add --commit to do it."]
    assert stored(lake) == before


def test_a_sweep_deletes_the_orphans_and_no_live_part(lake: Lake, tmp_path: Path) -> None:
    left = leave_over(lake, tmp_path)
    live = {key: lake.store.get(key) for key in stored(lake) if "/data/" in key and key != left}
    answer = run_json("read", H2O)
    said = run("catalog", "gc", "weather", "--commit")
    assert left in said
    assert "; deleted 1 file, " in said
    assert {key: lake.store.get(key) for key in stored(lake) if "/data/" in key} == live
    assert run_json("read", H2O) == answer
    assert lines("catalog", "history")[-1][-1] == "fenced off 1 transaction"


def test_json_holds_the_plan_and_what_was_done(lake: Lake, tmp_path: Path) -> None:
    left = leave_over(lake, tmp_path)
    size = stored(lake)[left]
    (planned,) = run_json("catalog", "gc")
    expected: dict[str, Any] = {
        "writer": "main",
        "database": "weather",
        "revision": 7,
        "files": 5,
        "young": 0,
        "foreign": [],
        "bytes": size,
        "orphans": [
            {
                "key": left,
                "transaction": str(LEFT_OVER),
                "reason": "its transaction is not in the log",
                "bytes": size,
                "modified": "2026-01-01T00:00:00.000000Z",
            }
        ],
    }
    assert planned == {**expected, "deleted": None, "survivors": None}
    assert left in stored(lake)
    assert run_json("catalog", "gc", "--commit") == [{**expected, "deleted": [left], "survivors": []}]
    assert left not in stored(lake)


def test_files_inside_the_grace_and_files_that_are_no_parts_are_left_alone(lake: Lake, tmp_path: Path) -> None:
    left = leave_over(lake, tmp_path)
    lake.store.put("main/weather/data/-/h2o/notes.txt", b"mine")
    before = stored(lake)
    said = run("catalog", "gc", "--grace", "36500d", "--commit")
    assert "0 orphans of 6 files" in said
    assert "1 too young to judge; not parts, and left alone: main/weather/data/-/h2o/notes.txt" in said
    assert stored(lake) == before
    assert run_json("catalog", "gc", "--grace", "0s")[0]["orphans"][0]["key"] == left


def test_only_the_chosen_timelines_are_swept(lake: Lake, edge: Lake, tmp_path: Path) -> None:
    left = leave_over(lake, tmp_path)
    assert [of["deleted"] for of in run_json("catalog", "gc", "--writer", "edge", "--commit")] == [[]]
    assert left in stored(lake)
    assert [of["writer"] for of in run_json("catalog", "gc")] == ["edge", "main"]


@pytest.mark.parametrize("command", ["history", "checkpoint", "gc"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wether"], "error: There is no database 'wether'.\n  help: Did you mean 'weather'?\n"),
        (["--writer", "x"], "error: There is no writer 'x'.\n  help: There are: main.\n"),
    ],
)
def test_a_name_that_the_lake_does_not_have_is_refused(
    lake: Lake,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    arguments: list[str],
    said: str,
) -> None:
    assert fail(capsys, monkeypatch, "catalog", command, *arguments) == said


def test_a_root_without_a_catalog_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = fail(capsys, monkeypatch, "catalog", "gc", "--commit", "--lake", tmp_path.as_uri())
    assert said.startswith(f"error: {tmp_path.as_uri()} has no catalog.\n")


def test_a_grace_that_is_no_duration_is_refused_before_anything_happens(
    lake: Lake, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = leave_over(lake, tmp_path)
    assert "'1 day' is no duration." in fail(capsys, monkeypatch, "catalog", "gc", "--grace", "1 day", "--commit")
    assert left in stored(lake)
