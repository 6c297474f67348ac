import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.schema import TableName
from instar.parts.footer import Provenance
from instar.parts.names import escape_name, part_key, unescape_name
from instar.storage.keys import check_key

awkward = st.sampled_from(["", "-", "%", "%2D", ".", "..", "/", "a/../b", "a b", "\x00", "é", "%2d"]) | st.text(
    max_size=20
)


@given(awkward)
def test_an_escaped_name_is_one_plain_segment_and_comes_back(name: str) -> None:
    segment = escape_name(name)
    assert re.fullmatch(r"(?:[A-Za-z0-9_-]|%[0-9A-F]{2})+", segment)
    assert unescape_name(segment) == name


@given(awkward, awkward)
def test_different_names_never_meet(one: str, other: str) -> None:
    assert (escape_name(one) == escape_name(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "segment"),
    [
        ("h2o_2026-01", "h2o_2026-01"),
        ("", "-"),
        ("-", "%2D"),
        ("..", "%2E%2E"),
        ("a/b", "a%2Fb"),
        ("é", "%C3%A9"),
        ("d=1", "d%3D1"),
    ],
)
def test_escapes_stay_as_they_are(name: str, segment: str) -> None:
    assert escape_name(name) == segment


def key(
    writer: str = "w",
    database: str = "db",
    table: str = "t",
    partition: str = "",
    *,
    attempt: int = 1,
    ordinal: int = 0,
) -> str:
    return part_key(Provenance(writer, TableName(database, table), partition, UUID(int=7), "o", 1, attempt), ordinal)


def test_a_part_is_named_after_its_transaction_attempt_and_ordinal() -> None:
    assert key(attempt=3, ordinal=12) == "w/db/data/-/t/00000000-0000-0000-0000-000000000007-3-00012.parquet"


@given(awkward, awkward.filter(lambda name: name and "." not in name), awkward.filter(bool), awkward)
def test_any_names_make_a_key_that_stores_take_and_that_has_its_five_folders(
    writer: str, database: str, table: str, partition: str
) -> None:
    made = key(writer, database, table, partition)
    assert check_key(made) == made
    folders = made.split("/")[:-1]
    assert [unescape_name(folder) for folder in folders] == [writer, database, "data", partition, table]
