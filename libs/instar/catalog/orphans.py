"""Orphans: data files that no retained revision names. Planned first, fenced off, and only then deleted."""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from instar.catalog.actions import Collect
from instar.catalog.commit import Change, commit
from instar.catalog.names import data_prefix, part_transaction
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline
from instar.clock import Clock, UuidSource
from instar.errors import InstarError
from instar.storage.protocol import ObjectInfo

DAY_MICROS = 24 * 60 * 60 * 1_000_000
DEFAULT_GRACE = DAY_MICROS
MOST_SHARE = 0.5
"""A sweep of more than this share of a namespace's files has to be asked for."""


class ImplausibleSweep(InstarError):
    """A plan that would delete so much that it may rest on a mistake."""


class ForeignPlan(InstarError):
    """A plan that was made for another timeline."""


class Reason(enum.StrEnum):
    """Why a file is an orphan."""

    NEVER_COMMITTED = "its transaction is not in the log"
    LEFT_OVER = "its transaction was committed without it"
    COLLECTED = "its transaction was fenced off by an earlier sweep"
    LET_GO = "its writer was retired, and the heir has let go of it"


@dataclass(frozen=True)
class OrphanFile:
    """A file that may go."""

    key: str
    transaction: UUID
    reason: Reason
    bytes: int
    modified_micros: int


@dataclass(frozen=True)
class OrphanPlan:
    """What a sweep would delete, in the order of keys, as seen at `revision`."""

    writer: str
    database: str
    revision: int
    orphans: tuple[OrphanFile, ...]
    young: int
    """Files that no revision names either, but that may belong to a write in progress."""
    foreign: tuple[str, ...]
    """Files that are no parts. They are reported and never touched."""
    files: int
    """All files below the data prefix."""

    @property
    def bytes(self) -> int:
        return sum(orphan.bytes for orphan in self.orphans)

    @property
    def share(self) -> float:
        """Return how much of the namespace would go, from 0 to 1."""
        return len(self.orphans) / self.files if self.files else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "orphans": [{**asdict(orphan), "transaction": str(orphan.transaction)} for orphan in self.orphans],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "OrphanPlan":
        orphans = tuple(
            OrphanFile(**{**one, "transaction": UUID(one["transaction"]), "reason": Reason(one["reason"])})
            for one in value["orphans"]
        )
        return cls(**{**value, "orphans": orphans, "foreign": tuple(value["foreign"])})


@dataclass(frozen=True)
class SweepResult:
    """What a sweep did. `survivors` were in the plan, and have been committed since."""

    revision: int
    deleted: tuple[OrphanFile, ...]
    survivors: tuple[OrphanFile, ...]

    @property
    def bytes(self) -> int:
        return sum(orphan.bytes for orphan in self.deleted)


def plan_orphans(timeline: Timeline, *, now: int, grace: int = DEFAULT_GRACE) -> OrphanPlan:
    """List the data files of this timeline that no retained revision names and that are older than `grace`.

    The grace (microseconds) only keeps work in progress from being disturbed; that nothing live is lost does not
    depend on it, nor on any clock.
    """
    # Listed before the log is read: whatever is committed in between then counts as named.
    infos = tuple(timeline.store.list(data_prefix(timeline.writer, timeline.database)))
    head = timeline.load()
    named, committed = _retained(timeline, head)
    own = classify(infos, head, named, committed, now=now, grace=grace)
    inherited = [orphan for writer in _let_go(timeline, head) for orphan in _inherited(timeline, writer, named)]
    return replace(own, orphans=(*own.orphans, *inherited), files=own.files + len(inherited))


def classify(
    infos: Iterable[ObjectInfo],
    head: Snapshot,
    named: frozenset[str],
    committed: frozenset[UUID],
    *,
    now: int,
    grace: int,
) -> OrphanPlan:
    """Sort the files below a data prefix into orphans and others."""
    prefix = data_prefix(head.writer, head.database)
    orphans: list[OrphanFile] = []
    foreign: list[str] = []
    young = files = 0
    for info in infos:
        files += 1
        if info.key in named:
            continue
        transaction = part_transaction(info.key.removeprefix(prefix))
        if transaction is None:
            foreign.append(info.key)
        elif info.modified_micros + grace > now:
            young += 1
        else:
            reason = _reason(transaction, head.collected, committed)
            orphans.append(OrphanFile(info.key, transaction, reason, info.size, info.modified_micros))
    return OrphanPlan(head.writer, head.database, head.revision, tuple(orphans), young, tuple(foreign), files)


