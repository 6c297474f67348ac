"""Spark's classes, parsed once and mapped by every later driver.

A driver spends most of its start loading classes. The JVM can keep them in an archive (AppCDS); this module makes one
per Java and Spark, and hands its options to sessions that come after.
"""

import os
import subprocess
import sys
from pathlib import Path

import pyspark

from instar.config import Settings
from instar.engine.java import Java, find_java

_WARM_UP = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
frame = spark.range(100).mapInArrow(lambda batches: batches, "id long")
frame.groupBy((frame.id % 7).alias("k")).count().orderBy("k").collect()
frame.mapInArrow(lambda batches: batches, "id long", barrier=True).count()
"""


def archive_path(settings: Settings, java: Java) -> Path:
    return settings.work / "java-classes" / f"spark-{pyspark.__version__}-java-{java.version}.jsa"


def archive_options(settings: Settings, java: Java) -> str:
    """Return the driver's options that use the archive; none while there is no archive."""
    archive = archive_path(settings, java)
    return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:class+path=off" if archive.exists() else ""


def make_archive(settings: Settings, java: Java) -> Path | None:
    """Make the archive unless it is there. Takes about 20 seconds, once.

    It extends Java's own archive. A runtime that comes without one, such as the packaged one, gets none of ours either,
    and its drivers start as usual.
    """
    archive = archive_path(settings, java)
    if archive.exists():
        return archive
    if not (java.home / "lib" / "server" / "classes.jsa").exists():
        return None
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_suffix(f".{os.getpid()}")
    script = archive.with_suffix(f".{os.getpid()}.py")
    script.write_text(_WARM_UP)
    try:
        subprocess.run(
            [
                Path(sys.executable).parent / "spark-submit",
                "--master=local[2]",
                "--conf=spark.ui.enabled=false",
                f"--conf=spark.sql.warehouse.dir={(settings.work / 'warehouse').as_uri()}",
                f"--conf=spark.driver.extraJavaOptions=-XX:ArchiveClassesAtExit={draft} -Xlog:cds=off",
                script,
            ],
            env={**os.environ, "JAVA_HOME": str(java.home), "PYSPARK_PYTHON": sys.executable},
            check=True,
            capture_output=True,
            timeout=180,
        )
        draft.replace(archive)
    finally:
        script.unlink(missing_ok=True)
        draft.unlink(missing_ok=True)
    return archive


if __name__ == "__main__":
    loaded = Settings.load()
    make_archive(loaded, find_java(loaded.work))
