"""A timeline: the log of one writer's changes to one database, in the object store."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from instar.catalog.actions import Transaction
from instar.catalog.encoding import (
    DamagedObject,
    decode_checkpoint,
    decode_transaction,
    encode_transaction,
)
from instar.catalog.names import LogKind, log_key, log_prefix, parse_log_name
from instar.catalog.snapshot import BrokenChain, Snapshot, apply
from instar.errors import InstarError
from instar.storage.protocol import NotFound, Store

_log = logging.getLogger(__name__)


class MissingRevision(InstarError):
    """A hole in the log."""


class DamagedTransaction(InstarError):
    """A transaction that can't be read."""


class UnknownRevision(InstarError):
    """A revision that the timeline has not reached, or no longer keeps."""


@dataclass(frozen=True)
class LogListing:
    """The revisions that have an object in the log, ascending."""

    transactions: tuple[int, ...]
    checkpoints: tuple[int, ...]

    @property
    def head(self) -> int:
        return max((*self.transactions[-1:], *self.checkpoints[-1:]), default=0)

    @property
    def suffix(self) -> tuple[int, ...]:
        """The newest transactions without a gap: what lies before a gap is no longer part of the log."""
        start = len(self.transactions)
        while start > 1 and self.transactions[start - 2] == self.transactions[start - 1] - 1:
            start -= 1
        return self.transactions[max(start - 1, 0) :]


class Timeline:
    """Read and extend one log.

    It remembers the newest snapshot that it has seen, so only the first load lists the log; later ones read forward
    from there. May be shared by threads: snapshots are values.
    """

    def __init__(self, store: Store, writer: str, database: str) -> None:
        self.store = store
        self.writer = writer
        self.database = database
        self._newest: Snapshot | None = None

    def load(self, revision: int | None = None) -> Snapshot:
        """Return the state at `revision`, the newest unless given."""
        if revision is None:
            newest = self._newest
            return self.refresh(newest) if newest else self.remember(self._load(self.listing(), None))
        if revision == 0:
            return Snapshot(self.writer, self.database)
        return self._load(self.listing(), revision)

    def replay(self, revision: int) -> Snapshot:
        """Return the state at `revision` without the help of a checkpoint at it."""
        listing = self.listing()
        earlier = tuple(number for number in listing.checkpoints if number < revision)
        return self._load(LogListing(listing.transactions, earlier), revision)

    def refresh(self, snapshot: Snapshot) -> Snapshot:
        """Return the newest state, reading only what came after `snapshot`."""
        current = snapshot
        try:
            while (transaction := self.find(current.revision + 1)) is not None:
                current = apply(current, transaction)
        except BrokenChain:
            if self.holds(snapshot):
                raise
        # Where the log was cut past the snapshot, slots behind it are empty, or hold what a late committer left there.
        # Cutting goes upwards, so all of them are genuine if the snapshot's own transaction is still in place.
        if not self.holds(snapshot):
            current = self._load(self.listing(), None)
        return self.remember(current)

    def holds(self, snapshot: Snapshot) -> bool:
        """Tell whether the log still goes on from `snapshot`: the transaction that led to it is in place."""
        if snapshot.revision > 0:
            found = self.find(snapshot.revision)
            return found is not None and found.uuid == snapshot.uuid
        match self.listing().suffix:
            case ():
                return True
            case (1,):
                return True
            case (1, *_):
                return self.read(2).previous == self.read(1).uuid
        return False

    def history(self, after: int = 0) -> list[Transaction]:
        """Return the transactions that are still in the log and came after revision `after`, oldest first."""
        return [self.read(revision) for revision in self.listing().suffix if revision > after]

    def find(self, revision: int) -> Transaction | None:
        """Return one transaction, or None where the log has none."""
        key = self.key(revision, LogKind.TRANSACTION)
        try:
            data = self.store.get(key)
        except NotFound:
            return None
        try:
            transaction = decode_transaction(data)
        except DamagedObject as error:
            raise DamagedTransaction(
                f"Revision {revision} of {self} is damaged: {error}",
                help=f"Restore {key} from a copy; every revision before it can still be read.",
            ) from error
        if transaction.revision != revision:
            raise BrokenChain(f"{key} holds revision {transaction.revision}.", help="Put the objects back in place.")
        return transaction

    def read(self, revision: int) -> Transaction:
        """Return one transaction, or raise MissingRevision."""
        found = self.find(revision)
        if found is None:
            raise MissingRevision(
                f"Revision {revision} is missing from {self}.",
                help=f"Restore {self.key(revision, LogKind.TRANSACTION)}, or rebuild the catalog from the parts.",
            )
        return found

    def append(self, transaction: Transaction) -> None:
        """Put a transaction into its slot; raise what the store raises, AlreadyExists where the slot is taken."""
        self.store.put_if_absent(self.key(transaction.revision, LogKind.TRANSACTION), encode_transaction(transaction))

    def remember(self, snapshot: Snapshot) -> Snapshot:
        """Return `snapshot`, and start the next load from it if it is the newest seen."""
        newest = self._newest
        if newest is None or newest.revision < snapshot.revision:
            self._newest = snapshot
        return snapshot

    def listing(self) -> LogListing:
        prefix = log_prefix(self.writer, self.database)
        names = [parse_log_name(info.key.removeprefix(prefix)) for info in self.store.list(prefix)]
        return LogListing(
            tuple(name.revision for name in names if name and name.kind is LogKind.TRANSACTION),
            tuple(name.revision for name in names if name and name.kind is LogKind.CHECKPOINT),
        )

    def key(self, revision: int, kind: LogKind) -> str:
        return log_key(self.writer, self.database, revision, kind)

    def __str__(self) -> str:
        return f"timeline {self.writer}/{self.database} of {self.store.uri}"

    def _load(self, listing: LogListing, revision: int | None) -> Snapshot:
        target = listing.head if revision is None else revision
        if target > listing.head:
            raise UnknownRevision(f"{self} has no revision {target}.", help=f"Its newest revision is {listing.head}.")
        snapshot = next(self._checkpoints(listing, target), Snapshot(self.writer, self.database))
        if snapshot.revision == 0 and target < min(listing.transactions, default=0):
            raise UnknownRevision(
                f"{self} no longer keeps revision {target}.",
                help=f"The oldest that it keeps is {min(listing.checkpoints, default=listing.transactions[0])}.",
            )
        for number in range(snapshot.revision + 1, target + 1):
            snapshot = apply(snapshot, self.read(number))
        return snapshot

    def _checkpoints(self, listing: LogListing, target: int) -> Iterator[Snapshot]:
        """Yield the good checkpoints up to `target`, newest first."""
        for revision in reversed(listing.checkpoints):
            if revision > target:
                continue
            key = self.key(revision, LogKind.CHECKPOINT)
            try:
                snapshot = decode_checkpoint(self.store.get(key))
            except (DamagedObject, NotFound) as error:
                _log.warning("Skipped the checkpoint %s: %s", key, error)
                continue
            if (snapshot.writer, snapshot.database, snapshot.revision) != (self.writer, self.database, revision):
                _log.warning("Skipped the checkpoint %s: it belongs elsewhere.", key)
                continue
            yield snapshot
