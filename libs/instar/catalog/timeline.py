"""A timeline: the log of one writer's changes to one database, in the object store."""

import logging
from collections.abc import Iterator

from instar.catalog.actions import Transaction
from instar.catalog.apply import BrokenChain, apply
from instar.catalog.encoding import (
    DamagedObject,
    Header,
    decode_checkpoint,
    decode_header,
    decode_transaction,
    encode_transaction,
)
from instar.catalog.listing import LogListing, read_listing
from instar.catalog.names import LogKind, NameLayout, log_key, log_prefix
from instar.catalog.snapshot import Snapshot
from instar.errors import InstarError
from instar.storage.protocol import AlreadyExists, NotFound, Store

_log = logging.getLogger(__name__)


class MissingRevision(InstarError):
    """A hole in the log."""


class DamagedTransaction(InstarError):
    """A transaction that can't be read."""

    def __init__(self, fact: str, *, help: str, revision: int) -> None:
        super().__init__(fact, help=help)
        self.revision = revision


class UnknownRevision(InstarError):
    """A revision that the timeline has not reached, or no longer keeps."""


class NotSingleProcess(InstarError):
    """A commit to a store that can't tell two committers apart, by one who did not say that it is alone."""


_LOAD_ERRORS = (BrokenChain, MissingRevision, DamagedTransaction)


