"""Where a timeline keeps its log and its data, relative to the lake's root."""

import enum
import re
from dataclasses import dataclass
from uuid import UUID

from instar.parts.names import escape_name, unescape_name

_DIGITS = 20
_LOG_FILE = re.compile(
    rf"(?P<revision>[0-9]{{{_DIGITS}}})\.(?:(?P<uuid>[0-9a-f]{{8}})\.transaction|(?P<kind>transaction|checkpoint))"
)
_PART_FILE = re.compile(r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9]+-(?P<ordinal>[0-9]{5,})\.parquet")
_PART_FOLDERS = 2  # partition and table


class LogKind(enum.StrEnum):
    TRANSACTION = "transaction"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class LogName:
    """One object of a log."""

    revision: int
    kind: LogKind
    uuid: str | None = None
    """The first digits of the transaction's uuid, where the layout says that names carry them."""


class NameLayout(enum.Enum):
    """How transactions are named. The first one of a timeline decides."""

    REVISION = enum.auto()
    """By the revision alone: put-if-absent makes sure that there is one of each."""
    REVISION_AND_UUID = enum.auto()
    """With the uuid too, where the store has no put-if-absent: two of one revision stay visible side by side."""


def timeline_prefix(writer: str, database: str) -> str:
    return f"{escape_name(writer)}/{escape_name(database)}/"


def log_prefix(writer: str, database: str) -> str:
    return f"{timeline_prefix(writer, database)}transactions/"


def data_prefix(writer: str, database: str) -> str:
    return f"{timeline_prefix(writer, database)}data/"


def log_key(writer: str, database: str, revision: int, kind: LogKind, uuid: UUID | None = None) -> str:
    """Return the key of one object of a log; with a uuid, in the layout whose names carry it."""
    middle = f".{str(uuid)[:8]}" if uuid else ""
    return f"{log_prefix(writer, database)}{revision:0{_DIGITS}d}{middle}.{kind}"


def parse_name(segment: str) -> str | None:
    """Return the writer or database that a folder belongs to, or None for a folder that is neither's."""
    try:
        name = unescape_name(segment)
    except UnicodeDecodeError:
        return None
    return name if escape_name(name) == segment else None


def parse_log_name(name: str) -> LogName | None:
    """Return what the object called `name` below a log's prefix is, or None for what is no part of a log."""
    match = _LOG_FILE.fullmatch(name)
    return LogName(int(match["revision"]), LogKind(match["kind"] or "transaction"), match["uuid"]) if match else None


@dataclass(frozen=True)
class PartName:
    """What the name of a part's file tells."""

    transaction: UUID
    ordinal: int


def parse_part_name(name: str) -> PartName | None:
    """Return what `name`, below a data prefix, tells of its part, or None for what is no part."""
    *folders, file = name.split("/")
    match = _PART_FILE.fullmatch(file)
    if match is None or len(folders) != _PART_FOLDERS or any(parse_name(folder) is None for folder in folders):
        return None
    return PartName(UUID(match["uuid"]), int(match["ordinal"]))


def part_transaction(name: str) -> UUID | None:
    """Return the transaction that wrote the part called `name` below a data prefix, or None for what is no part."""
    parsed = parse_part_name(name)
    return parsed.transaction if parsed else None
