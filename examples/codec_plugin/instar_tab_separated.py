"""Rows of strings and int64s as tab-separated text."""

import re
from collections.abc import Sequence

import pyarrow as pa

from instar.codec.protocol import CodecError
from instar.model.schema import Column
from instar.model.types import INT64, STRING

NULL = r"\N"
ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n"}
PLAIN = {escape: character for character, escape in ESCAPES.items()}
NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")
LIMIT = 2**63


class TabSeparatedCodec:
    """A line per row, without its end: tabs between the values, and `\\N` for a null."""

    name = "tab_separated"

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        _check_types(columns)
        if not columns:
            return pa.array([b""] * rows.num_rows, pa.binary())
        texts = [_to_texts(column, rows.column(column.name)) for column in columns]
        return pa.array(["\t".join(row).encode() for row in zip(*texts, strict=True)], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        _check_types(columns)
        cells: list[list[str | int | None]] = [[] for _ in columns]
        for number, blob in enumerate(blobs.to_pylist()):
            texts = _split(blob, number) if blob != b"" or columns else []
            if len(texts) != len(columns):
                raise CodecError(
                    f"Row {number} holds {len(texts)} values for {len(columns)} columns.",
                    help="Decode it with the columns that it was written with.",
                )
            for column, text, values in zip(columns, texts, cells, strict=True):
                values.append(_from_text(column, text, number))
        schema = pa.schema([column.arrow_field() for column in columns])
        return pa.Table.from_arrays(list(map(pa.array, cells, schema.types)), schema=schema)


def _check_types(columns: Sequence[Column]) -> None:
    for column in columns:
        if column.type not in (STRING, INT64):
            raise CodecError(
                f"Column {column.name!r} is {column.type}.", help="Tab-separated text holds string and int64 alone."
            )


def _to_texts(column: Column, values: pa.ChunkedArray) -> list[str]:
    if values.type != column.arrow_field().type:
        raise CodecError(
            f"Column {column.name!r} is {column.type}, but its values are {values.type}.", help="Cast them."
        )
    return [_to_text(value) for value in values.to_pylist()]


def _to_text(value: str | int | None) -> str:
    if value is None:
        return NULL
    return re.sub(r"[\\\t\n]", lambda found: ESCAPES[found[0]], str(value))


def _split(blob: bytes | None, number: int) -> list[str]:
    if blob is None:
        raise CodecError(f"Row {number} has no blob.", help="It was not written by this codec.")
    try:
        return blob.decode().split("\t")
    except UnicodeDecodeError as error:
        raise CodecError(f"Row {number} is no text: {error}.", help="It was not written by this codec.") from error


def _from_text(column: Column, text: str, number: int) -> str | int | None:
    if text == NULL:
        return None
    if column.type == INT64 and NUMBER.fullmatch(text) and -LIMIT <= int(text) < LIMIT:
        return int(text)
    if column.type == STRING and re.fullmatch(r"(?:[^\\\n]|\\[\\tn])*", text):
        return re.sub(r"\\[\\tn]", lambda found: PLAIN[found[0]], text)
    raise CodecError(
        f"Row {number} holds {text!r} for column {column.name!r}, which is {column.type}.",
        help="It was not written by this codec.",
    )
