"""Check a timeline: its objects, their links, the files that it names, and what it says of them."""

import enum
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.apply import BrokenChain, apply
from instar.catalog.checkpoint import read_checkpoint
from instar.catalog.encoding import DamagedObject
from instar.catalog.errors import InvalidAction
from instar.catalog.listing import LogListing
from instar.catalog.names import LogKind, data_prefix, log_prefix, parse_log_name, part_transaction
from instar.catalog.snapshot import Snapshot, TableState
from instar.catalog.timeline import DamagedTransaction, MissingRevision, Timeline
from instar.errors import InstarError
from instar.parts.reader import read_part
from instar.parts.statistics import collect_statistics, statistics_table
from instar.storage.protocol import NotFound, ObjectInfo, StoreError


class Severity(enum.StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Problem:
    """What is wrong, where, and what to do."""

    severity: Severity
    subject: str
    fact: str
    help: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "severity": str(self.severity)}


def fsck(timeline: Timeline, *, statistics: bool = False) -> list[Problem]:
    """Return what is wrong with a timeline, worst first. Nothing is changed.

    With `statistics` every live part is read, and what the catalog says of it is held against its rows.
    """
    try:
        listing = timeline.listing()
    except StoreError:
        raise
    except InstarError as error:
        return [Problem(Severity.ERROR, str(timeline), error.fact, error.help)]
    problems = [*_check_log(timeline, listing), *_check_checkpoints(timeline, listing), *_check_names(timeline)]
    try:
        head, note = timeline.load_readable()
    except StoreError:
        raise
    except InstarError as error:
        problems.append(Problem(Severity.ERROR, str(timeline), f"It can't be opened: {error.fact}", error.help))
        return _sorted(problems)
    if note:
        problems.append(Problem(Severity.ERROR, str(timeline), note, "Restore the revision before it."))
    files = {info.key: info for prefix in _prefixes(timeline, head) for info in timeline.store.list(prefix)}
    problems += _check_files(timeline, listing, head, files)
    if statistics:
        problems += [problem for table in head.tables.values() for problem in _check_statistics(timeline, table)]
    return _sorted(problems)


def _check_log(timeline: Timeline, listing: LogListing) -> Iterator[Problem]:
    suffix = listing.suffix
    for number in listing.transactions:
        if suffix and number < suffix[0]:
            anchored = any(of >= suffix[0] - 1 for of in listing.checkpoints)
            severity = Severity.NOTE if anchored else Severity.ERROR
            advice = "The next prune takes it." if anchored else f"Revision {suffix[0] - 1} is missing: restore it."
            yield Problem(severity, timeline.transaction_key(number), "It lies before a gap in the log.", advice)
    before: Snapshot | None = None
    for number in suffix:
        key = timeline.transaction_key(number)
        try:
            transaction = timeline.read(number)
            if before is None and (number == 1 or transaction.begins_anew):
                before = Snapshot(timeline.writer, timeline.database, number - 1)
            elif before is None:
                before = _checkpoint_before(timeline, listing, number)
            if before is not None:
                before = apply(before, transaction, check=True)
        except (BrokenChain, MissingRevision, DamagedTransaction, InvalidAction) as error:
            yield Problem(Severity.ERROR, key, error.fact, error.help)
            before = None


def _checkpoint_before(timeline: Timeline, listing: LogListing, number: int) -> Snapshot | None:
    """Return the state before a revision, where a checkpoint has it."""
    if number - 1 not in listing.checkpoints:
        return None
    try:
        return read_checkpoint(timeline, number - 1)
    except (NotFound, DamagedObject):
        return None


def _check_checkpoints(timeline: Timeline, listing: LogListing) -> Iterator[Problem]:
    rewrite = "Delete it, and write a new one with `instar catalog checkpoint --commit`."
    for number in listing.checkpoints:
        key = timeline.key(number, LogKind.CHECKPOINT)
        if number > listing.head:
            yield Problem(Severity.WARNING, key, "It is of a revision that the log never reached.", "Delete it.")
            continue
        try:
            found = read_checkpoint(timeline, number)
        except (NotFound, DamagedObject) as error:
            yield Problem(Severity.WARNING, key, f"It can't be read: {error}", rewrite)
            continue
        earlier = tuple(of for of in listing.checkpoints if of < number)
        if not earlier and 1 not in listing.transactions:
            continue  # the log before it was pruned: there is nothing to hold it against
        try:
            agrees = found.equals(timeline.replay(number))
        except (BrokenChain, MissingRevision, DamagedTransaction):
            continue  # reported with the log
        if not agrees:
            yield Problem(Severity.ERROR, key, "It holds another state than the log leads to.", rewrite)


