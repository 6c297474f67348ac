import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2  # type: ignore[import-untyped]
import pytest

from instar.orchestrate.postgres import start_postgres, stop_postgres

URL = "postgresql+psycopg2://"


def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    connection = psycopg2.connect(url.replace(URL, "postgresql://", 1))
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


@pytest.fixture
def checkouts() -> Iterator[Path]:
    """Return a folder that a server of another user can reach: one of pytest's is closed when the next run starts."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_two_checkouts_have_databases_of_their_own_and_one_outlives_the_other(checkouts: Path) -> None:
    folders = [checkouts / name for name in ("first", "second")]
    try:
        first, second = map(start_postgres, folders)
        assert first != second
        ask(first, "create table mine (x int)")
        assert ask(second, "select to_regclass('mine')") == [(None,)]
        stop_postgres(folders[0])
        with pytest.raises(psycopg2.OperationalError):
            ask(first, "select 1")
        assert ask(second, "select 1") == [(1,)]
        assert start_postgres(folders[0]) == first
        assert ask(first, "select to_regclass('mine')") == [("mine",)]
    finally:
        for folder in folders:
            stop_postgres(folder)


def test_stopping_what_never_ran_makes_nothing(tmp_path: Path) -> None:
    stop_postgres(tmp_path / "postgres")
    assert list(tmp_path.iterdir()) == []
