"""Stage 6: find the files that no revision names; then, given the plan, delete them."""

import json
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from instar.catalog.names import data_prefix
from instar.catalog.orphans import OrphanPlan, plan_orphans, sweep
from instar.catalog.timeline import Timeline
from instar.clock import random_uuid, system_clock
from instar.engine.stage import StageReport, Watched
from instar.engine.tasks import run_tasks
from instar.parts.names import escape_name
from instar.plan.root import Root
from instar.storage.config import StoreConfig, open_store

_MICROS = 1_000_000
_PLANS = "_instar/orphan-plans"


@dataclass(frozen=True)
class OrphanArguments:
    store: StoreConfig
    table: str
    grace_seconds: int
    plan: str = ""
    """Where a run before has stored its plan, which a gate has seen since: what to delete. Without it, only plan."""


@dataclass(frozen=True)
class _Search:
    store: StoreConfig
    writer: str
    database: str
    grace_micros: int


@dataclass(frozen=True)
class _Sweep:
    store: StoreConfig
    plan: OrphanPlan


def orphan_gc(spark: SparkSession, arguments: OrphanArguments) -> StageReport:
    """Plan for every timeline that holds the table, or sweep what a plan names."""
    watched = Watched(Root(arguments.store), arguments.table)
    store = watched.root.store
    if arguments.plan:
        plans = [OrphanPlan.from_json(plan) for plan in json.loads(store.get(arguments.plan))]
        evidence = run_tasks(spark, _sweep, [_Sweep(arguments.store, plan) for plan in plans])
        summary: dict[str, Any] = {"deleted": sum(row["deleted"] for row in evidence)}
    else:
        grace = arguments.grace_seconds * _MICROS
        places = [_Search(arguments.store, writer, watched.name.database, grace) for writer in watched.writers]
        made = run_tasks(spark, _plan, places)
        evidence = [row for row, _ in made]
        key = f"{_PLANS}/{escape_name(watched.name.database)}/{watched.root.uuids()}.json"
        store.put(key, json.dumps([plan.to_json() for _, plan in made]).encode())
        summary = {"orphans": sum(row["orphans"] for row in evidence), "plan": key}
    return StageReport(evidence, watched.start.vector, watched.landed(), summary)


def _plan(piece: _Search, attempt: int) -> tuple[dict[str, Any], OrphanPlan]:  # noqa: ARG001 - nothing is stored
    timeline = Timeline(open_store(piece.store), piece.writer, piece.database)
    plan = plan_orphans(timeline, now=system_clock(), grace=piece.grace_micros)
    live = timeline.load().live_keys()
    row = {
        "timeline": f"{piece.writer}/{piece.database}",
        "files": plan.files,
        "orphans": len(plan.orphans),
        "referenced_orphans": sum(orphan.key in live for orphan in plan.orphans),
        "bytes": plan.bytes,
    }
    return row, plan


def _sweep(piece: _Sweep, attempt: int) -> dict[str, Any]:  # noqa: ARG001 - a sweep again finds less to do
    timeline = Timeline(open_store(piece.store), piece.plan.writer, piece.plan.database)
    result = sweep(timeline, piece.plan, clock=system_clock, uuids=random_uuid)
    live = timeline.load().live_keys()
    there = {info.key for info in timeline.store.list(data_prefix(timeline.writer, timeline.database))}
    return {
        "timeline": f"{timeline.writer}/{timeline.database}",
        "live_parts": len(live),
        "missing": len(live - there),
        "deleted": len(result.deleted),
        "survivors": len(result.survivors),
    }
