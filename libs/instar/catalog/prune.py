"""Pruning: cut history that is older than the horizon off the beginning of a log. Planned first, then carried out."""

from dataclasses import asdict, dataclass
from typing import Any

from instar.catalog.checkpoint import read_checkpoint
from instar.catalog.encoding import DamagedObject
from instar.catalog.names import LogKind
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline
from instar.errors import InstarError
from instar.storage.protocol import NotFound

DEFAULT_HORIZON = 7 * 24 * 60 * 60 * 1_000_000


class StalePlan(InstarError):
    """A plan whose log has changed in a way that it did not foresee."""


@dataclass(frozen=True)
class PrunePlan:
    """What pruning would delete: the transactions and checkpoints before `oldest`, which stays."""

    writer: str
    database: str
    head: int
    oldest: int
    """The oldest revision that can be travelled to afterwards."""
    kept_checkpoints: tuple[int, ...]
    transactions: tuple[int, ...]
    checkpoints: tuple[int, ...]
    reason: str
    """Why no more can go."""

    @property
    def empty(self) -> bool:
        return not (self.transactions or self.checkpoints)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plan_prune(timeline: Timeline, *, now: int, horizon: int = DEFAULT_HORIZON) -> PrunePlan:
    """Decide what may be cut off so that every revision of the last `horizon` microseconds stays.

    Two verified checkpoints stay, and the log since the older one. Before anything may go, all that stays is loaded:
    each transaction from the older checkpoint on is applied, and the newer checkpoints must be what comes out.
    """
    listing = timeline.listing()
    suffix = listing.suffix
    needed = _oldest_needed(timeline, suffix, now - horizon)
    good = _good_checkpoints(timeline, [number for number in listing.checkpoints if number in suffix])
    candidates = [number for number in good if number <= needed]
    oldest = 0
    if not candidates:
        reason = f"there is no checkpoint at revision {needed} or before"
    elif len([number for number in good if number >= candidates[-1]]) < 2:  # noqa: PLR2004
        candidates = candidates[:-1]
        reason = "two checkpoints have to stay"
    else:
        reason = f"revision {needed} is inside the horizon"
    if candidates:
        oldest = candidates[-1]
        _prove(timeline, good[oldest], listing.head, good)
    return PrunePlan(
        timeline.writer,
        timeline.database,
        listing.head,
        oldest,
        tuple(number for number in good if number >= oldest),
        tuple(number for number in listing.transactions if number < oldest),
        tuple(number for number in listing.checkpoints if number < oldest),
        reason,
    )


def prune(timeline: Timeline, plan: PrunePlan) -> None:
    """Delete what `plan` names, oldest first and one by one.

    The order is what protects a committer who slept: if the slot that it fills was cut, so was the one before it, and
    it looks for that one after its put. So a revision is never deleted before those below it are gone.
    """
    if (plan.writer, plan.database) != (timeline.writer, timeline.database):
        raise StalePlan(f"The plan is for {plan.writer}/{plan.database}, not for {timeline}.", help="Plan again.")
    if plan.empty:
        return
    for number in plan.kept_checkpoints[:2]:
        try:
            read_checkpoint(timeline, number)
        except (NotFound, DamagedObject) as error:
            raise StalePlan(
                f"The checkpoint at revision {number} of {timeline} can't be read any more: {error}", help="Plan again."
            ) from error
    present = set(timeline.listing().transactions)
    for number in plan.transactions:
        if number in present:
            timeline.store.delete([timeline.transaction_key(number)])
    timeline.store.delete(timeline.key(number, LogKind.CHECKPOINT) for number in plan.checkpoints)


def _oldest_needed(timeline: Timeline, suffix: tuple[int, ...], since: int) -> int:
    """Return the revision that was the newest at a time: the oldest that a reader of the time after it may want."""
    needed = suffix[0] if suffix else 0
    for number in suffix:
        header = timeline.header(number)
        if header is None or header.commit_time > since:
            break
        needed = number
    return needed


def _good_checkpoints(timeline: Timeline, revisions: list[int]) -> dict[int, Snapshot]:
    good = {}
    for number in revisions:
        try:
            snapshot = read_checkpoint(timeline, number)
        except (NotFound, DamagedObject):
            continue
        if snapshot.revision == number and timeline.holds(snapshot):
            good[number] = snapshot
    return good


def _prove(timeline: Timeline, start: Snapshot, head: int, good: dict[int, Snapshot]) -> None:
    """Load every revision that stays, from `start` alone; raise what stands in the way."""
    for number, snapshot in timeline.forward(start, head):
        if number in good and not good[number].equals(snapshot):
            raise StalePlan(
                f"The checkpoint at revision {number} of {timeline} is not what the log leads to.",
                help="Run fsck; delete that checkpoint, and write it again.",
            )
