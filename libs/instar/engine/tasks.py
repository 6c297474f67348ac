"""Spread work over executors, one piece per task."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")

_RESULT = pa.schema([pa.field("place", pa.int32()), pa.field("result", pa.binary())])


def run_tasks(spark: SparkSession, work: Callable[[I, int], R], items: Sequence[I]) -> list[R]:
    """Return the result of `work` for each item, in order; each runs in a task of its own.

    `work` gets the item and the number of the task's attempt, for what it stores must not collide with what an attempt
    before it stored. Only what successful attempts returned comes back.
    """
    if not items:
        return []
    pieces = [(place, pickle.dumps(item)) for place, item in enumerate(items)]
    # Not by a hash of the place, which would give some tasks several.
    frame = spark.createDataFrame(pieces, "place int, item binary").repartitionById(len(items), "place")

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place, item in zip(batch["place"], batch["item"], strict=True):
                result = work(pickle.loads(item.as_py()), attempt_number())  # noqa: S301 - our own driver's
                yield pa.RecordBatch.from_arrays(
                    [pa.array([place.as_py()], pa.int32()), pa.array([pickle.dumps(result)], pa.binary())],
                    schema=_RESULT,
                )

    done = frame.mapInArrow(each, "place int, result binary").collect()
    return [pickle.loads(row.result) for row in sorted(done, key=lambda row: row.place)]  # noqa: S301 - our own tasks'


def attempt_number() -> int:
    """Return which attempt of its task this process runs, counted from 0."""
    context = TaskContext.get()
    return context.attemptNumber() if context is not None else 0


def partition_number() -> int:
    """Return the number of the partition that this process works on."""
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0
