from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.samples import H2O, STATIONS, build_lake, fail, part_keys, run, run_json


def test_a_part_shows_its_provenance_columns_and_statistics(tmp_path: Path) -> None:
    key = part_keys(build_lake(tmp_path), H2O)[2]
    facts, columns = run("part", "show", key, "--lake", tmp_path.as_uri()).split("\n\n")
    shown = dict(line.split(maxsplit=1) for line in facts.splitlines() if len(line.split()) == 2)
    assert (shown["key"], shown["format"], shown["rows"], shown["origin"]) == (key, "dual", "3", "landing/wa")
    assert [line.split() for line in columns.splitlines()[1:]] == [
        ["101", "state", "string", "false", "false", "WA", "WA", "0", "NULL", "1", "76", "RLE_DICTIONARY"],
        [
            "102",
            "time",
            "timestamp",
            "true",
            "false",
            "2026-01-01T00:00:00",
            "2026-01-01T01:00:00",
            "1",
            "NULL",
            "2",
            "59",
            "DELTA_BINARY_PACKED",
        ],
        ["103", "degrees", "float64", "true", "false", "60.0", "61.5", "0", "true", "2", "54", "BYTE_STREAM_SPLIT"],
    ]


def test_json_holds_the_footer(tmp_path: Path) -> None:
    lake = build_lake(tmp_path)
    (key,) = part_keys(lake, STATIONS)
    shown = run_json("part", "show", key, "--lake", tmp_path.as_uri())
    assert (shown["format"], shown["codec"], shown["merge_mode"]) == ("codec", "row", "upsert")
    assert (shown["writer"], shown["database"], shown["table"]) == ("main", "weather", "stations")
    assert (shown["rows"], shown["first_t"], shown["last_t"], shown["has_deletes"]) == (2, 1, 1, False)
    assert shown["transaction"] in key
    station, name = shown["columns"]
    assert (station["key"], station["lower"], station["upper"]) == (True, 1, 2)
    assert (name["key"], name["nulls"], name["upper"]) == (False, 1, "Coyote Creek")


@pytest.mark.parametrize("planted", [None, b"no parquet", "foreign"])
def test_what_is_no_part_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    planted: bytes | str | None,
) -> None:
    path = tmp_path / "x.parquet"
    if isinstance(planted, bytes):
        path.write_bytes(planted)
    elif planted:
        pq.write_table(pa.table({"a": [1]}), path)
    said = fail(capsys, monkeypatch, "part", "show", "x.parquet", "--lake", tmp_path.as_uri())
    assert said.startswith("error: ")
    assert "x.parquet" in said.splitlines()[0]


def test_a_key_can_not_leave_the_lake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    said = fail(capsys, monkeypatch, "part", "show", "../x.parquet", "--lake", (tmp_path / "lake").as_uri())
    assert "has the segment '..'" in said
