"""Stage 3: answer the recorded queries on the old path and on the new one."""

import time
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from instar.engine.stage import StageArguments, StageReport, Watched
from instar.engine.tasks import run_tasks
from instar.flags import Flags, Pushdown, ReadFormat
from instar.plan.observation import log_observation
from instar.plan.queries import Query, recorded_queries
from instar.plan.read import answer, differing_rows
from instar.plan.root import Root
from instar.plan.scan import ScanPlan, plan_scan
from instar.storage.config import StoreConfig, open_store
from instar.storage.protocol import Store

OLD = Flags(read_format=ReadFormat.CODEC, pushdown=Pushdown.OFF)
NEW = Flags(read_format=ReadFormat.STRUCTURED, pushdown=Pushdown.ON)
_ROUNDS = 5
"""Each path is timed this many times, in turn, and its best counts."""


@dataclass(frozen=True)
class _Piece:
    store: StoreConfig
    plan: ScanPlan


@dataclass(frozen=True)
class _Trial:
    """One query on both paths."""

    rows_old: int
    rows_new: int
    differing: int
    seconds_old: float
    seconds_new: float


def read_switchover(spark: SparkSession, arguments: StageArguments) -> StageReport:
    """Compare the answers to every recorded query, and the times, at one revision vector."""
    watched = Watched(Root(arguments.store), arguments.table)
    view = watched.start
    state = view.table(watched.name)
    queries = list(recorded_queries(watched.root.store, watched.name))
    plans = [
        plan_scan(state.schema, state.parts, NEW, view.vector, where=query.where, columns=query.columns)
        for query in queries
    ]
    trials = run_tasks(spark, _try, [_Piece(arguments.store, plan) for plan in plans])
    old, new = sum(trial.seconds_old for trial in trials), sum(trial.seconds_new for trial in trials)
    slowdown = new / old if old else None
    summary = {
        "queries": len(queries),
        "seconds_codec": old,
        "seconds_structured": new,
        "parts_planned": sum(plan.parts.num_rows for plan in plans),
        "parts_skipped": sum(plan.skipped.num_rows for plan in plans),
    }
    evidence = [_row(query, trial, slowdown) for query, trial in zip(queries, trials, strict=True)]
    return StageReport(evidence, view.vector, watched.landed(), summary)


def _try(piece: _Piece, attempt: int) -> _Trial:  # noqa: ARG001 - nothing is stored
    store, old_plan = open_store(piece.store), piece.plan.under(OLD)
    times_old, times_new = [], []
    for _ in range(_ROUNDS):
        old, seconds = _timed(store, old_plan)
        times_old.append(seconds)
        new, seconds = _timed(store, piece.plan)
        times_new.append(seconds)
    return _Trial(old.num_rows, new.num_rows, differing_rows(old, new), min(times_old), min(times_new))


def _timed(store: Store, plan: ScanPlan) -> tuple[pa.Table, float]:
    started = time.perf_counter()
    rows = answer(store, plan, log_observation)
    return rows, time.perf_counter() - started


def _row(query: Query, trial: _Trial, slowdown: float | None) -> dict[str, Any]:
    return {
        "query": f"{', '.join(query.columns)} where {query.where or 'true'}",
        "rows_codec": trial.rows_old,
        "rows_structured": trial.rows_new,
        "differing": trial.differing,
        "seconds_codec": trial.seconds_old,
        "seconds_structured": trial.seconds_new,
        "slowdown": slowdown,
    }
