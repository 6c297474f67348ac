"""The smallest job that uses all that a job has: a session, Python workers, the shipped library, a report."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from instar.doctor.finding import Area, Level
from instar.engine.job import run_job


@dataclass(frozen=True)
class Arguments:
    rows: int = 1_000


def run(spark: SparkSession, arguments: Arguments) -> list[dict[str, str]]:
    """Count rows in Python workers, and say so in every area that the doctor's gate asks for."""
    rows = spark.range(arguments.rows).mapInArrow(_count, "rows long, library string").collect()
    library = {row.library for row in rows}
    found = f"{sum(row.rows for row in rows)} rows, library {', '.join(sorted(library))}"
    return [{"area": area, "level": Level.OK, "where": "worker", "check": "smallest", "found": found} for area in Area]


def _count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import instar

    shipped = "shipped" if ".zip" in str(instar.__file__) else "installed"
    yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)], "library": [shipped]})


def main(argv: Sequence[str]) -> int:
    return run_job("smallest", argv, Arguments, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
