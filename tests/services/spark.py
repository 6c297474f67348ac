"""A real Spark session of the tests' own process."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from instar.config import Settings
from instar.engine.session import start_session
from tests.services.airflow import lay_out_home


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Run Spark once for all tests that need a session here."""
    settings: Settings = lay_out_home(tmp_path_factory.mktemp("spark"))
    session = start_session("tests", settings)
    try:
        yield session
    finally:
        session.stop()
