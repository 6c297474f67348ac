"""Lines of one shape, read all at once.

Most lines of a file differ in their values alone. The shape of one line becomes a regular expression with a group per
value, and Arrow reads every line that it matches. Sound: a line that a shape matches is read as `parse_line` would
read it; a line that none matches is not judged here. So each group is narrower than the grammar wherever the grammar
has escapes, rare spellings or numbers near their limits.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from instar.model.arrow import to_arrow
from instar.model.schema import Column
from instar.model.types import BOOL, FLOAT64, INT64, STRING, TIMESTAMP_NS, DataType
from instar.sources.line import FALSE_WORDS, TRUE_WORDS, Line
from instar.sources.series import SeriesTable

_TAG = r'(?P<{group}>[^ ,="\\]+)'
_INTEGER = r"(?P<{group}>-?[1-8]?[0-9]{1,18})"
_FIELD: Mapping[DataType, str] = {
    BOOL: f"(?P<{{group}}>{'|'.join(TRUE_WORDS + FALSE_WORDS)})",
    INT64: f"{_INTEGER}i",
    FLOAT64: r"(?P<{group}>-?[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,2})?)",
    STRING: r'"(?P<{group}>[^"\\]*)"',
}
_PLAIN_NAME = re.compile(r'[^ ,="\\]+')


@dataclass(frozen=True)
class Shape:
    """A measurement with its tags and fields, in the order in which lines hold them."""

    pattern: str
    columns: tuple[Column, ...]


def shape_of(line: Line, table: SeriesTable) -> Shape | None:
    """Return the shape of a line that fits the table, or nothing where a name needs escapes."""
    names = (*line.tags, *line.fields)
    if not all(_PLAIN_NAME.fullmatch(name) for name in (line.measurement, *names)):
        return None
    columns = tuple(table.columns[name] for name in names)
    values = [_TAG] * len(line.tags) + [_FIELD[table.columns[name].type] for name in line.fields]
    pairs = [
        f"{re.escape(name)}={value.replace('{group}', f'g{number}')}"
        for number, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    series = ",".join([re.escape(line.measurement), *pairs[: len(line.tags)]])
    fields = ",".join(pairs[len(line.tags) :])
    return Shape(f"^{series} {fields} {_INTEGER.replace('{group}', 'time')}\r?$", (*columns, table.time))


def read_shape(shape: Shape, lines: pa.Array, table: SeriesTable) -> tuple[pa.Array, pa.Table]:
    """Return which of the lines have the shape, and their rows."""
    groups = pc.extract_regex(lines, shape.pattern)
    matched = groups.is_valid()
    texts = groups.filter(matched).flatten()
    values = {column.name: _convert(text, column.type) for column, text in zip(shape.columns, texts, strict=True)}
    rows = len(texts[-1])
    return matched, pa.Table.from_arrays(
        [values.get(c.name, pa.nulls(rows, to_arrow(c.type))) for c in table.schema.columns],
        schema=table.schema.arrow_schema(),
    )


def as_text(lines: Sequence[bytes]) -> pa.Array:
    """Return lines as Arrow strings, null for each that is not UTF-8."""
    try:
        return pa.array(lines, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([line if _is_utf8(line) else None for line in lines], pa.binary()).cast(pa.string())


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _convert(texts: pa.Array, data_type: DataType) -> pa.Array:
    if data_type == BOOL:
        return pc.is_in(texts, value_set=pa.array(TRUE_WORDS))
    if data_type == TIMESTAMP_NS:
        return texts.cast(pa.int64()).cast(to_arrow(data_type))
    return texts.cast(to_arrow(data_type))
