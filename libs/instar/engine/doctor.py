"""Examine a Spark session: its driver, and every executor from the inside."""

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
from pyspark.sql import SparkSession

from instar.config import Settings
from instar.doctor.finding import Area, Finding, Level
from instar.doctor.machine import DRIVER_PACKAGES, PACKAGES, examine_packages, examine_resources, installed
from instar.doctor.store import examine_access, examine_promises
from instar.engine.java import OLDEST, Java, find_java
from instar.errors import InstarError
from instar.storage.config import StoreConfig

SKEW_SECONDS = 1.0
REGISTER_SECONDS = 60.0


@dataclass(frozen=True)
class Examination:
    """What to examine: the store, how many executors should answer, how many racers put."""

    store: StoreConfig
    executors: int
    racers: int = 32


def examine(spark: SparkSession, wanted: Examination) -> list[Finding]:
    """Return the findings of the driver, the store and every executor."""
    settings = Settings.load()
    return [
        *examine_driver(spark, settings),
        *_guarded(Area.STORE, wanted.store.uri, examine_promises(wanted.store, wanted.racers)),
        *examine_executors(spark, wanted),
    ]


def examine_driver(spark: SparkSession, settings: Settings) -> Iterator[Finding]:
    where = socket.gethostname()
    yield _java_finding(where, find_java(settings.work))
    yield Finding(Area.DRIVER, where, "spark", Level.OK, spark.version, "A session started and answers.")
    found = installed(DRIVER_PACKAGES)
    yield from examine_packages(Area.DRIVER, where, _pinned(settings, found), found)
    yield from examine_resources(Area.DRIVER, where, settings.work)


def examine_executors(spark: SparkSession, wanted: Examination) -> Iterator[Finding]:
    """Ask every executor. Fewer than were expected is an error."""
    slots = _wait_for_slots(spark, wanted.executors)
    answers = _ask(spark, wanted.store, slots)
    count = len(answers)
    level = Level.OK if count >= wanted.executors else Level.ERROR
    yield Finding(
        Area.EXECUTOR,
        str(spark.conf.get("spark.master")),
        "executors",
        level,
        f"{count} of {wanted.executors} answered",
        "Every executor that jobs may land on was examined.",
        "" if level is Level.OK else "Start the missing workers, or set INSTAR_SPARK_EXECUTORS to what there is.",
    )
    expected = installed(PACKAGES)
    for answer in answers.values():
        where = answer["where"]
        yield from examine_packages(Area.EXECUTOR, where, expected, answer["packages"])
        yield _skew_finding(where, answer)
        yield from (Finding.from_json(finding) for finding in answer["findings"])


def _wait_for_slots(spark: SparkSession, executors: int) -> int:
    """Return how many tasks run at once, after the expected executors have had time to register."""
    context = spark.sparkContext
    tracker = context._jsc.sc().statusTracker()  # noqa: SLF001 - PySpark has no other way
    local = (context.master or "").startswith("local")
    deadline = time.monotonic() + REGISTER_SECONDS
    # The tracker counts the driver as one of them.
    while not local and len(tracker.getExecutorInfos()) - 1 < executors and time.monotonic() < deadline:
        time.sleep(0.2)
    return int(context.defaultParallelism)


def _ask(spark: SparkSession, store: StoreConfig, slots: int) -> dict[str, Mapping[str, Any]]:
    """Run one task in every slot at once, so that no executor is left out, and keep one answer per executor."""

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        asked = [asked for batch in batches for asked in batch.column("asked").to_pylist()]
        yield pa.RecordBatch.from_pydict({"answer": [json.dumps(_answer(store, max(asked, default=0.0)))]})

    asked = spark.createDataFrame([(time.time(),)] * slots, "asked double").repartition(slots)
    rows = asked.mapInArrow(answer, "answer string", barrier=True).collect()
    received = time.time()
    answers = (json.loads(row.answer) for row in rows)
    return {answer["executor"]: {**answer, "received": received} for answer in answers}


def _answer(store: StoreConfig, asked: float) -> dict[str, Any]:
    """Examine the executor that this runs in."""
    executor = _executor_id()
    found = examine_access(Area.EXECUTOR, executor, store, f"{executor}-{os.getpid()}")
    return {
        "executor": executor,
        "where": executor,
        "packages": installed(PACKAGES),
        "asked": asked,
        "now": time.time(),
        "findings": [found.to_json(), *(f.to_json() for f in examine_resources(Area.EXECUTOR, executor, Path.cwd()))],
    }


def _executor_id() -> str:
    """Return the host and the JVM that this Python worker serves: no two executors share them."""
    for process in psutil.Process().parents():
        if process.name() == "java":
            return f"{socket.gethostname()}:{process.pid}"
    raise InstarError("A Python worker was not started by a JVM.", help="Run the doctor as a Spark job.")


def _skew_finding(where: str, answer: Mapping[str, Any]) -> Finding:
    """Bound the difference of clocks: the executor's time lies between the question and the answer."""
    asked, now, received = answer["asked"], answer["now"], answer["received"]
    skew = max(asked - now, now - received, 0.0) if asked else max(now - received, 0.0)
    level = Level.OK if skew <= SKEW_SECONDS else Level.WARNING
    return Finding(
        Area.EXECUTOR,
        where,
        "clock",
        level,
        f"off by at least {skew:.1f} s" if skew else "agrees with the driver's",
        "Grace periods and histories are read by people; safety never rests on clocks.",
        "" if level is Level.OK else "Synchronise the machine's clock.",
    )


def _java_finding(where: str, java: Java) -> Finding:
    kind = "packaged" if java.packaged else str(java.home)
    level = Level.OK if java.major >= OLDEST else Level.ERROR
    return Finding(Area.DRIVER, where, "java", level, f"{java.version} ({kind})", "Spark runs on it.")


def _pinned(settings: Settings, found: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that requirements.txt pins, of the packages that a driver needs."""
    requirements = settings.home / "requirements.txt"
    pins = dict(
        line.split(";")[0].strip().split("==") for line in requirements.read_text().splitlines() if "==" in line
    )
    return {name: pins[name] for name in DRIVER_PACKAGES} | {"python": found["python"]}


def _guarded(area: Area, where: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Turn a failure to examine into a finding."""
    try:
        yield from findings
    except InstarError as error:
        yield Finding(area, where, "access", Level.ERROR, str(error), "The lake lives there.", error.help)