def sweep(
    timeline: Timeline, plan: OrphanPlan, *, clock: Clock, uuids: UuidSource, most_share: float = MOST_SHARE
) -> SweepResult:
    """Delete the orphans of `plan` that still are.

    First their transactions are fenced off in the log. A transaction that was committed before the fence is visible in
    the log behind it, and its parts survive; one that was not can't be committed any more. So what is deleted after
    looking at the log once more can't be, or become, part of any revision. A sealed timeline needs no fence: nothing
    can be committed to it.
    """
    if (plan.writer, plan.database) != (timeline.writer, timeline.database):
        raise ForeignPlan(
            f"The plan is for {plan.writer}/{plan.database}, not for {timeline}.", help="Plan for this timeline."
        )
    if plan.share > most_share:
        raise ImplausibleSweep(
            f"The plan would delete {len(plan.orphans)} of {plan.files} files of {timeline}, "
            f"more than {most_share:.0%}.",
            help="Look at the files and their reasons. If all of it may go, ask for a greater share.",
        )
    head = timeline.load()
    named, _ = _retained(timeline, head)
    inherited = {orphan.key for orphan in plan.orphans if orphan.reason is Reason.LET_GO}
    unnamed = [orphan for orphan in plan.orphans if orphan.key not in named]
    doubtful = {orphan.transaction for orphan in unnamed if orphan.key not in inherited} - head.collected
    if doubtful and head.heir is None:
        fence = Change(uuids(), (Collect(tuple(sorted(doubtful))),))
        fenced = commit(timeline, fence, clock=clock).snapshot
        since = timeline.history(after=head.revision)
        named = named.union(fenced.live_keys(), *(transaction.mentioned_keys() for transaction in since))
        head = fenced
    deleted = tuple(orphan for orphan in plan.orphans if orphan.key not in named)
    timeline.store.delete(orphan.key for orphan in deleted)
    return SweepResult(head.revision, deleted, tuple(orphan for orphan in plan.orphans if orphan.key in named))


def _let_go(timeline: Timeline, head: Snapshot) -> list[str]:
    """Return the retired writers whose own logs nobody can need: no retained revision is from before their adoption."""
    oldest = min(timeline.listing().transactions, default=0)
    return sorted(writer for writer, adoption in head.adopted.items() if adoption.revision <= oldest)


def _inherited(timeline: Timeline, writer: str, named: frozenset[str]) -> list[OrphanFile]:
    """Return the files of a retired writer that the heir's log names no more."""
    prefix = data_prefix(writer, timeline.database)
    return [
        OrphanFile(info.key, transaction, Reason.LET_GO, info.size, info.modified_micros)
        for info in timeline.store.list(prefix)
        if info.key not in named and (transaction := part_transaction(info.key.removeprefix(prefix))) is not None
    ]


def _retained(timeline: Timeline, head: Snapshot) -> tuple[frozenset[str], frozenset[UUID]]:
    """Return the keys that any retained revision names, and the transactions that are in the log.

    A part that was live at some retained revision is live still, or a transaction of the log has removed it: so the
    live keys and all keys that the log mentions are enough. Every object of the log counts, even one before a gap.
    """
    log = [timeline.read(revision) for revision in timeline.listing().transactions]
    named = head.live_keys().union(*(transaction.mentioned_keys() for transaction in log))
    return named, frozenset(transaction.uuid for transaction in log)


def _reason(transaction: UUID, collected: frozenset[UUID], committed: frozenset[UUID]) -> Reason:
    if transaction in collected:
        return Reason.COLLECTED
    return Reason.LEFT_OVER if transaction in committed else Reason.NEVER_COMMITTED
