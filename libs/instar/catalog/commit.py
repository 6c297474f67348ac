"""The commit loop: put the next revision if nobody has, else look at what came and try again."""

import contextlib
from dataclasses import dataclass
from uuid import UUID

from instar.catalog.actions import Action, Transaction
from instar.catalog.apply import WRITER_VERSION, TimelineSealed, TransactionCollected, UnknownFormat, apply
from instar.catalog.errors import InvalidAction
from instar.catalog.origins import is_committed, with_replacements
from instar.catalog.preconditions import Precondition
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import DamagedTransaction, Timeline
from instar.clock import Clock
from instar.errors import InstarError
from instar.storage.protocol import AlreadyExists, DidNotHappen, MayHaveHappened

CHECKPOINT_EVERY = 100
_FRESH = 60_000_000  # microseconds: no log is cut that soon behind its head
_MOST_PUTS = 5  # of one transaction into one slot whose replies get lost


class CommitConflict(InstarError):
    """A change that the newest revision does not allow."""


class SlotWasCut(InstarError):
    """A transaction that went into a slot from which the log had been cut: it is not part of the log."""


class OutcomeUnknown(InstarError):
    """A commit whose reply was lost, and whose slot can't be read."""


@dataclass(frozen=True)
class Change:
    """What to commit.

    The uuid is drawn before any part is written, for parts carry it. `expect` is what the change was planned on; what
    the actions themselves need (the table is there, removed parts are live) goes without saying.
    """

    uuid: UUID
    actions: tuple[Action, ...]
    expect: tuple[Precondition, ...] = ()


@dataclass(frozen=True)
class Maintenance:
    """Work that a commit has made due; whoever committed may do it, or leave it to the schedule."""

    checkpoint: bool = False
    """So many revisions have come since the last one was due."""
    prune: bool = False
    """There may be history beyond the horizon, behind two checkpoints."""

    @property
    def any(self) -> bool:
        return self.checkpoint or self.prune


@dataclass(frozen=True)
class Committed:
    """A change that is part of the log. `already` says that it, or the same runs, were so before this call."""

    snapshot: Snapshot
    already: bool = False
    due: Maintenance = Maintenance()

    @property
    def revision(self) -> int:
        return self.snapshot.revision


def commit(timeline: Timeline, change: Change, *, clock: Clock, checkpoint_every: int = CHECKPOINT_EVERY) -> Committed:
    """Make `change` the next revision, whatever others commit meanwhile.

    The change is checked against each revision that it meets, and rebased onto it if it still fits; else CommitConflict
    says why it does not. It is in the log if and only if this returns, except where OutcomeUnknown is raised.
    """
    now = clock()
    newest = timeline.newest
    # A head that is fresh need not be looked at again: if it is not the head any more, the slot behind it is taken.
    looked = newest is None or now - newest.commit_time >= _FRESH
    base = timeline.load() if newest is None or looked else newest
    while True:
        try:
            step = None if is_committed(base, change.actions) else _step(base, change, now)
        except InstarError:
            if looked:
                raise
            step = None
        if step is None and looked:
            return Committed(base, already=True)
        if step and _take_slot(timeline, base, step[0]):
            timeline.remember(step[1])
            return Committed(step[1], due=maintenance_due(step[1].revision, checkpoint_every))
        base, looked, now = timeline.refresh(base), True, clock()


def maintenance_due(revision: int, checkpoint_every: int = CHECKPOINT_EVERY) -> Maintenance:
    """Return what the commit of `revision` has made due."""
    checkpoint = revision % checkpoint_every == 0
    return Maintenance(checkpoint, prune=checkpoint and revision > 2 * checkpoint_every)


def _step(base: Snapshot, change: Change, now: int) -> tuple[Transaction, Snapshot]:
    """Return the transaction that brings `change` onto `base`, and the state after it."""
    if base.protocol.min_writer > WRITER_VERSION:
        raise UnknownFormat(
            f"{base.writer}/{base.database} needs a writer of version {base.protocol.min_writer}; "
            f"this one has version {WRITER_VERSION}.",
            help="Upgrade Instar here before writing to this lake.",
        )
    for precondition in change.expect:
        if violation := precondition.violation(base):
            raise CommitConflict(
                f"{violation} (Revision {base.revision}.)", help="Plan the change again on the newest revision."
            )
    transaction = Transaction(
        base.revision + 1,
        change.uuid,
        base.uuid,
        max(now, base.commit_time + 1),
        with_replacements(base, change.actions),
    )
    try:
        return transaction, apply(base, transaction, check=True)
    except (TransactionCollected, TimelineSealed):
        raise
    except InvalidAction as error:
        raise CommitConflict(error.fact, help=error.help) from error


def _take_slot(timeline: Timeline, base: Snapshot, transaction: Transaction) -> bool:
    """Put the transaction behind `base` and tell whether it is there; False where another one has the slot."""
    try:
        timeline.append(transaction)
    except (AlreadyExists, MayHaveHappened):  # a refusal may come from our own object, after a repeated request
        if _owner(timeline, transaction) != transaction.uuid:
            return False
    try:
        in_log = timeline.holds(base)
    except (DidNotHappen, DamagedTransaction) as error:
        raise _unknown(transaction) from error
    if not in_log:
        raise SlotWasCut(
            f"Revision {transaction.revision} of {timeline} was cut off long ago; nothing was committed.",
            help="The process had stood still for too long; commit again.",
        )
    return True


def _owner(timeline: Timeline, transaction: Transaction) -> UUID:
    """Return whose the slot of `transaction` is.

    A slot that is empty after a lost reply may still be filled by the lost request. So it is never passed over: the
    very same transaction is put there again, until somebody has it.
    """
    try:
        for _ in range(_MOST_PUTS):
            if found := timeline.header(transaction.revision):
                return found.uuid
            with contextlib.suppress(AlreadyExists, MayHaveHappened):
                timeline.append(transaction)
    except DidNotHappen as error:
        raise _unknown(transaction) from error
    raise _unknown(transaction)


def _unknown(transaction: Transaction) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"Transaction {transaction.uuid} may be revision {transaction.revision}, or may become it.",
        help="Delete nothing. Look for the transaction in the history before its rows are written again.",
    )
