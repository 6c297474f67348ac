"""Bring the files of one interval into a table."""

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from instar.engine.ingest import IngestArguments, ingest
from instar.engine.job import run_job


def run(spark: SparkSession, arguments: IngestArguments) -> dict[str, Any]:
    return ingest(spark, arguments).to_json()


def main(argv: Sequence[str]) -> int:
    return run_job("ingest", argv, IngestArguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
