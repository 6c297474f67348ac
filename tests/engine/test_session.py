from pathlib import Path

import pytest

from instar.config import Settings
from instar.engine.class_archive import archive_path
from instar.engine.java import Java
from instar.engine.session import session_conf

JAVA = Java(Path("/java"), "17.0.1", packaged=False)
OPTIONS = "spark.driver.extraJavaOptions"


def test_a_driver_without_a_class_archive_has_no_java_options(tmp_path: Path) -> None:
    assert OPTIONS not in session_conf(Settings(work_dir=tmp_path), JAVA)


def test_a_driver_uses_the_class_archive_that_is_there(tmp_path: Path) -> None:
    settings = Settings(work_dir=tmp_path)
    archive = archive_path(settings, JAVA)
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in session_conf(settings, JAVA)[OPTIONS]


def test_no_key_is_empty(tmp_path: Path) -> None:
    assert all(session_conf(Settings(work_dir=tmp_path), JAVA).values())


@pytest.mark.parametrize(
    ("master", "loopback"),
    [
        ("local", True),
        ("local[*]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://master:7077", False),
    ],
)
def test_a_driver_listens_on_this_machine_only_where_nobody_else_needs_it(
    tmp_path: Path, master: str, *, loopback: bool
) -> None:
    conf = session_conf(Settings(work_dir=tmp_path, spark_master=master), JAVA)
    expected = "127.0.0.1" if loopback else None
    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == expected
