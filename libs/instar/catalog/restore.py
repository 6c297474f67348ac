"""Restore: make an old revision the newest again. Planned first, with what it undoes; then committed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from instar.catalog.actions import Reset, ResetReason
from instar.catalog.commit import Change, Committed, commit
from instar.catalog.names import LogKind, data_prefix
from instar.catalog.preconditions import HeadIs
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import DamagedTransaction, Timeline
from instar.clock import Clock, UuidSource
from instar.errors import InstarError


class CannotRestore(InstarError):
    """A revision that can't be made the newest again."""


@dataclass(frozen=True)
class Undone:
    """A revision that the restore takes back."""

    revision: int
    uuid: UUID
    commit_time: int


@dataclass(frozen=True)
class RestorePlan:
    """What a restore would do, as seen at `head`."""

    writer: str
    database: str
    head: Snapshot
    target: Snapshot
    undone: tuple[Undone, ...]
    damaged: tuple[int, ...]
    """Revisions at the end that can't be read; their objects are moved aside first."""
    returning: tuple[str, ...]
    """Parts that are live again."""
    leaving: tuple[str, ...]
    """Parts that are live no more. Their files stay until history is pruned."""
    missing: tuple[str, ...]
    """Parts of the old revision whose files are gone."""

    def to_json(self) -> dict[str, Any]:
        return {
            "writer": self.writer,
            "database": self.database,
            "head": self.head.revision,
            "target": self.target.revision,
            "undone": [{"revision": of.revision, "uuid": str(of.uuid)} for of in self.undone],
            "damaged": list(self.damaged),
            "returning": list(self.returning),
            "leaving": list(self.leaving),
            "missing": list(self.missing),
            "tables": sorted(self.target.tables),
        }


def plan_restore(timeline: Timeline, revision: int) -> RestorePlan:
    """Say what would change if `revision` were the newest again."""
    listing = timeline.listing()
    head, note = timeline.load_readable()
    damaged = tuple(number for number in listing.suffix if number > head.revision) if note else ()
    target = timeline.load(revision)
    live, wanted = head.live_keys(), target.live_keys()
    prefixes = [data_prefix(writer, timeline.database) for writer in (timeline.writer, *target.adopted)]
    files = {info.key for prefix in prefixes for info in timeline.store.list(prefix)}
    undone = []
    for number in range(revision + 1, head.revision + 1):
        step = timeline.read(number)
        undone.append(Undone(number, step.uuid, step.commit_time))
    return RestorePlan(
        timeline.writer,
        timeline.database,
        head,
        target,
        tuple(undone),
        damaged,
        tuple(sorted(wanted - live)),
        tuple(sorted(live - wanted)),
        tuple(sorted(wanted - files)),
    )


def restore(timeline: Timeline, plan: RestorePlan, *, clock: Clock, uuids: UuidSource) -> Committed:
    """Commit the tables of the old revision as the newest revision, unless anything was committed since the plan."""
    if plan.missing:
        raise CannotRestore(
            f"{len(plan.missing)} files of revision {plan.target.revision} are gone, {plan.missing[0]} among them.",
            help="Bring them back from a copy, or choose another revision.",
        )
    for number in plan.damaged:
        _move_aside(timeline, number, uuids())
    tables = tuple(plan.target.tables[name] for name in sorted(plan.target.tables))
    reset = Reset(ResetReason.RESTORE, plan.target.revision, tables, plan.target.adopted)
    change = Change(uuids(), (reset,), (HeadIs(plan.head.revision, plan.head.uuid),))
    return commit(timeline, change, clock=clock)


def _move_aside(timeline: Timeline, revision: int, uuid: UUID) -> None:
    """Give a damaged transaction a name that no log has. Its bytes are kept, for whoever can still read them."""
    try:
        if timeline.find(revision) is None:
            return
    except DamagedTransaction:
        key = timeline.transaction_key(revision)
        timeline.store.put(f"{timeline.key(revision, LogKind.TRANSACTION)}.damaged-{uuid}", timeline.store.get(key))
        timeline.store.delete([key])
        return
    raise CannotRestore(f"Revision {revision} of {timeline} can be read again.", help="Plan again.")