class Timeline:
    """Read and extend one log.

    It remembers the newest snapshot that it has seen, so only the first load lists the log; later ones read forward
    from there. May be shared by threads: snapshots are values.

    `single_process` promises that nobody else writes to the timeline. Only then is a store without put-if-absent good
    enough; a timeline that such a process begins has names that would show a broken promise.
    """

    def __init__(self, store: Store, writer: str, database: str, *, single_process: bool = False) -> None:
        self.store = store
        self.writer = writer
        self.database = database
        self.single_process = single_process
        self._newest: Snapshot | None = None
        self._layout: NameLayout | None = None

    def load(self, revision: int | None = None) -> Snapshot:
        """Return the state at `revision`, the newest unless given."""
        if revision is None:
            newest = self._newest
            return self.refresh(newest) if newest else self.remember(self._load(self.listing(), None))
        if revision == 0:
            return Snapshot(self.writer, self.database)
        return self._load(self.listing(), revision)

    def load_readable(self) -> tuple[Snapshot, str | None]:
        """Return the newest state that can be read; and, where it is not the newest of all, a sentence that says so."""
        try:
            return self.load(), None
        except DamagedTransaction as error:
            listing = self.listing()
            if error.revision != listing.head:
                raise
            before = self._load(listing, error.revision - 1) if error.revision > 1 else self.load(0)
            note = f"{self} is open read-only at revision {before.revision}: {error}"
            _log.warning("%s", note)
            return before, note

    @property
    def newest(self) -> Snapshot | None:
        """Return the newest snapshot that was seen, without a look at the store."""
        return self._newest

    def replay(self, revision: int) -> Snapshot:
        """Return the state at `revision` without the help of a checkpoint at it."""
        listing = self.listing()
        earlier = tuple(number for number in listing.checkpoints if number < revision)
        return self._load(LogListing(listing.transactions, earlier, listing.layout), revision)

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
            return self.remember(self._load(self.listing(), None), anyway=True)
        return self.remember(current)

    def holds(self, snapshot: Snapshot) -> bool:
        """Tell whether the log still goes on from `snapshot`: the transaction that led to it is in place."""
        if snapshot.revision > 0:
            found = self.header(snapshot.revision)
            return found is not None and found.uuid == snapshot.uuid
        match self.listing().suffix:
            case ():
                return True
            case (1,):
                return True
            case (1, *_):
                return self.read(2).previous == self.read(1).uuid
        return False

    def revision_at(self, micros: int) -> int:
        """Return the revision that was the newest at a time, 0 if the timeline had not begun."""
        listing = self.listing()
        suffix = listing.suffix
        low, high = 0, len(suffix)  # commit times ascend: how many came no later
        while low < high:
            middle = (low + high) // 2
            if self._read_header(suffix[middle]).commit_time <= micros:
                low = middle + 1
            else:
                high = middle
        if low:
            return suffix[low - 1]
        if suffix and suffix[0] > 1:
            raise UnknownRevision(
                f"{self} no longer keeps what it held at that time.",
                help=f"The oldest revision that it keeps is {self._oldest(listing)}.",
            )
        return 0

    def history(self, after: int = 0) -> list[Transaction]:
        """Return the transactions that are still in the log and came after revision `after`, oldest first."""
        return [self.read(revision) for revision in self.listing().suffix if revision > after]

    def find(self, revision: int) -> Transaction | None:
        """Return one transaction, or None where the log has none."""
        data = self._get(revision)
        if data is None:
            return None
        try:
            transaction = decode_transaction(data)
        except DamagedObject as error:
            raise self._damaged(revision, error) from error
        self._check_place(revision, transaction.revision)
        return transaction

    def header(self, revision: int) -> Header | None:
        """Return which transaction a revision is, or None where the log has none."""
        data = self._get(revision)
        if data is None:
            return None
        try:
            header = decode_header(data)
        except DamagedObject as error:
            raise self._damaged(revision, error) from error
        self._check_place(revision, header.revision)
        return header

    def read(self, revision: int) -> Transaction:
        """Return one transaction, or raise MissingRevision."""
        found = self.find(revision)
        if found is None:
            raise self._missing(revision)
        return found

    def append(self, transaction: Transaction) -> None:
        """Put a transaction into its slot; raise what the store raises, AlreadyExists where the slot is taken."""
        data = encode_transaction(transaction)
        if self.layout is NameLayout.REVISION:
            self.store.put_if_absent(self.key(transaction.revision, LogKind.TRANSACTION), data)
            return
        if not self.single_process:
            raise NotSingleProcess(
                f"{self} lies in a store where two committers can't see each other.",
                help="If this is the only process that writes to it, say so: open the lake with single_process=True.",
            )
        if taken := self._names(transaction.revision):
            raise AlreadyExists(f"{taken[0]} is there already.")
        key = log_key(self.writer, self.database, transaction.revision, LogKind.TRANSACTION, transaction.uuid)
        self.store.put(key, data)
        self._names(transaction.revision)  # names a fork

    def remember(self, snapshot: Snapshot, *, anyway: bool = False) -> Snapshot:
        """Return `snapshot`, and start the next load from it if it is the newest seen."""
        newest = self._newest
        if newest is None or newest.revision < snapshot.revision or anyway:
            self._newest = snapshot
        return snapshot

    def listing(self) -> LogListing:
        prefix = log_prefix(self.writer, self.database)
        listing = read_listing(prefix, (info.key for info in self.store.list(prefix)))
        if listing.layout is not None:
            self._layout = listing.layout
        return listing

    @property
    def layout(self) -> NameLayout:
        """Return how transactions are named here."""
        if self._layout is None and self.listing().layout is None:
            return NameLayout.REVISION_AND_UUID if self.single_process else NameLayout.REVISION
        return self._layout or NameLayout.REVISION

    def key(self, revision: int, kind: LogKind) -> str:
        """Return the key of an object of the log, by its revision alone."""
        return log_key(self.writer, self.database, revision, kind)

    def transaction_key(self, revision: int) -> str:
        """Return the key of a transaction that is there, or would be."""
        if self.layout is NameLayout.REVISION_AND_UUID and (names := self._names(revision)):
            return names[0]
        return self.key(revision, LogKind.TRANSACTION)

    def __str__(self) -> str:
        return f"timeline {self.writer}/{self.database} of {self.store.uri}"

    def _get(self, revision: int) -> bytes | None:
        try:
            if self.layout is NameLayout.REVISION:
                return self.store.get(self.key(revision, LogKind.TRANSACTION))
            names = self._names(revision)
            return self.store.get(names[0]) if names else None
        except NotFound:
            return None

    def _names(self, revision: int) -> list[str]:
        """Return the key of a transaction whose name carries a uuid we do not know, or raise ForkedLog for several."""
        prefix = log_prefix(self.writer, self.database)
        stem = self.key(revision, LogKind.TRANSACTION).removesuffix(LogKind.TRANSACTION)
        keys = [info.key for info in self.store.list(stem)]
        listing = read_listing(prefix, keys)
        return [key for key in keys if key.endswith(f".{LogKind.TRANSACTION}")] if listing.transactions else []

    def _load(self, listing: LogListing, revision: int | None) -> Snapshot:
        """Return a state from the newest checkpoint that leads to it, or from the beginning."""
        target = listing.head if revision is None else revision
        if target > listing.head:
            raise UnknownRevision(f"{self} has no revision {target}.", help=f"Its newest revision is {listing.head}.")
        suffix = listing.suffix
        anchored = any(number + 1 >= suffix[0] for number in listing.checkpoints) if suffix else False
        if target and anchored and target < suffix[0] - (suffix[0] - 1 in listing.checkpoints):
            raise self._pruned(listing, target)  # what is left before a cut is no longer part of the log
        problem: InstarError | None = None
        for start in self._starts(listing, target):
            try:
                return self._at(start, target)
            except _LOAD_ERRORS as error:
                problem = problem or error
        if problem is None:
            problem = self._missing(suffix[0] - 1) if target in suffix else self._pruned(listing, target)
        raise problem

    def _starts(self, listing: LogListing, target: int) -> Iterator[Snapshot]:
        """Yield the states that `target` may be reached from, the nearest first."""
        for checkpoint in self._checkpoints(listing, target):
            if checkpoint.revision < target or self._confirms(listing, checkpoint):
                yield checkpoint
        if target == 0 or 1 in listing.transactions:
            yield Snapshot(self.writer, self.database)
        for number in reversed([number for number in listing.transactions if 1 < number <= target]):
            if self._begins_anew(number):
                yield Snapshot(self.writer, self.database, number - 1)

    def _at(self, snapshot: Snapshot, target: int) -> Snapshot:
        for _, reached in self.forward(snapshot, target):
            snapshot = reached
        return snapshot

    def forward(self, snapshot: Snapshot, target: int) -> Iterator[tuple[int, Snapshot]]:
        """Yield each revision after `snapshot` up to `target`, with its state."""
        for number in range(snapshot.revision + 1, target + 1):
            snapshot = apply(snapshot, self.read(number))
            yield number, snapshot

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

    def _confirms(self, listing: LogListing, checkpoint: Snapshot) -> bool:
        """Tell whether the log went through the state of a checkpoint from which nothing more is read."""
        number = checkpoint.revision
        if number in listing.transactions:
            confirmed = self.holds(checkpoint)
        else:
            following = self.header(number + 1)
            confirmed = following is not None and following.previous == checkpoint.uuid
        if not confirmed:
            _log.warning("Skipped the checkpoint at revision %s of %s: the log went another way.", number, self)
        return confirmed

    def _begins_anew(self, revision: int) -> bool:
        try:
            found = self.find(revision)
        except DamagedTransaction:
            return False
        return found is not None and found.begins_anew

    def oldest(self) -> int:
        """Return the oldest revision that can be travelled to, 0 where nothing was cut off."""
        listing = self.listing()
        return 0 if 1 in listing.suffix else self._oldest(listing)

    def _oldest(self, listing: LogListing) -> int:
        suffix = listing.suffix
        kept = [number for number in listing.checkpoints if number in suffix]
        return min(kept, default=suffix[0] if suffix else 0)

    def _read_header(self, revision: int) -> Header:
        found = self.header(revision)
        if found is None:
            raise self._missing(revision)
        return found

    def _check_place(self, revision: int, found: int) -> None:
        if found != revision:
            key = self.transaction_key(revision)
            raise BrokenChain(f"{key} holds revision {found}.", help="Put the objects back in place.")

    def _missing(self, revision: int) -> MissingRevision:
        return MissingRevision(
            f"Revision {revision} is missing from {self}.",
            help=f"Restore {self.key(revision, LogKind.TRANSACTION)}, or rebuild the catalog from the parts.",
        )

    def _pruned(self, listing: LogListing, revision: int) -> UnknownRevision:
        return UnknownRevision(
            f"{self} no longer keeps revision {revision}.",
            help=f"The oldest that it keeps is {self._oldest(listing)}.",
        )

    def _damaged(self, revision: int, error: DamagedObject) -> DamagedTransaction:
        return DamagedTransaction(
            f"Revision {revision} of {self} is damaged: {error}",
            help=f"Restore {self.transaction_key(revision)} from a copy; every revision before it can still be read.",
            revision=revision,
        )
