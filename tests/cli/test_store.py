import json
from pathlib import Path

from tests.cli.command import instar


def test_a_store_that_keeps_its_promises_passes_and_is_left_as_it_was(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = instar("store", "probe", lake.as_uri(), work=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "ok    put if absent: " in done.stdout
    assert "ERROR" not in done.stdout
    assert [path for path in lake.rglob("*") if path.is_file()] == []


def test_a_store_that_can_not_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = instar("store", "probe", (tmp_path / "file" / "lake").as_uri(), work=tmp_path)
    assert done.returncode == 1
    assert "ERROR put if absent: " in done.stdout
    assert done.stderr == ""


def test_the_same_is_told_as_json(tmp_path: Path) -> None:
    done = instar("store", "probe", tmp_path.as_uri(), "--racers", "4", "--json", work=tmp_path)
    checks = json.loads(done.stdout)
    assert done.returncode == 0
    assert {"put if absent", "read after write", "list after write"} <= {check["name"] for check in checks}
    assert all(check["ok"] and check["detail"] for check in checks)


def test_an_address_that_names_no_store_is_refused(tmp_path: Path) -> None:
    done = instar("store", "probe", "hdfs://lake", work=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: 'hdfs://lake' names no store.\n  help: Use file:///")


def test_credentials_in_an_address_are_refused_and_not_shown(tmp_path: Path) -> None:
    done = instar("store", "probe", "s3://key:hunter2@bucket", work=tmp_path)
    assert done.returncode == 1
    assert "credentials" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


def test_a_race_needs_two(tmp_path: Path) -> None:
    done = instar("store", "probe", tmp_path.as_uri(), "--racers", "1", work=tmp_path)
    assert done.returncode == 2
    assert "--racers" in done.stderr
