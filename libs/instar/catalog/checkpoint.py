"""Checkpoints: the whole state at one revision in one object. They save time and are never needed."""

from dataclasses import dataclass

from instar.catalog.encoding import decode_checkpoint, encode_checkpoint
from instar.catalog.names import LogKind
from instar.catalog.snapshot import Snapshot
from instar.catalog.timeline import Timeline
from instar.errors import InstarError


class ForeignSnapshot(InstarError):
    """A snapshot that is no revision of the timeline it should be stored in."""


@dataclass(frozen=True)
class Checkpoint:
    """A stored checkpoint."""

    key: str
    revision: int
    bytes: int


def write_checkpoint(timeline: Timeline, snapshot: Snapshot) -> Checkpoint:
    """Store the state at `snapshot`'s revision. Doing it again is harmless, and repairs a damaged one."""
    here = (snapshot.writer, snapshot.database) == (timeline.writer, timeline.database)
    if not here or snapshot.revision == 0 or not timeline.holds(snapshot):
        raise ForeignSnapshot(
            f"{timeline} never was in the state {snapshot.uuid} at revision {snapshot.revision}.",
            help="Load the snapshot from the timeline itself.",
        )
    return store_checkpoint(timeline, snapshot)


def store_checkpoint(timeline: Timeline, snapshot: Snapshot) -> Checkpoint:
    """Store a state under its revision. It counts from the moment that the log has a transaction which leads to it."""
    key = timeline.key(snapshot.revision, LogKind.CHECKPOINT)
    data = encode_checkpoint(snapshot)
    timeline.store.put(key, data)
    return Checkpoint(key, snapshot.revision, len(data))


def read_checkpoint(timeline: Timeline, revision: int) -> Snapshot:
    """Return the state that the checkpoint at `revision` holds; raise NotFound or DamagedObject."""
    return decode_checkpoint(timeline.store.get(timeline.key(revision, LogKind.CHECKPOINT)))


def agrees_with_replay(timeline: Timeline, revision: int) -> bool:
    """Tell whether the checkpoint at `revision` is the state that the log before it leads to."""
    return read_checkpoint(timeline, revision).equals(timeline.replay(revision))
