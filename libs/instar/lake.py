"""The façade: a lake, its tables and scans."""

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa

from instar.catalog.actions import AlterTable, CreateTable, Run, SetFlags
from instar.catalog.commit import Change, CommitConflict, Committed, commit
from instar.catalog.preconditions import SchemaIs, TableAbsent
from instar.catalog.snapshot import TableState
from instar.catalog.timeline import Timeline
from instar.catalog.union import UnitedTable, View
from instar.catalog.vector import RevisionVector, TimelineId
from instar.clock import Clock, UuidSource, random_uuid, system_clock
from instar.errors import InstarError
from instar.flags import Flags, ReadFormat
from instar.model.part import PartFormat
from instar.model.schema import MergeMode, TableName, TableSchema
from instar.parts.footer import Provenance
from instar.plan.merge import newest_versions
from instar.plan.observation import Observer, log_observation
from instar.plan.queries import Query, record_query
from instar.plan.read import answer
from instar.plan.root import Root
from instar.plan.scan import ScanPlan, plan_scan
from instar.plan.write import InvalidRows, WriteTask, as_updates, commit_run, fit_rows, write_parts
from instar.storage.config import StoreConfig
from instar.storage.protocol import StoreError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

DEFAULT_WRITER = "main"
_MOST_PLANS = 5
logger = logging.getLogger(__name__)

AsOf = RevisionVector | datetime | int | str | None


class MissingTime(InstarError):
    """Rows for an upsert table without the logical time that says which of two versions is newer."""


class DuplicateTable(InstarError):
    """A table whose name is taken."""


class UnappliedDeletes(InstarError):
    """A table with deletes that a scan would not take into account."""


class AmbiguousRevision(InstarError):
    """A revision number where several timelines have one."""


class Lake(Root):
    """A root in an object store, seen through its catalog. What it writes goes to one writer's timelines."""

    def __init__(
        self,
        config: StoreConfig,
        *,
        writer: str = DEFAULT_WRITER,
        clock: Clock = system_clock,
        uuids: UuidSource = random_uuid,
        single_process: bool = False,
    ) -> None:
        super().__init__(config, clock=clock, uuids=uuids, single_process=single_process)
        self.writer = writer

    def tables(self) -> list[TableName]:
        return sorted(self.catalog.view().tables)

    def table(self, name: str | TableName) -> "Table":
        """Return a table that exists."""
        table = Table(self, TableName.parse(name) if isinstance(name, str) else name)
        table.state()
        return table

    def create_table(self, schema: TableSchema) -> "Table":
        """Add a table to this lake's writer. A table of another writer is joined by writing to it."""
        if schema.name in self.catalog.view(database=schema.name.database).tables:
            raise DuplicateTable(
                f"{schema.name} exists.", help="Choose another name, or write to the table that is there."
            )
        change = Change(self.uuids(), (CreateTable(schema),), (TableAbsent(schema.name.table),))
        commit(self.catalog.timeline(self.writer, schema.name.database), change, clock=self.clock)
        return Table(self, schema.name)


