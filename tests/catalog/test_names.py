from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog.actions import CreateTable
from instar.catalog.commit import Change, commit
from instar.catalog.names import (
    LogKind,
    LogName,
    data_prefix,
    log_key,
    log_prefix,
    parse_log_name,
    parse_name,
    part_transaction,
)
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.model.schema import TableName
from instar.parts.footer import Provenance
from instar.parts.names import escape_name, part_key
from instar.storage.local import LocalStore
from tests.catalog.samples import Ticks, schema


@given(st.integers(0, 10**20 - 1), st.sampled_from(LogKind))
def test_names_of_the_log_parse_back(revision: int, kind: LogKind) -> None:
    key = log_key("w", "d", revision, kind)
    assert parse_log_name(key.removeprefix(log_prefix("w", "d"))) == LogName(revision, kind)


def test_the_log_sorts_by_revision() -> None:
    keys = [log_key("w", "d", revision, LogKind.TRANSACTION) for revision in (1, 9, 10, 99, 100, 10**19)]
    assert keys == sorted(keys)
    assert keys[0] == "w/d/transactions/00000000000000000001.transaction"


@pytest.mark.parametrize(
    "name",
    ["1.transaction", "00000000000000000001.transaction.tmp", "x00000000000000000001.transaction", "README", "a/b"],
)
def test_other_objects_are_no_part_of_the_log(name: str) -> None:
    assert parse_log_name(name) is None


def test_a_folder_that_is_no_escaped_name_is_nobodys() -> None:
    assert parse_name(escape_name("a b/ü")) == "a b/ü"
    assert parse_name("%FF") is None
    assert parse_name("a b") is None


def test_a_parts_name_tells_its_transaction() -> None:
    uuid = UUID("12345678-1234-4234-8234-123456789abc")
    key = part_key(Provenance("w 1", TableName("d", "h2o"), "2026-01", uuid, "", 0, attempt=3), 12)
    assert part_transaction(key.removeprefix(data_prefix("w 1", "d"))) == uuid


@pytest.mark.parametrize(
    "name",
    [
        "-/h2o/notes.parquet",
        "-/h2o/12345678-1234-4234-8234-123456789abc.parquet",
        "12345678-1234-4234-8234-123456789abc-0-00000.parquet",
        "-/h2o/12345678-1234-4234-8234-123456789abc-0-00000.parquet.tmp",
    ],
)
def test_other_files_have_no_transaction(name: str) -> None:
    assert part_transaction(name) is None


HOSTILE = ["a/b", "..", ".", "a\0b", "a b", "Zürich", "Zu\u0308rich", "%2F", "-", "", "a\\b", "x" * 60, "CON", "\n"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_writer_or_table_escapes_its_namespace(name: str, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "lake")
    neighbour = Timeline(store, "neighbour", "weather")
    commit(neighbour, Change(uuid4(), (CreateTable(schema()),)), clock=Ticks())
    timeline = Timeline(store, name, "weather")
    commit(timeline, Change(uuid4(), (CreateTable(schema(name or "x")),)), clock=Ticks())
    assert set(timeline.load().tables) == {name or "x"}
    assert set(neighbour.load().tables) == {"h2o"}
    folder = tmp_path / "lake"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert all(path.relative_to(folder).parts[1:3] == ("weather", "transactions") for path in files)
    assert {place.writer for place in Catalog(store).timelines()} == {"neighbour", name}
