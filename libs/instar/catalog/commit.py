"""The commit loop: put the next revision if nobody has, else look at what came and try again."""

import contextlib
from dataclasses import dataclass
from uuid import UUID

from instar.catalog.actions import Action, Transaction
from instar.catalog.origins import is_committed, with_replacements
from instar.catalog.preconditions import Precondition
from instar.catalog.snapshot import InvalidAction, Snapshot, TransactionCollected, apply
from instar.catalog.timeline import Timeline
from instar.clock import Clock
from instar.errors import InstarError
from instar.storage.protocol import AlreadyExists, DidNotHappen, MayHaveHappened

CHECKPOINT_EVERY = 100
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
    base = timeline.load()
    while not is_committed(base, change.actions):
        transaction, after = _step(base, change, clock)
        if _take_slot(timeline, base, transaction):
            timeline.remember(after)
            return Committed(after, due=Maintenance(checkpoint=after.revision % checkpoint_every == 0))
        base = timeline.refresh(base)
    return Committed(base, already=True)


def _step(base: Snapshot, change: Change, clock: Clock) -> tuple[Transaction, Snapshot]:
    """Return the transaction that brings `change` onto `base`, and the state after it."""
    for precondition in change.expect:
        if violation := precondition.violation(base):
            raise CommitConflict(
                f"{violation} (Revision {base.revision}.)", help="Plan the change again on the newest revision."
            )
    transaction = Transaction(
        base.revision + 1,
        change.uuid,
        base.uuid,
        max(clock(), base.commit_time + 1),
        with_replacements(base, change.actions),
    )
    try:
        return transaction, apply(base, transaction)
    except TransactionCollected:
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
    except DidNotHappen as error:
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
            if found := timeline.find(transaction.revision):
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
