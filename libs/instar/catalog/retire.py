"""Retire a writer: seal its timeline, then let another one adopt what it holds."""

from dataclasses import dataclass
from typing import Any

from instar.catalog.actions import Adopt, Seal
from instar.catalog.adopt import adopt_table
from instar.catalog.commit import Change, Committed, commit
from instar.catalog.errors import InvalidAction
from instar.catalog.preconditions import HeadIs
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline
from instar.clock import Clock, UuidSource
from instar.errors import InstarError


class CannotRetire(InstarError):
    """A writer that can't be retired as asked."""


@dataclass(frozen=True)
class RetirePlan:
    """What retiring would do: `parts` of `tables` go from one writer to the other."""

    writer: str
    heir: str
    database: str
    head: Snapshot
    sealed: bool
    """Whether an earlier attempt has sealed the timeline already."""
    adopted: bool
    """Whether it has been adopted too: then nothing is left to do."""
    tables: tuple[str, ...]
    parts: int

    def to_json(self) -> dict[str, Any]:
        return {
            "writer": self.writer,
            "heir": self.heir,
            "database": self.database,
            "revision": self.head.revision,
            "sealed": self.sealed,
            "adopted": self.adopted,
            "tables": list(self.tables),
            "parts": self.parts,
        }


def plan_retire(timeline: Timeline, heir: Timeline) -> RetirePlan:
    """Look at both timelines, and refuse what could not be finished."""
    if (timeline.database, timeline.store.uri) != (heir.database, heir.store.uri) or timeline.writer == heir.writer:
        raise CannotRetire(f"{heir} can't adopt {timeline}.", help="Name another writer of the same database.")
    own, others = timeline.load(), heir.load()
    if own.revision == 0:
        raise CannotRetire(f"{timeline} has not begun.", help="Check the writer's name.")
    if own.heir not in (None, heir.writer):
        raise CannotRetire(f"{timeline} was sealed for {own.heir!r}.", help=f"Retire it with {own.heir!r} as heir.")
    if others.heir is not None:
        raise CannotRetire(f"{heir} is sealed itself.", help=f"Name {others.heir!r}.")
    adopted = timeline.writer in others.adopted
    if not adopted:
        for name, table in own.tables.items():
            try:
                adopt_table(others.tables.get(name), table, others.revision + 1)
            except InvalidAction as error:
                raise CannotRetire(error.fact, help=error.help) from error
    parts = sum(len(table.part_set) for table in own.tables.values())
    names = tuple(sorted(own.tables))
    sealed = own.heir is not None
    return RetirePlan(timeline.writer, heir.writer, timeline.database, own, sealed, adopted, names, parts)


def retire(timeline: Timeline, heir: Timeline, plan: RetirePlan, *, clock: Clock, uuids: UuidSource) -> Committed:
    """Seal the timeline as the plan saw it, and adopt it. Safe to repeat until it is through.

    From the seal on no process can commit as that writer. Readers go on seeing its timeline until the adoption, which
    is one transaction: from then on they see its parts in the heir's, and never in both.
    """
    if plan.adopted:
        return Committed(heir.load(), already=True)
    if not plan.sealed:
        seal = Change(uuids(), (Seal(heir.writer),), (HeadIs(plan.head.revision, plan.head.uuid),))
        commit(timeline, seal, clock=clock)
    final = timeline.load()
    if final.heir != heir.writer or final.uuid is None:
        raise CannotRetire(f"{timeline} is not sealed for {heir.writer!r}.", help="Plan again.")
    tables = tuple(final.tables[name] for name in sorted(final.tables))
    adopt = Adopt(timeline.writer, final.revision, final.uuid, tables)
    return commit(heir, Change(uuids(), (adopt,)), clock=clock)
