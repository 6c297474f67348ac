"""A Spark job that fails or hangs."""

import sys
import time
from dataclasses import dataclass

from pyspark.sql import SparkSession

from instar.engine.job import run_job
from instar.errors import InstarError


@dataclass(frozen=True)
class Arguments:
    how: str


def run(spark: SparkSession, arguments: Arguments) -> None:
    print(f"misbehaving: {arguments.how}", flush=True)
    if arguments.how == "fail":
        raise InstarError("The moon is in the wrong phase.", help="Wait a week.")
    time.sleep(600)


if __name__ == "__main__":
    sys.exit(run_job("misbehave", sys.argv[1:], Arguments, run))
