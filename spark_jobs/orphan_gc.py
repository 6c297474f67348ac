"""Stage 6: find the files that no revision names, or delete what a plan names."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.job import run_job
from instar.engine.orphan_gc import OrphanArguments, orphan_gc


def run(spark: SparkSession, arguments: OrphanArguments) -> dict[str, Any]:
    return orphan_gc(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("orphan_gc", argv, OrphanArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
