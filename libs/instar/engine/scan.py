"""A scan as a Spark DataFrame: planned on the driver, read and merged by executors."""

import pickle
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from instar.engine.types import spark_fields, to_spark_form
from instar.plan.groups import split
from instar.plan.observation import log_observation
from instar.plan.read import answer
from instar.plan.scan import ScanPlan
from instar.storage.config import StoreConfig, open_store


def scan_to_spark(spark: SparkSession, config: StoreConfig, plan: ScanPlan) -> DataFrame:
    """Return the plan's answer as a DataFrame: a task per group of parts that share keys, none for skipped parts."""
    pieces = [(place, pickle.dumps(piece)) for place, piece in enumerate(split(plan)) if piece.keep.any()]
    fields = spark_fields(plan.columns)
    if not pieces:
        return spark.createDataFrame([], fields)
    columns = plan.columns

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        store = open_store(config)
        for batch in batches:
            for piece in batch["plan"]:
                rows = answer(store, pickle.loads(piece.as_py()), log_observation)  # noqa: S301 - our own driver's
                yield from to_spark_form(rows, columns).to_batches()

    frame = spark.createDataFrame(pieces, "place int, plan binary").repartition(len(pieces), "place")
    return frame.mapInArrow(read, fields)
