"""The `json` codec: an object per row, a key per column.

What it writes is canonical: keys in column order, no blanks. What it reads may have blanks and any order of keys.
Values have the forms of `model.json_forms`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from instar.codec.columns import OTHER_COLUMNS, in_cell, to_cells, to_table
from instar.codec.protocol import CodecError
from instar.model.json_forms import form_of, parse, quote, to_fields
from instar.model.schema import Column
from instar.model.values import InvalidValue

_FOREIGN = "The part was not written by this codec."


class JsonCodec:
    """JSON objects, with a key for every column: a null is explicit."""

    name = "json"

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        if not columns:
            return pa.array([b""] * rows.num_rows, pa.binary())
        members = (_members(column, values) for column, values in zip(columns, to_cells(columns, rows), strict=True))
        return pa.array([f"{{{','.join(row)}}}".encode() for row in zip(*members, strict=True)], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        cells: dict[str, list[Any]] = {column.name: [] for column in columns}
        for number, blob in enumerate(blobs.to_pylist()):
            row = _parse(blob, number) if blob != b"" or columns else {}
            for name in row:
                if name not in cells:
                    raise CodecError(f"Row {number} has the key {name!r}, which is no column.", help=OTHER_COLUMNS)
            for column in columns:
                cells[column.name].append(_read_cell(column, row, number))
        return to_table(columns, [cells[column.name] for column in columns])


def _members(column: Column, values: Iterable[Any]) -> list[str]:
    """Return a column's key and value in each row's object."""
    key, form = quote(column.name), form_of(column.type)
    members = []
    for number, value in enumerate(values):
        try:
            members.append(f"{key}:{form.text(value)}")
        except InvalidValue as error:
            raise in_cell(column, number, error) from error
    return members


def _parse(blob: bytes | None, number: int) -> dict[str, Any]:
    """Return a row's keys and what they hold."""
    if blob is None:
        raise CodecError(f"Row {number} has no blob.", help=_FOREIGN)
    try:
        return to_fields(parse(blob.decode()))
    except (InvalidValue, UnicodeDecodeError) as error:
        fact = error.fact if isinstance(error, InvalidValue) else f"The blob is no JSON: {error}."
        raise CodecError(f"Row {number}: {fact}", help=_FOREIGN) from error


def _read_cell(column: Column, row: Mapping[str, Any], number: int) -> Any:
    if column.name not in row:
        raise CodecError(f"Row {number} has no key for column {column.name!r}.", help=OTHER_COLUMNS)
    try:
        return form_of(column.type).value(row[column.name])
    except InvalidValue as error:
        raise in_cell(column, number, error) from error
