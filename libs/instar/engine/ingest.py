"""Ingest: the files of one interval become parts of a table, in one transaction."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from instar.catalog.actions import Run
from instar.catalog.snapshot import TableState
from instar.engine.stage import StageReport, Watched
from instar.engine.tasks import attempt_number, partition_number
from instar.engine.types import from_spark_form, spark_fields, to_spark_form
from instar.errors import InstarError
from instar.model.part import PART_FIELDS, PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.parts.names import escape_name
from instar.plan.merge import newest_versions
from instar.plan.root import Root
from instar.plan.write import WriteTask, as_updates, commit_run, write_parts
from instar.sources.landing import landing_files, landing_prefix
from instar.sources.line_protocol import count_lines, parse
from instar.storage.config import StoreConfig, open_store

_FILE, _LINE = "_instar_file", "_instar_line"
_TALLY = -1  # in place of a row's number: the counts of its file
_TALLIES = ("_instar_lines", "_instar_rejects", "_instar_other")
_ORDINALS = 1_000_000  # for the parts of one task


class NothingLanded(InstarError):
    """An interval without a file: its rows, if it has any, are left as they are."""


@dataclass(frozen=True)
class IngestArguments:
    store: StoreConfig
    table: str
    writer: str
    landing: str
    """The folder that files land in, as a URI; reached like the lake's store."""
    source: str
    interval_start: str
    """ISO 8601, with a time zone."""
    generation: int
    """Grows with each run of an interval; the same for retries of one run."""


@dataclass(frozen=True)
class _Files:
    """What tasks need to read the files of an interval."""

    landing: StoreConfig
    names: tuple[str, ...]
    schema: TableSchema
    store: StoreConfig
    quarantine: str


