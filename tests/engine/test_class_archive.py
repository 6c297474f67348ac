"""The archive of Spark's classes: made where Java can, used where it is there."""

from pathlib import Path

import pytest

from instar.config import Settings
from instar.engine.class_archive import archive_options, archive_path, make_archive
from instar.engine.java import find_java


def test_the_packaged_java_starts_spark_without_an_archive(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    packaged = find_java(settings.work, {})
    assert packaged.packaged
    assert make_archive(settings, packaged) is None
    assert archive_options(settings, packaged) == ""


@pytest.mark.spark
def test_an_archive_is_made_once_and_then_used(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    java = find_java(settings.work)
    if java.packaged:
        pytest.skip("Only a full Java can extend its archive.")
    made = make_archive(settings, java)
    assert made == archive_path(settings, java)
    assert str(made) in archive_options(settings, java)
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    before = made.stat().st_mtime_ns
    assert make_archive(settings, java) == made
    assert made.stat().st_mtime_ns == before
