"""Every operation that changes a catalog, on a small lake of real parts, with what must be true however it ends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.catalog.actions import AddParts, CreateTable, RemoveParts
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import Change, commit
from instar.catalog.names import LogKind
from instar.catalog.orphans import plan_orphans, sweep
from instar.catalog.prune import plan_prune, prune
from instar.catalog.rebuild import plan_rebuild, rebuild
from instar.catalog.restore import plan_restore, restore
from instar.catalog.retire import plan_retire, retire
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.clock import UuidSource
from instar.model.part import PartFormat
from instar.parts.footer import Provenance
from instar.plan.write import WriteTask, as_updates, write_parts
from instar.storage.protocol import Store
from tests.catalog.samples import HOUR, Ticks, numbered_uuids, schema

DATABASE = "weather"
NOW = 10_000 * HOUR


def timeline(store: Store, writer: str = "w1") -> Timeline:
    return Timeline(store, writer, DATABASE)


def real_parts(store: Store, uuid: UUID, *, writer: str = "w1", origin: str = "", generation: int = 0) -> pa.Table:
    """Store a real part of one row and return its record."""
    table = schema()
    provenance = Provenance(writer, table.name, "", uuid, origin, generation, attempt=0)
    rows = pa.table({"time": pa.array([1], pa.timestamp("us")), "state": ["CA"], "degrees": [1.5]})
    return write_parts(store, as_updates(rows, 0), WriteTask(table, PartFormat.CODEC, provenance))


def commit_part(store: Store, uuids: UuidSource, clock: Ticks, writer: str = "w1", origin: str = "") -> list[str]:
    uuid = uuids()
    records = real_parts(store, uuid, writer=writer, origin=origin)
    commit(timeline(store, writer), Change(uuid, (AddParts("h2o", records),)), clock=clock)
    keys: list[str] = records["key"].to_pylist()
    return keys


def build(store: Store) -> None:
    """Fill a lake: two writers, checkpoints, a removed part, an orphan."""
    uuids, clock = numbered_uuids(5), Ticks()
    for writer in ("w1", "w2"):
        commit(timeline(store, writer), Change(uuids(), (CreateTable(schema()),)), clock=clock)
    removed = commit_part(store, uuids, clock)
    for number in range(5):
        commit_part(store, uuids, clock, origin=f"day {number}")
    commit_part(store, uuids, clock, "w2")
    commit(timeline(store), Change(uuids(), (RemoveParts("h2o", tuple(removed)),)), clock=clock)
    for revision in (3, 5, 7):
        write_checkpoint(timeline(store), timeline(store).load(revision))
    commit_part(store, uuids, clock)
    real_parts(store, uuids())  # never committed


def lose_the_log(store: Store) -> None:
    """Tear a transaction in the middle, and every checkpoint."""
    log = timeline(store)
    store.put(log.key(4, LogKind.TRANSACTION), b"torn")
    for revision in (3, 5, 7):
        store.put(log.key(revision, LogKind.CHECKPOINT), b"torn")


def contents(store: Store) -> Any:
    """Return what readers see: the live parts, or that the log can't be read."""
    view = Catalog(store).view()
    return {
        "parts": {str(name): sorted(table.parts["key"].to_pylist()) for name, table in view.tables.items()},
        "notes": view.notes,
    }


@dataclass(frozen=True)
class Scenario:
    """An operation. `run` gets a store that may fail; it is safe to repeat on one that does not."""

    run: Callable[[Store], object]
    prepare: Callable[[Store], None] = build
    readable_before: bool = True


def _commit(store: Store) -> None:
    uuid = numbered_uuids(77)()
    records = real_parts(store, uuid, origin="new", generation=1)
    commit(timeline(store), Change(uuid, (AddParts("h2o", records),)), clock=Ticks(NOW))


def _checkpoint(store: Store) -> None:
    log = timeline(store)
    write_checkpoint(log, log.load())


def _prune(store: Store) -> None:
    log = timeline(store)
    prune(log, plan_prune(log, now=NOW))


def _restore(store: Store) -> None:
    log = timeline(store)
    if log.load().revision < 10:
        restore(log, plan_restore(log, 4), clock=Ticks(NOW), uuids=numbered_uuids(78))


def _rebuild(store: Store) -> None:
    log = timeline(store)
    rebuild(log, plan_rebuild(log, lenient=True), clock=Ticks(NOW), uuids=numbered_uuids(79))


def _gc(store: Store) -> None:
    log = timeline(store)
    sweep(log, plan_orphans(log, now=2**62), clock=Ticks(NOW), uuids=numbered_uuids(80))


def _retire(store: Store) -> None:
    log, heir = timeline(store, "w2"), timeline(store)
    retire(log, heir, plan_retire(log, heir), clock=Ticks(NOW), uuids=numbered_uuids(81))


def _build_and_lose(store: Store) -> None:
    build(store)
    lose_the_log(store)


SCENARIOS = {
    "commit": Scenario(_commit),
    "checkpoint": Scenario(_checkpoint),
    "prune": Scenario(_prune),
    "restore": Scenario(_restore),
    "rebuild": Scenario(_rebuild, _build_and_lose, readable_before=False),
    "gc": Scenario(_gc),
    "retire": Scenario(_retire),
}
