"""Stage 4: bring all parts into structured files."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.compaction import compaction
from instar.engine.job import run_job
from instar.engine.stage import StageArguments


def run(spark: SparkSession, arguments: StageArguments) -> dict[str, Any]:
    return compaction(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("compaction", argv, StageArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
