"""Stage 2: compare both encodings of every live row."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.job import run_job
from instar.engine.shadow_validation import shadow_validation
from instar.engine.stage import StageArguments


def run(spark: SparkSession, arguments: StageArguments) -> dict[str, Any]:
    return shadow_validation(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("shadow_validation", argv, StageArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
