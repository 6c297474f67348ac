"""Examine the driver, every executor and the store; report findings."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.doctor import Examination, examine
from instar.engine.job import run_job
from instar.storage.config import StoreConfig


@dataclass(frozen=True)
class Arguments:
    store: StoreConfig
    executors: int
    racers: int = 32


def run(spark: SparkSession, arguments: Arguments) -> list[dict[str, Any]]:
    wanted = Examination(arguments.store, arguments.executors, arguments.racers)
    return [finding.to_json() for finding in examine(spark, wanted)]


def main(argv: Sequence[str]) -> int:
    return run_job("doctor", argv, Arguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
