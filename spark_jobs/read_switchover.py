"""Stage 3: answer the recorded queries on both paths."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.job import run_job
from instar.engine.read_switchover import read_switchover
from instar.engine.stage import StageArguments


def run(spark: SparkSession, arguments: StageArguments) -> dict[str, Any]:
    return read_switchover(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("read_switchover", argv, StageArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
