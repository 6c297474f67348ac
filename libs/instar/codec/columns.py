"""What codecs that work value by value share: columns of values in, columns of values out."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from instar.codec.protocol import CodecError
from instar.model.arrow import to_arrow
from instar.model.schema import Column
from instar.model.values import InvalidValue, to_array, to_values

OTHER_COLUMNS = "Decode it with the columns that it was written with."


def check_types(columns: Sequence[Column], rows: pa.Table) -> None:
    """Check that each column of `rows` has the type that the table says."""
    for column in columns:
        if (found := rows.column(column.name).type) != to_arrow(column.type):
            raise CodecError(
                f"Column {column.name!r} is {column.type}, but its values are {found}.",
                help=f"Cast them to {to_arrow(column.type)}.",
            )


def to_cells(columns: Sequence[Column], rows: pa.Table) -> list[list[Any]]:
    """Return the values of each column, which are of its type."""
    check_types(columns, rows)
    return [to_values(column.type, rows.column(column.name)) for column in columns]


def to_table(columns: Sequence[Column], cells: Sequence[Sequence[Any]]) -> pa.Table:
    """Return the values of each column as a table."""
    arrays = [to_array(column.type, values) for column, values in zip(columns, cells, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema([column.arrow_field() for column in columns]))


def in_cell(column: Column, number: int, error: InvalidValue) -> CodecError:
    """Return the error of a value, with the row and the column that it is in."""
    return CodecError(
        f"Row {number}, column {column.name!r}, which is {column.type}: {error.fact}", help=error.help or OTHER_COLUMNS
    )
