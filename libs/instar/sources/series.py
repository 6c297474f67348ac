"""A table as line protocol sees it."""

from collections.abc import Mapping
from dataclasses import dataclass

from instar.errors import InstarError
from instar.model.schema import Column, TableSchema
from instar.model.types import BOOL, FLOAT64, INT64, STRING, TIMESTAMP_NS, DataType
from instar.sources.line import FieldValue, Line, MalformedLine

TIME_COLUMN = "time"
"""Holds the timestamp of each line."""

_FIELD_TYPES: Mapping[type, DataType] = {bool: BOOL, int: INT64, float: FLOAT64, str: STRING}


class NotTimeSeries(InstarError):
    """A table whose rows line protocol can't hold."""


def field_type(value: FieldValue) -> DataType:
    """Return the type of the column that holds such a field."""
    return _FIELD_TYPES[type(value)]


@dataclass(frozen=True)
class SeriesTable:
    """The columns that tags, fields and timestamps go to. Names match exactly: line protocol minds case."""

    schema: TableSchema
    columns: Mapping[str, Column]
    time: Column
    required: frozenset[str]

    @classmethod
    def of(cls, schema: TableSchema) -> "SeriesTable":
        columns = {column.name: column for column in schema.columns}
        time = columns.get(TIME_COLUMN)
        if time is None or time.type != TIMESTAMP_NS:
            raise NotTimeSeries(
                f"{schema.name} has no column {TIME_COLUMN!r} of type {TIMESTAMP_NS}.",
                help="Line protocol needs one for its timestamps.",
            )
        return cls(schema, columns, time, frozenset(c.name for c in schema.columns if not c.nullable))

    def fit(self, line: Line) -> dict[str, FieldValue]:
        """Return the line as a row, its time in nanoseconds; what the line lacks, the row lacks."""
        for name in line.tags:
            self._check(name, STRING, "tag")
        for name, value in line.fields.items():
            self._check(name, field_type(value), "field")
        row = {**line.tags, **line.fields, TIME_COLUMN: line.time}
        if missing := self.required - row.keys():
            raise MalformedLine(f"The required column {min(missing)!r} has no value.")
        return row

    def _check(self, name: str, data_type: DataType, kind: str) -> None:
        column = self.columns.get(name)
        if name == TIME_COLUMN:
            raise MalformedLine(f"The {kind} {name!r} has the name of the timestamp's column.")
        if column is None:
            raise MalformedLine(f"The {kind} {name!r} names no column of {self.schema.name}.")
        if column.type != data_type:
            raise MalformedLine(f"The {kind} {name!r} is {data_type}, its column {column.type}.")
