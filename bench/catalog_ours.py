"""Instar's side of the catalog benchmark. Each call is a process of its own and prints one JSON object."""

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.compute as pc

from bench.catalog_list import asked_range, column_types, part_list
from instar.catalog.actions import AddParts, CreateTable
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import Change, commit
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.clock import random_uuid, system_clock
from instar.flags import Flags, Pushdown
from instar.model.part import PART_FIELDS
from instar.model.schema import TableName, TableSchema
from instar.plan.scan import plan_scan
from instar.storage.local import LocalStore

NAME = TableName("bench", "parts")


def schema() -> TableSchema:
    numbers = iter(range(1, 1_000))
    return TableSchema.create(str(NAME), column_types(), ids=lambda: next(numbers))


def records(listed: pa.Table, uuid: UUID, first: int = 0) -> pa.Table:
    """Return the list as the catalog's records of parts."""
    count = listed.num_rows
    fixed: dict[str, Any] = {
        "key": pa.array([f"w/bench/data/-/parts/{uuid}-0-{first + n:05d}.parquet" for n in range(count)]),
        "format": "structured", "rows": listed["rows"], "bytes": listed["bytes"], "codec_bytes": 0, "first_t": 0,
        "last_t": 0, "partition": "", "origin": "", "generation": 0, "attempt": 0, "transaction": str(uuid),
        "batch_version": 1, "has_deletes": False,
    }  # fmt: skip
    arrays = [
        pa.array([value] * count, field.type) if isinstance(value, str | int) else value.cast(field.type)
        for field, value in ((field, fixed[field.name]) for field in PART_FIELDS)
    ]
    table = pa.Table.from_arrays(arrays, schema=PART_FIELDS)
    for number, column in enumerate(column_types(), start=1):
        for statistic in ("lower", "upper", "nulls"):
            table = table.append_column(f"{number}.{statistic}", listed[f"{column}.{statistic}"])
    return table.combine_chunks()


def timeline(root: str, *, durable: bool = True) -> Timeline:
    return Timeline(LocalStore(Path(root), durable=durable), "w", NAME.database)


def build(root: str, count: int) -> dict[str, Any]:
    log = timeline(root, durable=False)
    commit(log, Change(random_uuid(), (CreateTable(schema()),)), clock=system_clock)
    listed = part_list(count)
    for start in range(0, count, 10_000):
        uuid = uuid4()
        rows = records(listed.slice(start, 10_000), uuid, start)
        commit(log, Change(uuid, (AddParts("parts", rows),)), clock=system_clock)
    if count:
        write_checkpoint(log, log.load())
    return {}


def cold_open(root: str, count: int) -> dict[str, Any]:
    started = time.perf_counter()
    view = Catalog(LocalStore(Path(root))).view()
    table = view.table(NAME)
    opened = time.perf_counter() - started
    lower, upper = asked_range(count)
    question = f"c0 >= {lower} and c0 < {upper}"
    plan = plan_scan(table.schema, table.parts, Flags(pushdown=Pushdown.ON), view.vector, where=question)
    kept = plan.kept
    planned = time.perf_counter() - started
    sizes = int(pc.sum(kept["bytes"]).as_py())
    return {"open": opened, "plan": planned, "parts": table.parts.num_rows, "kept": [kept.num_rows, sizes]}


def memory(root: str, count: int) -> dict[str, Any]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = cold_open(root, count)["open"]
    return {"open": seconds, "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def refresh(root: str, commits: int) -> dict[str, Any]:
    reader, writer = timeline(root), timeline(root, durable=False)
    old = reader.load()
    _commit_parts(writer, commits)
    started = time.perf_counter()
    new = reader.refresh(old)
    seconds = time.perf_counter() - started
    if len(new.table("parts").part_set) != len(old.table("parts").part_set) + commits:
        raise SystemExit("The refresh lost parts.")
    return {"refresh": seconds}


def commits(root: str, count: int, durable: str) -> dict[str, Any]:
    build(root, 0)
    each = _commit_parts(timeline(root, durable=durable == "durable"), count)
    parts = timeline(root).load().table("parts").parts.num_rows
    return {"each": each, "parts": parts}


def _commit_parts(log: Timeline, count: int) -> list[float]:
    listed = part_list(count)
    each = []
    for number in range(count):
        uuid = uuid4()
        row = records(listed.slice(number, 1), uuid, number)
        started = time.perf_counter()
        done = commit(log, Change(uuid, (AddParts("parts", row),)), clock=system_clock)
        if done.due.checkpoint:
            write_checkpoint(log, done.snapshot)
        each.append(time.perf_counter() - started)
    return each


class SlowStore(LocalStore):
    """A local store with the latency of a remote one, which counts the puts that lost."""

    puts = 0

    def put_if_absent(self, key: str, data: bytes) -> None:
        time.sleep(0.02)
        self.puts += 1
        super().put_if_absent(key, data)


def _contend(root: str, each: int) -> int:
    store = SlowStore(Path(root), durable=False)
    log = Timeline(store, "w", NAME.database)
    listed = part_list(each)
    for number in range(each):
        uuid = uuid4()
        row = records(listed.slice(number, 1), uuid, number)
        commit(log, Change(uuid, (AddParts("parts", row),)), clock=system_clock)
    return store.puts - each


def contend(root: str, processes: int, each: int) -> dict[str, Any]:
    build(root, 0)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(_contend, [(root, 0)] * processes)  # start them all first
        started = time.perf_counter()
        retries = sum(pool.starmap(_contend, [(root, each)] * processes, chunksize=1))
        seconds = time.perf_counter() - started
    parts = timeline(root).load().table("parts").parts.num_rows
    return {"seconds": seconds, "retries": retries, "parts": parts}


CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    call.__name__: call for call in (build, cold_open, memory, refresh, commits, contend)
}

if __name__ == "__main__":
    arguments = [int(of) if of.isdigit() else of for of in sys.argv[2:]]
    print(json.dumps(CALLS[sys.argv[1]](*arguments)))
