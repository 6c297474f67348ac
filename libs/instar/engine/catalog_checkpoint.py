"""Stage 5: a checkpoint per timeline, held against a replay of its log."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from instar.catalog.checkpoint import agrees_with_replay, write_checkpoint
from instar.catalog.timeline import Timeline
from instar.engine.stage import StageArguments, StageReport, Watched
from instar.engine.tasks import run_tasks
from instar.plan.root import Root
from instar.storage.config import StoreConfig, open_store


@dataclass(frozen=True)
class _Piece:
    store: StoreConfig
    writer: str
    database: str
    revision: int


def catalog_checkpoint(spark: SparkSession, arguments: StageArguments) -> StageReport:
    """Checkpoint every timeline that holds the table, at the revisions that it has when the job begins."""
    watched = Watched(Root(arguments.store), arguments.table)
    pieces = [
        _Piece(arguments.store, place.writer, place.database, revision)
        for place, revision in watched.start.vector
        if place.writer in watched.writers
    ]
    evidence = run_tasks(spark, _checkpoint, pieces)
    return StageReport(evidence, watched.start.vector, watched.landed(), {"checkpoints": len(evidence)})


def _checkpoint(piece: _Piece, attempt: int) -> dict[str, Any]:  # noqa: ARG001 - the same object each time
    timeline = Timeline(open_store(piece.store), piece.writer, piece.database)
    snapshot = timeline.load(piece.revision)
    written = write_checkpoint(timeline, snapshot)
    return {
        "timeline": f"{piece.writer}/{piece.database}",
        "revision": written.revision,
        "bytes": written.bytes,
        "agrees": agrees_with_replay(timeline, written.revision),
        "live_parts": len(snapshot.live_keys()),
    }
