"""Revision vectors: which revision of each timeline a reader sees."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from instar.errors import InstarError
from instar.parts.names import escape_name, unescape_name


class InvalidVector(InstarError):
    """Text that is no revision vector."""


@dataclass(frozen=True, order=True)
class TimelineId:
    writer: str
    database: str


@dataclass(frozen=True)
class RevisionVector:
    """A revision per timeline, sorted by timeline. Its text form is `writer/database@revision`, joined by commas."""

    entries: tuple[tuple[TimelineId, int], ...] = ()

    @classmethod
    def of(cls, revisions: Mapping[TimelineId, int]) -> "RevisionVector":
        return cls(tuple(sorted(revisions.items())))

    @classmethod
    def parse(cls, text: str) -> "RevisionVector":
        return cls.of(dict(_parse_entry(entry) for entry in text.split(",") if entry))

    @classmethod
    def from_json(cls, value: list[dict[str, Any]]) -> "RevisionVector":
        return cls.of({TimelineId(entry["writer"], entry["database"]): entry["revision"] for entry in value})

    def to_json(self) -> list[dict[str, Any]]:
        return [{"writer": t.writer, "database": t.database, "revision": revision} for t, revision in self.entries]

    def __str__(self) -> str:
        return ",".join(f"{escape_name(t.writer)}/{escape_name(t.database)}@{r}" for t, r in self.entries)

    def __iter__(self) -> Iterator[tuple[TimelineId, int]]:
        return iter(self.entries)

    def __getitem__(self, timeline: TimelineId) -> int:
        return dict(self.entries)[timeline]


def _parse_entry(text: str) -> tuple[TimelineId, int]:
    place, _, revision = text.partition("@")
    writer, _, database = place.partition("/")
    if not (writer and database and revision.isascii() and revision.isdigit()):
        raise InvalidVector(
            f"{text!r} is no entry of a revision vector.", help="Write writer/database@revision, joined by commas."
        )
    return TimelineId(unescape_name(writer), unescape_name(database)), int(revision)
