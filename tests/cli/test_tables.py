from pathlib import Path

import pytest

from instar.lake import Lake
from instar.storage.config import StoreConfig
from tests.cli.samples import H2O, STATIONS, build_lake, fail, lines, rows, run, run_json


def test_each_table_is_listed_with_its_size_flags_and_revisions(tmp_path: Path) -> None:
    build_lake(tmp_path)
    header, h2o, stations = lines("tables", "--lake", tmp_path.as_uri())
    assert [cell.strip() for cell in header[:4]] == ["table", "merge", "updates", "parts"]
    assert [cell.strip() for cell in h2o[:4]] == [H2O, "append", "9", "3"]
    assert [cell.strip() for cell in h2o[5:]] == ["2 codec, 1 dual", "dual", "codec", "on", "main@7"]
    assert [cell.strip() for cell in stations[:4]] == [STATIONS, "upsert", "2", "1"]


def test_json_tells_the_same_exactly(tmp_path: Path) -> None:
    lake = build_lake(tmp_path)
    h2o, stations = run_json("tables", "--lake", tmp_path.as_uri())
    files = [info.size for info in lake.store.list("main/weather/data/-/h2o/")]
    assert h2o == {
        "table": H2O,
        "merge_mode": "append",
        "updates": 9,
        "parts": 3,
        "bytes": sum(files),
        "formats": {"codec": 2, "dual": 1},
        "flags": {"write_format": "dual", "read_format": "codec", "pushdown": "on"},
        "timelines": [{"writer": "main", "revision": 7, "flags_version": 1}],
    }
    assert stations["table"] == STATIONS


def test_a_table_of_two_writers_is_one_line_with_both_revisions(tmp_path: Path) -> None:
    build_lake(tmp_path)
    Lake(StoreConfig(tmp_path.as_uri()), writer="edge").table(H2O).append(rows("OR"))
    h2o = run_json("tables", "--lake", tmp_path.as_uri())[0]
    assert (h2o["updates"], h2o["parts"]) == (12, 4)
    assert [(of["writer"], of["revision"]) for of in h2o["timelines"]] == [("edge", 2), ("main", 7)]


def test_the_configured_lake_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_lake(tmp_path)
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    assert [table["table"] for table in run_json("tables")] == [H2O, STATIONS]


def test_an_empty_lake_has_no_tables(tmp_path: Path) -> None:
    assert run_json("tables", "--lake", tmp_path.as_uri()) == []
    assert len(lines("tables", "--lake", tmp_path.as_uri())) == 1


def test_a_terminal_gets_a_frame_and_a_pipe_does_not(tmp_path: Path) -> None:
    build_lake(tmp_path)
    assert "┃" not in run("tables", "--lake", tmp_path.as_uri())
    assert "┃" in run("tables", "--lake", tmp_path.as_uri(), terminal=True)


def test_a_root_that_is_no_store_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = fail(capsys, monkeypatch, "tables", "--lake", "ftp://host/lake")
    assert said.startswith("error: 'ftp://host/lake' names no store.\n  help: ")