@dataclass(frozen=True)
class Table:
    """A table of a lake: the union of what all writers hold of it."""

    lake: Lake
    name: TableName

    @property
    def schema(self) -> TableSchema:
        return self.state().schema

    @property
    def flags(self) -> Flags:
        return self.state().flags

    def state(self, as_of: AsOf = None) -> UnitedTable:
        return self.view(as_of).table(self.name)

    def view(self, as_of: AsOf = None) -> View:
        """Return the table's database as of a vector, its text, a time, or a number where there is one timeline."""
        return self.lake.catalog.view(self._vector(as_of), database=self.name.database)

    def scan(self, where: str | None = None, columns: Sequence[str] | None = None, as_of: AsOf = None) -> "Scan":
        """Ask for rows. The scan is pinned to the revisions of now, or of `as_of`, until its end."""
        view = self.view(as_of)
        state = view.table(self.name)
        if state.tombstones:
            raise UnappliedDeletes(
                f"{self.name} has {len(state.tombstones)} tombstones, which this version records but can't apply.",
                help="Read it as of a revision before the delete, or with a version that applies them.",
            )
        plan = plan_scan(
            state.schema, state.parts, state.flags, view.vector, where=where, columns=columns, aliases=state.aliases
        )
        return Scan(self.lake, plan)

    def append(
        self, rows: "pa.Table | pd.DataFrame", *, t: int | None = None, origin: str | None = None, generation: int = 0
    ) -> Committed:
        """Commit rows, as one transaction.

        `t` is the logical time of all of them: of two versions of a key the one with the greater `t` is newer, however
        late it comes. The same `origin` and `generation` commit once; a higher generation replaces the one before.
        Later rows win over earlier ones with the same key.
        """
        schema = self.schema
        if t is None and schema.merge_mode is MergeMode.UPSERT:
            raise MissingTime(
                f"{self.name} keeps the newest version of each key, and these rows have no logical time.",
                help="Pass t: the source's sequence number, or the start of its interval.",
            )
        updates = as_updates(newest_versions(fit_rows(_to_arrow(rows), schema), schema), t or 0)
        lake = self.lake

        def write(state: TableState, transaction: UUID) -> pa.Table:
            provenance = Provenance(lake.writer, self.name, "", transaction, run.origin, generation, attempt=0)
            task = WriteTask(schema, PartFormat(state.flags.write_format), provenance)
            return write_parts(lake.store, updates, task)

        run = Run(origin or f"append:{lake.uuids()}", generation)
        timeline = self.join()
        return commit_run(timeline, self.name.table, run, write, clock=lake.clock, uuids=lake.uuids)

    def join(self) -> Timeline:
        """Return the timeline of this lake's writer, which holds the table from now on: with its columns and flags."""
        timeline = self.lake.catalog.timeline(self.lake.writer, self.name.database)
        if self.name.table not in timeline.load().tables:
            state = self.state()
            version = max(of.flags_version for of in state.timelines.values())
            imported = (CreateTable(state.schema), SetFlags(self.name.table, state.flags, version))
            actions = imported if version else imported[:1]
            with contextlib.suppress(CommitConflict):  # another process of this writer was first
                change = Change(self.lake.uuids(), actions, (TableAbsent(self.name.table),))
                commit(timeline, change, clock=self.lake.clock)
        return timeline

    def alter(self, change: Callable[[TableSchema], TableSchema]) -> TableSchema:
        """Change the table's columns or order, in every timeline that holds it, and return the new schema.

        `change` is a function of `instar.model.evolve` or `instar.catalog.alter` with all but the schema given. Where a
        timeline was altered meanwhile the change is made anew on what it has now.
        """
        for writer in self.state().timelines:
            timeline = self.lake.catalog.timeline(writer, self.name.database)
            for attempt in range(_MOST_PLANS):
                before = timeline.load().table(self.name.table).schema
                altered = Change(self.lake.uuids(), (AlterTable(change(before)),), (SchemaIs(before),))
                try:
                    commit(timeline, altered, clock=self.lake.clock)
                except CommitConflict:
                    if attempt + 1 == _MOST_PLANS or timeline.load().table(self.name.table).schema == before:
                        raise
                    continue
                break
        return self.schema

    def _vector(self, as_of: AsOf) -> RevisionVector | None:
        if isinstance(as_of, datetime):
            return self.lake.catalog.vector_at(_micros(as_of), database=self.name.database)
        if isinstance(as_of, str):
            return RevisionVector.parse(as_of)
        if not isinstance(as_of, int):
            return as_of
        writers = self.lake.catalog.writers(self.name.database)
        if len(writers) != 1:
            raise AmbiguousRevision(
                f"{self.name.database} has {len(writers)} timelines, each with revisions of its own.",
                help="Name a revision per timeline: writer/database@revision, joined by commas.",
            )
        return RevisionVector.of({TimelineId(writers[0], self.name.database): as_of})


@dataclass(frozen=True)
class Scan:
    """A question to a table at one revision vector."""

    lake: Lake
    _plan: ScanPlan

    def plan(self) -> ScanPlan:
        """Return which parts are read and which are skipped, with the reason for each."""
        return self._plan

    def to_arrow(self, observe: Observer = log_observation) -> pa.Table:
        """Return the rows. What shadow and soft reads find amiss goes to `observe`, by default to the log."""
        self._record()
        return answer(self.lake.store, self._plan, observe)

    def to_pandas(self) -> "pd.DataFrame":
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_spark(self, spark: "SparkSession") -> "DataFrame":
        """Return the rows as a DataFrame that executors read."""
        from instar.engine.scan import scan_to_spark

        self._record()
        return scan_to_spark(spark, self.lake.config, self._plan)

    def _record(self) -> None:
        """Keep the question as evidence for the switchover, until that is done. A reader may lack the right to."""
        plan = self._plan
        if plan.flags.read_format is ReadFormat.STRUCTURED:
            return
        try:
            record_query(self.lake.store, plan.schema.name, Query(plan.where, tuple(c.name for c in plan.columns)))
        except StoreError as error:
            logger.warning("A query of %s was not recorded: %s", plan.schema.name, error)


def _micros(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise AmbiguousRevision(f"{moment} names no time zone.", help="Give the time a tzinfo, such as UTC.")
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _to_arrow(rows: "pa.Table | pd.DataFrame") -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    try:
        return pa.Table.from_pandas(rows, preserve_index=False)
    except (ValueError, TypeError) as error:  # Arrow's own errors are of these kinds
        raise InvalidRows(f"The rows can't be held by Arrow: {error}", help="Give each column one type.") from error


def open_lake(
    uri: str,
    *,
    writer: str = DEFAULT_WRITER,
    profile: str | None = None,
    endpoint: str | None = None,
    region: str | None = None,
    single_process: bool = False,
) -> Lake:
    """Open the lake below a root: `file:///folder` or `s3://bucket/prefix`.

    `single_process` promises that nobody else writes as this writer: only then may the store lack put-if-absent.
    """
    return Lake(StoreConfig(uri, profile, endpoint, region), writer=writer, single_process=single_process)
