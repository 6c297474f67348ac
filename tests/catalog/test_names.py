from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from instar.model.schema import TableName
from instar.parts.footer import Provenance
from instar.parts.names import escape_name, part_key


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
