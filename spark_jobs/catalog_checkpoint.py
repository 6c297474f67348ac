"""Stage 5: checkpoint the catalog and hold it against its log."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.catalog_checkpoint import catalog_checkpoint
from instar.engine.job import run_job
from instar.engine.stage import StageArguments


def run(spark: SparkSession, arguments: StageArguments) -> dict[str, Any]:
    return catalog_checkpoint(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("catalog_checkpoint", argv, StageArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
