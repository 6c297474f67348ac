"""What a listing of a log shows."""

from collections.abc import Iterable
from dataclasses import dataclass

from instar.catalog.names import LogKind, LogName, NameLayout, parse_log_name
from instar.errors import InstarError


class ForkedLog(InstarError):
    """A log with two transactions in one place."""


@dataclass(frozen=True)
class LogListing:
    """The revisions that have an object in the log, ascending."""

    transactions: tuple[int, ...]
    checkpoints: tuple[int, ...] = ()
    layout: NameLayout | None = None
    """None where there is no transaction yet."""

    @property
    def head(self) -> int:
        return self.transactions[-1] if self.transactions else 0

    @property
    def suffix(self) -> tuple[int, ...]:
        """The newest transactions without a gap: what lies before a gap is no longer part of the log."""
        start = len(self.transactions)
        while start > 1 and self.transactions[start - 2] == self.transactions[start - 1] - 1:
            start -= 1
        return self.transactions[max(start - 1, 0) :]


def read_listing(prefix: str, keys: Iterable[str]) -> LogListing:
    """Return what the keys below a log's prefix are, or raise ForkedLog where two are transactions of one revision."""
    transactions: dict[int, LogName] = {}
    checkpoints: list[int] = []
    for key in keys:
        name = parse_log_name(key.removeprefix(prefix))
        if name is None:
            continue
        if name.kind is LogKind.CHECKPOINT:
            checkpoints.append(name.revision)
            continue
        if name.revision in transactions:
            raise _fork(prefix, transactions[name.revision], name)
        transactions[name.revision] = name
    kinds = {name.uuid is not None: name for name in transactions.values()}
    if len(kinds) > 1:
        raise _fork(prefix, kinds[False], kinds[True])
    layout = None
    if transactions:
        layout = NameLayout.REVISION_AND_UUID if True in kinds else NameLayout.REVISION
    return LogListing(tuple(sorted(transactions)), tuple(sorted(checkpoints)), layout)


def _fork(prefix: str, one: LogName, other: LogName) -> ForkedLog:
    revisions = f"revision {one.revision}" if one.revision == other.revision else "one log under two layouts of names"
    return ForkedLog(
        f"{prefix} holds {_spelled(one)} and {_spelled(other)}: {revisions} was written twice.",
        help="Two processes wrote as one writer. Keep the one whose rows you want, move the other away, then run fsck.",
    )


def _spelled(name: LogName) -> str:
    return f"{name.revision:020d}{'' if name.uuid is None else f'.{name.uuid}'}.{name.kind}"
