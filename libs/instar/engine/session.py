"""Spark sessions: how they are configured, and how a job opens one."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from instar.config import Settings
from instar.engine.class_archive import archive_options
from instar.engine.java import Java, find_java
from instar.engine.shipping import library_zip

LOOPBACK = "127.0.0.1"


def session_conf(settings: Settings, java: Java) -> dict[str, str]:
    """Return the Spark configuration of every session that Instar starts. It holds no secret."""
    conf = {
        "spark.driver.memory": settings.driver_memory,
        "spark.executorEnv.PYTHONHASHSEED": "0",
        "spark.log.level": "WARN",
        "spark.local.dir": str(settings.work / "spark"),
        "spark.sql.warehouse.dir": (settings.work / "warehouse").as_uri(),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if options := archive_options(settings, java):
        conf["spark.driver.extraJavaOptions"] = options
    if is_local(settings.spark_master) or urlsplit(settings.spark_master).hostname in (LOOPBACK, "localhost"):
        conf |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    return conf


def session_environment(java: Java) -> dict[str, str]:
    """Return the environment that a driver needs beside its configuration."""
    return {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def open_session(name: str) -> SparkSession:
    """Open the session that the environment decides: spark-submit's, or a Spark Connect client's."""
    spark = SparkSession.builder.appName(name).getOrCreate()
    if "SPARK_REMOTE" in os.environ:
        spark.addArtifacts(str(library_zip(Settings.load())), pyfile=True)
    return spark


def start_session(name: str, settings: Settings) -> SparkSession:
    """Start a session of this process's own on the configured master, without spark-submit."""
    java = find_java(settings.work)
    os.environ.update(session_environment(java))
    builder = SparkSession.builder.appName(name).master(settings.spark_master)
    for key, value in session_conf(settings, java).items():
        builder = builder.config(key, value)
    builder = builder.config("spark.submit.pyFiles", str(library_zip(settings)))
    return builder.getOrCreate()
