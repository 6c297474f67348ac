"""The `row` codec: a protobuf message per row, a datum per column."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from google.protobuf.message import DecodeError

from instar.codec.protocol import CodecError
from instar.codec.row_pb2 import Datum, Null, Row
from instar.model.schema import Column
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType, to_arrow

_KINDS: dict[DataType, str] = {
    BOOL: "bool_value",
    INT64: "int64_value",
    FLOAT64: "float64_value",
    STRING: "string_value",
    BYTES: "bytes_value",
    TIMESTAMP: "timestamp_value",
    TIMESTAMP_NS: "timestamp_ns_value",
}
_NULL = "null"
_AS_INTEGERS = frozenset({TIMESTAMP, TIMESTAMP_NS})
"""Types whose Python values would lose range or precision."""


class RowCodec:
    """Protobuf rows of datums, one per column and in their order; a null is explicit."""

    name = "row"

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        if not columns:
            return pa.array([b""] * rows.num_rows, pa.binary())
        datums = [_encode_column(column, rows.column(column.name)) for column in columns]
        return pa.array([Row(datums=row).SerializeToString() for row in zip(*datums, strict=True)], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        values: list[list[Any]] = [[] for _ in columns]
        kinds = [_KINDS[column.type] for column in columns]
        for number, blob in enumerate(blobs.to_pylist()):
            datums = _parse(blob, number)
            if len(datums) != len(columns):
                raise _wrong_count(columns, len(datums), number)
            for column, kind, datum, cells in zip(columns, kinds, datums, values, strict=True):
                found = datum.WhichOneof("kind")
                if found == kind:
                    cells.append(getattr(datum, kind))
                elif found == _NULL:
                    cells.append(None)
                else:
                    raise _wrong_kind(column, kind, found, number)
        arrays = [_to_array(column, cells) for column, cells in zip(columns, values, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema([column.arrow_field() for column in columns]))


def _encode_column(column: Column, values: pa.ChunkedArray) -> list[Datum]:
    if values.type != to_arrow(column.type):
        raise CodecError(
            f"Column {column.name!r} is {column.type}, but its values are {values.type}.",
            help=f"Cast them to {to_arrow(column.type)}.",
        )
    cells: Iterable[Any] = (values.cast(pa.int64()) if column.type in _AS_INTEGERS else values).to_pylist()
    kind, null = _KINDS[column.type], Datum(null=Null())
    return [null if cell is None else Datum(**{kind: cell}) for cell in cells]


def _to_array(column: Column, cells: list[Any]) -> pa.Array:
    if column.type in _AS_INTEGERS:
        return pa.array(cells, pa.int64()).cast(to_arrow(column.type))
    return pa.array(cells, to_arrow(column.type))


def _parse(blob: bytes | None, number: int) -> Sequence[Datum]:
    if blob is None:
        raise CodecError(f"Row {number} has no blob.", help="The part was not written by this codec.")
    try:
        return Row.FromString(blob).datums
    except DecodeError as error:
        raise CodecError(
            f"The blob of row {number} is no row: {error}.", help="The part was not written by this codec."
        ) from error


def _wrong_count(columns: Sequence[Column], found: int, number: int) -> CodecError:
    names = ", ".join(column.name for column in columns) or "none"
    odd = f"column {columns[found].name!r} has none" if found < len(columns) else "the last ones have no column"
    return CodecError(
        f"Row {number} holds {found} values for {len(columns)} columns ({names}): {odd}.",
        help="Decode it with the columns that it was written with.",
    )


def _wrong_kind(column: Column, expected: str, found: str | None, number: int) -> CodecError:
    return CodecError(
        f"Row {number} holds {found or 'a value of unknown kind'} for column {column.name!r}, not {expected}.",
        help="Decode it with the columns that it was written with; an unknown kind needs a newer release.",
    )
