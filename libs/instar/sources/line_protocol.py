"""Line protocol into rows of a table: each line becomes a row, belongs to another table, or is quarantined."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from instar.clock import IdSource
from instar.errors import InstarError
from instar.model.arrow import to_arrow
from instar.model.schema import MergeMode, TableSchema
from instar.model.types import STRING, TIMESTAMP_NS, DataType
from instar.sources.line import FieldValue, Line, MalformedLine, parse_line, parse_measurement
from instar.sources.series import TIME_COLUMN, SeriesTable, field_type
from instar.sources.uniform import Shape, as_text, read_shape, shape_of

REJECT_FIELDS = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("line_number", pa.int64(), nullable=False),  # counted from 1
        pa.field("offset", pa.int64(), nullable=False),  # of the line's first byte
        pa.field("line", pa.binary(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)

_BATCH_LINES = 131_072
_MOST_SHAPES = 16
_FEWEST_LINES = 32
"""Fewer are faster read with care than by a shape."""


class SchemaConflict(InstarError):
    """Lines that no single table can hold."""


@dataclass(frozen=True)
class Parsed:
    """What became of the lines of one file. Comments and blank lines are nowhere."""

    rows: pa.Table
    """In the order of their lines."""
    rejects: pa.Table
    """Quarantined lines, each with its place and the reason."""
    other: int
    """How many lines belong to other measurements, hence to other tables."""


def parse(data: bytes, schema: TableSchema, *, file: str = "") -> Parsed:
    """Read a file of line protocol as rows of one table.

    The measurement is the table's name, tags are string columns, fields are columns of their type, and the timestamp
    is the column `time`. Tags and fields that a line lacks are null. A line that doesn't fit is quarantined.
    """
    table = SeriesTable.of(schema)
    lines = data.split(b"\n")
    shapes: list[Shape] = []
    batches = [
        _read_batch(lines[start : start + _BATCH_LINES], table, shapes) for start in range(0, len(lines), _BATCH_LINES)
    ]
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    rejects = [
        {"file": file, "line_number": n + 1, "offset": offsets[n], "line": lines[n], "reason": reason}
        for number, batch in enumerate(batches)
        for index, reason in batch.rejects.items()
        for n in [number * _BATCH_LINES + index]
    ]
    return Parsed(
        pa.concat_tables([batch.rows for batch in batches]),
        pa.Table.from_pylist(rejects, schema=REJECT_FIELDS),
        sum(batch.other for batch in batches),
    )


def count_lines(data: bytes) -> int:
    """Return how many lines a file has for `parse` to account for: all but comments and blank ones."""
    return sum(not _is_silent(line) for line in data.split(b"\n"))


def infer_schema(data: bytes, database: str, measurement: str, ids: IdSource) -> TableSchema:
    """Define the table that holds the lines of a measurement.

    It is an upsert table keyed by all tags and the time; a tag is required only if every line has it. Malformed lines
    are passed over: whoever parses the file for the table quarantines them.
    """
    lines = list(_good_lines(data, measurement))
    if not lines:
        raise SchemaConflict(f"No line tells the columns of {measurement!r}.", help="Give one well-formed line of it.")
    tags = {tag: STRING for line in lines for tag in line.tags}
    fields = _field_types(lines)
    if both := tags.keys() & fields.keys():
        raise SchemaConflict(f"{min(both)!r} is both a tag and a field of {measurement!r}.", help="Rename one of them.")
    if TIME_COLUMN in tags | fields:
        raise SchemaConflict(f"{measurement!r} has a tag or field {TIME_COLUMN!r}.", help="That names its timestamp.")
    columns = tags | {TIME_COLUMN: TIMESTAMP_NS} | fields
    schema = TableSchema.create(
        f"{database}.{measurement}",
        {name: str(data_type) for name, data_type in columns.items()},
        ids=ids,
        key=(*tags, TIME_COLUMN),
        merge_mode=MergeMode.UPSERT,
    )
    optional = {tag for tag in tags if any(tag not in line.tags for line in lines)}
    return replace(schema, columns=tuple(replace(c, nullable=c.nullable or c.name in optional) for c in schema.columns))


@dataclass(frozen=True)
class _Batch:
    rows: pa.Table
    rejects: dict[int, str]
    other: int


def _read_batch(lines: Sequence[bytes], table: SeriesTable, shapes: list[Shape]) -> _Batch:
    """Read lines by the shapes that are known, and the others with care, adding to `shapes` what these show."""
    text = as_text(lines)
    untried = list(shapes)
    pending = np.arange(len(lines))
    places: list[npt.NDArray[np.int64]] = []
    tables: list[pa.Table] = []
    careful: dict[int, dict[str, FieldValue]] = {}
    rejects: dict[int, str] = {}
    other = 0
    while pending.size:
        if untried:
            matched, rows = read_shape(untried.pop(), text.take(pa.array(pending)), table)
            mask = matched.to_numpy(zero_copy_only=False)
            tables.append(rows)
            places.append(pending[mask])
            pending = pending[~mask]
            continue
        index, pending = int(pending[0]), pending[1:]
        if _is_silent(lines[index]):
            continue
        try:
            line = _read_line(lines[index], table.schema.name.table)
            if line is None:
                other += 1
                continue
            careful[index] = table.fit(line)
        except MalformedLine as malformed:
            rejects[index] = malformed.fact
            continue
        if pending.size >= _FEWEST_LINES and len(shapes) < _MOST_SHAPES:
            shape = shape_of(line, table)
            if shape is not None and shape not in shapes:
                shapes.append(shape)
                untried.append(shape)
    tables.append(_to_table(list(careful.values()), table.schema))
    places.append(np.array(list(careful), np.int64))
    order = np.argsort(np.concatenate(places))
    return _Batch(pa.concat_tables(tables).take(pa.array(order)), rejects, other)


def _is_silent(line: bytes) -> bool:
    return line.startswith(b"#") or not line.strip()


def _read_line(line: bytes, measurement: str) -> Line | None:
    """Return what a line says, or nothing if it belongs to another measurement."""
    text = line.removesuffix(b"\r").decode(errors="surrogateescape")
    if parse_measurement(text) != measurement:
        return None
    if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
        raise MalformedLine("The line is not UTF-8.")
    return parse_line(text)


def _to_table(rows: Sequence[dict[str, FieldValue]], schema: TableSchema) -> pa.Table:
    return pa.Table.from_arrays(
        [pa.array([row.get(c.name) for row in rows], to_arrow(c.type)) for c in schema.columns],
        schema=schema.arrow_schema(),
    )


def _good_lines(data: bytes, measurement: str) -> Iterator[Line]:
    for raw in data.split(b"\n"):
        if _is_silent(raw):
            continue
        try:
            line = _read_line(raw, measurement)
        except MalformedLine:
            continue
        if line is not None:
            yield line


def _field_types(lines: Sequence[Line]) -> dict[str, DataType]:
    types: dict[str, DataType] = {}
    for line in lines:
        for name, value in line.fields.items():
            data_type = field_type(value)
            if types.setdefault(name, data_type) != data_type:
                raise SchemaConflict(
                    f"The field {name!r} is {types[name]} in one line and {data_type} in another.",
                    help="Write it as one type.",
                )
    return types