def ingest(spark: SparkSession, arguments: IngestArguments) -> StageReport:
    """Parse the interval's files, resolve duplicates, write parts and commit them. A retry changes nothing."""
    start = datetime.fromisoformat(arguments.interval_start)
    root = Root(arguments.store)
    watched = Watched(root, arguments.table)
    schema = watched.start.table(watched.name).schema
    landing = replace(arguments.store, uri=arguments.landing)
    prefix = landing_prefix(start)
    names = landing_files((info.key for info in open_store(landing).list(prefix)), start)
    if not names:
        raise NothingLanded(
            f"No file has landed below {arguments.landing}/{prefix}.", help="Put one there, or look at the source."
        )
    run = Run(f"{arguments.source}:{start.astimezone(UTC):%Y%m%dT%H%M%SZ}", arguments.generation)
    folders = (arguments.writer, watched.name.database, "quarantine", watched.name.table, run.origin)
    quarantine = "/".join([*map(escape_name, folders), str(run.generation)])
    parsed = _parse_files(spark, _Files(landing, names, schema, arguments.store, quarantine)).persist()
    try:
        lines, rejects, other = _tallies(parsed)
        rows = parsed.where(f"{_LINE} <> {_TALLY}").drop(*_TALLIES)
        count = rows.count()
        pieces = max(1, -(-count // schema.settings.part_rows))
        key = [column.name for column in schema.key_columns]
        spread = rows.repartitionByRange(pieces, *(f"`{name}`" for name in key)) if key else rows.repartition(pieces)
        t = int(start.timestamp()) * 1_000_000

        def write(state: TableState, transaction: UUID) -> pa.Table:
            provenance = Provenance(
                arguments.writer, watched.name, "", transaction, run.origin, run.generation, attempt=0
            )
            task = WriteTask(schema, PartFormat(state.flags.write_format), provenance)
            return _write_rows(spread, arguments.store, task, t)

        timeline = root.catalog.timeline(arguments.writer, watched.name.database)
        committed = commit_run(timeline, watched.name.table, run, write, clock=root.clock, uuids=root.uuids)
    finally:
        parsed.unpersist()
    evidence = {
        "table": arguments.table,
        "origin": run.origin,
        "generation": run.generation,
        "files": len(names),
        "lines": lines,
        "rows": count,
        "rejects": rejects,
        "other": other,
        "accounted": count + rejects + other,
        "reject_share": rejects / lines if lines else 0.0,
        "already": committed.already,
    }
    summary = {"revision": committed.revision, "already": committed.already, "quarantine": quarantine}
    others = [one for one in watched.landed() if committed.already or one["revision"] != committed.revision]
    return StageReport([evidence], watched.view().vector, others, summary)


def _parse_files(spark: SparkSession, files: _Files) -> DataFrame:
    """Return the rows of all files, numbered, and a tally row per file; put rejected lines into quarantine."""
    columns = files.schema.columns

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        landing, store = open_store(files.landing), open_store(files.store)
        for batch in batches:
            for number in batch["file"].to_pylist():
                name = files.names[number]
                data = landing.get(name)
                found = parse(data, files.schema, file=name)
                if found.rejects.num_rows:
                    store.put(f"{files.quarantine}/{number:05d}.parquet", _to_parquet(found.rejects))
                tally = (count_lines(data), found.rejects.num_rows, found.other)
                yield from _numbered(to_spark_form(found.rows, columns), number, tally)

    frame = spark.createDataFrame([(number,) for number in range(len(files.names))], "file int")
    tallies = ", ".join(f"{name} bigint" for name in _TALLIES)
    fields = f"{_FILE} bigint, {_LINE} bigint, {tallies}, {spark_fields(columns)}"
    return frame.repartition(len(files.names), "file").mapInArrow(read, fields)


def _numbered(rows: pa.Table, file: int, tally: tuple[int, int, int]) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows with their places, and its tally as one more row."""
    places = {
        _FILE: pa.repeat(pa.scalar(file, pa.int64()), rows.num_rows),
        _LINE: pa.array(range(rows.num_rows), pa.int64()),
    }
    blank = {name: pa.nulls(rows.num_rows, pa.int64()) for name in _TALLIES}
    whole = pa.table({**places, **blank, **dict(zip(rows.column_names, rows.columns, strict=True))})
    counts = {_FILE: [file], _LINE: [_TALLY], **{name: [count] for name, count in zip(_TALLIES, tally, strict=True)}}
    nulls = {name: [None] for name in rows.column_names}
    yield from whole.to_batches()
    yield from pa.table({**counts, **nulls}, schema=whole.schema).to_batches()


def _tallies(parsed: DataFrame) -> tuple[int, ...]:
    """Return the lines, rejected lines and lines of other tables, over all files."""
    found = parsed.where(f"{_LINE} = {_TALLY}").select(*_TALLIES).collect()
    return tuple(sum(row[name] for row in found) for name in _TALLIES)


def _write_rows(rows: DataFrame, store: StoreConfig, task: WriteTask, t: int) -> pa.Table:
    """Write each partition's rows as parts, in tasks; return the records of the parts of successful attempts."""
    schema = task.schema

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = list(batches)
        if not held:
            return
        table = pa.Table.from_batches(held)
        ordered = table.take(pc.sort_indices(table, sort_keys=[(_FILE, "ascending"), (_LINE, "ascending")]))
        fitting = from_spark_form(ordered, schema.columns)
        here = replace(task.for_attempt(attempt_number()), first_ordinal=partition_number() * _ORDINALS)
        records = write_parts(open_store(store), as_updates(newest_versions(fitting, schema), t), here)
        yield pa.RecordBatch.from_arrays([pa.array([_to_ipc(records)], pa.binary())], names=["records"])

    written = [_from_ipc(row.records) for row in rows.mapInArrow(write, "records binary").collect()]
    return pa.concat_tables([PART_FIELDS.empty_table(), *written], promote_options="permissive")


def _to_parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _to_ipc(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _from_ipc(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()
