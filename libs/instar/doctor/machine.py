"""Examine the machine and the interpreter that this code runs in: on the driver, and inside every executor."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from instar.doctor.finding import Area, Finding, Level

GIB = 2**30
LEAST_DISK = 5 * GIB
LEAST_MEMORY = 2 * GIB
PACKAGES = ("pyspark", "pyarrow", "pandas", "protobuf", "boto3", "sqlglot")
"""What executors import. The driver needs the orchestration on top."""
DRIVER_PACKAGES = (*PACKAGES, "apache-airflow", "apache-airflow-providers-apache-spark", "great-expectations")
UNWANTED = "pyspark-client"


def installed(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the packages that are installed here."""
    found = {"python": ".".join(map(str, sys.version_info[:2]))}
    for name in (*names, UNWANTED):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def examine_packages(area: Area, where: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the versions found in one place with those that are wanted there."""
    wrong = [f"{name} {found.get(name, 'missing')}" for name, pin in wanted.items() if found.get(name) != pin]
    pins = ", ".join(f"{name} {wanted[name]}" for name in wanted if found.get(name) != wanted[name])
    yield Finding(
        area,
        where,
        "packages",
        Level.ERROR if wrong else Level.OK,
        ", ".join(wrong) or f"{len(wanted)} packages as wanted",
        "Every side of a job runs the same code.",
        f"Install there what requirements.txt pins: {pins}." if wrong else "",
    )
    if UNWANTED in found:
        yield Finding(
            area,
            where,
            UNWANTED,
            Level.ERROR,
            found[UNWANTED],
            "It writes its own files into the pyspark folder and breaks Spark.",
            f"Uninstall {UNWANTED}, then reinstall pyspark.",
        )


def examine_resources(area: Area, where: str, folder: Path) -> Iterator[Finding]:
    """Look at free disk space and memory."""
    disk = shutil.disk_usage(folder).free
    yield _amount(area, where, "disk", disk, LEAST_DISK, f"Room for temporary files below {folder}.")
    memory = psutil.virtual_memory().available
    yield _amount(area, where, "memory", memory, LEAST_MEMORY, "Room for a driver, its workers and Airflow.")


def _amount(area: Area, where: str, check: str, found: int, least: int, meaning: str) -> Finding:
    level = Level.OK if found >= least else Level.WARNING
    remedy = "" if level is Level.OK else f"Free some: {least / GIB:.0f} GiB are advised."
    return Finding(area, where, check, level, f"{found / GIB:.1f} GiB free", meaning, remedy)