def _check_names(timeline: Timeline) -> Iterator[Problem]:
    prefix = log_prefix(timeline.writer, timeline.database)
    for info in timeline.store.list(prefix):
        if parse_log_name(info.key.removeprefix(prefix)) is None:
            yield Problem(Severity.NOTE, info.key, "It is no object of the log, and ignored.")


def _check_files(
    timeline: Timeline, listing: LogListing, head: Snapshot, files: dict[str, ObjectInfo]
) -> Iterator[Problem]:
    live: dict[str, int] = {}
    for table in head.tables.values():
        live.update(zip(table.parts["key"].to_pylist(), table.parts["bytes"].to_pylist(), strict=True))
    for key, size in live.items():
        if key not in files:
            yield Problem(
                Severity.ERROR, key, "It is a live part, and its file is missing.", "Bring it back, or restore."
            )
        elif files[key].size != size:
            fact = f"It has {files[key].size} bytes; the catalog says {size}."
            yield Problem(Severity.ERROR, key, fact, "Bring the file back from a copy.")
    named = set(live)
    for number in listing.suffix:
        try:
            named |= timeline.read(number).mentioned_keys()
        except (DamagedTransaction, MissingRevision, BrokenChain):
            return  # what is extra can't be told without the whole log
    for key in sorted(named - files.keys() - live.keys()):
        if _still_retained(timeline, listing, key):
            yield Problem(Severity.WARNING, key, "A retained revision names it, and its file is missing.")
    for key in sorted(files.keys() - named):
        prefix = next(prefix for prefix in _prefixes(timeline, head) if key.startswith(prefix))
        if part_transaction(key.removeprefix(prefix)) is None:
            yield Problem(Severity.NOTE, key, "It is no part, and left alone.")
        else:
            yield Problem(Severity.NOTE, key, "No retained revision names it.", "`instar catalog gc` looks after it.")


def _still_retained(timeline: Timeline, listing: LogListing, key: str) -> bool:
    """Tell whether some revision that can be travelled to has the part: not one that only removed it at the start."""
    first = listing.suffix[0]
    oldest = max((number for number in listing.checkpoints if number <= first), default=first)
    if key in timeline.load(oldest).live_keys():
        return True
    return any(key in timeline.read(number).mentioned_keys() for number in listing.suffix if number > first)


def _check_statistics(timeline: Timeline, table: TableState) -> Iterator[Problem]:
    advice = "Its pruning can't be trusted: rewrite the part, and switch pushdown off until then."
    for row in table.parts.to_pylist():
        try:
            updates = read_part(timeline.store, row["key"], table.schema)
        except NotFound:
            continue  # reported with the files
        except InstarError as error:
            yield Problem(Severity.ERROR, row["key"], f"It can't be read: {error.fact}", error.help)
            continue
        if updates.num_rows != row["rows"]:
            fact = f"It has {updates.num_rows} rows; the catalog says {row['rows']}."
            yield Problem(Severity.ERROR, row["key"], fact, advice)
        actual = statistics_table([collect_statistics(table.schema, updates)])
        for name in (name for name in row if name in actual.column_names):
            if not _holds(name, row[name], actual[name][0]):
                column, _, statistic = name.rpartition(".")
                said = f"The catalog's {statistic} of column {_column_name(table, column)!r} is wrong."
                yield Problem(Severity.ERROR, row["key"], said, advice)


def _holds(name: str, said: Any, true: pa.Scalar) -> bool:
    """Tell whether a statistic promises no more than is true. Bounds may be wider than the rows, and sets larger."""
    if said is None or not true.is_valid or name.endswith(".bloom"):
        return True
    claim = pa.scalar(said, true.type)
    if name.endswith(".values"):
        return bool(pc.all(pc.is_in(true.values, claim.values), min_count=0).as_py())
    statistic = name.rpartition(".")[2]
    compare = (
        pc.less_equal
        if statistic.startswith("lower")
        else pc.greater_equal
        if statistic.startswith("upper")
        else pc.equal
    )
    return bool(compare(claim, true).as_py())


def _column_name(table: TableState, column: str) -> str:
    """Return the name of the column with an id, and the path behind it."""
    number, slash, path = column.partition("/")
    named = {str(of.id): of.name for of in table.schema.columns}
    return f"{named.get(number, number)}{slash}{path}"


def _prefixes(timeline: Timeline, head: Snapshot) -> list[str]:
    return [data_prefix(writer, timeline.database) for writer in (timeline.writer, *head.adopted)]


def _sorted(problems: list[Problem]) -> list[Problem]:
    order = list(Severity)
    return sorted(problems, key=lambda problem: (order.index(problem.severity), problem.subject))
