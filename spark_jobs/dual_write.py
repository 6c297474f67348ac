"""Stage 1: give every live row both encodings."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.dual_write import dual_write
from instar.engine.job import run_job
from instar.engine.stage import StageArguments


def run(spark: SparkSession, arguments: StageArguments) -> dict[str, Any]:
    return dual_write(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("dual_write", argv, StageArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
