"""Rewrite parts on executors; swap them for the old ones in one transaction per timeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from instar.catalog.actions import AddParts, RemoveParts
from instar.catalog.commit import Change, CommitConflict, commit
from instar.catalog.preconditions import PartsLive
from instar.catalog.snapshot import TableState
from instar.engine.stage import Watched
from instar.engine.tasks import run_tasks
from instar.errors import InstarError
from instar.maintain.rewrite import Group, Rewritten, rewrite_group
from instar.model.part import PartFormat
from instar.parts.footer import Provenance
from instar.plan.write import WriteTask
from instar.storage.config import StoreConfig, open_store

_MOST_PLANS = 5
_ORDINALS = 1_000_000  # for the parts of one group


class PartsKeepChanging(InstarError):
    """A rewrite whose inputs were replaced each time before it could commit."""


@dataclass(frozen=True)
class _Piece:
    store: StoreConfig
    group: Group
    task: WriteTask


def rewrite_parts(
    spark: SparkSession, watched: Watched, format: PartFormat, choose: Callable[[TableState], Sequence[Group]]
) -> list[Rewritten]:
    """Rewrite the groups that `choose` picks, in every timeline that holds the table, and return what became of each.

    Readers see the old parts or the new ones. Where any group comes out with other content than it went in, its
    timeline keeps what it has.
    """
    return [done for writer in watched.writers for done in _rewrite_timeline(spark, watched, writer, format, choose)]


def _rewrite_timeline(
    spark: SparkSession,
    watched: Watched,
    writer: str,
    format: PartFormat,
    choose: Callable[[TableState], Sequence[Group]],
) -> list[Rewritten]:
    root, table = watched.root, watched.name.table
    timeline = root.catalog.timeline(writer, watched.name.database)
    for _ in range(_MOST_PLANS):
        state = timeline.load().table(table)
        groups, uuid = choose(state), root.uuids()
        pieces = []
        for place, group in enumerate(groups):
            provenance = Provenance(
                writer, watched.name, "", uuid, group.origin, group.generation, attempt=0, replaces=group.keys
            )
            task = WriteTask(state.schema, format, provenance, first_ordinal=place * _ORDINALS)
            pieces.append(_Piece(root.config, group, task))
        done = run_tasks(spark, _rewrite, pieces)
        records = [one.records for one in done if one.records is not None and one.same_content]
        if not records or len(records) < len(done):
            return done
        keys = tuple(key for group in groups for key in group.keys)
        added = AddParts(table, pa.concat_tables(records, promote_options="permissive"), data_change=False)
        change = Change(uuid, (RemoveParts(table, keys, data_change=False), added), (PartsLive(table, keys),))
        try:
            commit(timeline, change, clock=root.clock)
        except CommitConflict:
            continue
        return done
    raise PartsKeepChanging(
        f"The parts of {watched.name} were replaced {_MOST_PLANS} times while they were rewritten.",
        help="Run it again when fewer intervals are being re-run.",
    )


def _rewrite(piece: _Piece, attempt: int) -> Rewritten:
    return rewrite_group(open_store(piece.store), piece.group, piece.task.for_attempt(attempt))
