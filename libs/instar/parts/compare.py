"""Compare the two encodings of a dual part, datum by datum."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from instar.errors import InstarError
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.model.types import BYTES, FLOAT64, DataType
from instar.parts.reader import open_part
from instar.storage.protocol import Store

MOST_REPORTED = 100
"""How many differences of a part are reported one by one."""


class NothingToCompare(InstarError):
    """A part with one encoding only."""


@dataclass(frozen=True)
class Difference:
    """A datum that the two encodings of a row disagree on. Values are shown as text; None is null."""

    part: str
    row: int
    """Counted from 0, in file order."""
    column: str
    codec_value: str | None
    structured_value: str | None


@dataclass(frozen=True)
class Comparison:
    """What comparing a part found."""

    part: str
    rows: int
    count: int
    """All differing datums, reported or not."""
    differences: tuple[Difference, ...]

    @property
    def truncated(self) -> bool:
        return self.count > len(self.differences)


def compare_encodings(store: Store, key: str, schema: TableSchema) -> Comparison:
    """Return the datums of the table's columns on which k, v and k_s, v_s of a dual part disagree."""
    with open_part(store, key) as part:
        if part.footer.format is not PartFormat.DUAL:
            raise NothingToCompare(
                f"{key} is a {part.footer.format} part: it has one encoding.", help="Compare dual parts."
            )
        return compare_updates(key, part.read_codec(schema.columns), part.read_structured(schema.columns), schema)


def compare_updates(key: str, codec: pa.Table, structured: pa.Table, schema: TableSchema) -> Comparison:
    """Return the datums on which two readings of the same rows of a part disagree, in the table's columns they have.

    Values are compared as values: NaN equals NaN, null equals null, and -0.0 equals 0.0. All differences count; the
    first MOST_REPORTED, by column and row, are reported.
    """
    count = 0
    reported: list[Difference] = []
    for column in schema.columns:
        if column.name not in codec.column_names:
            continue
        left, right = codec.column(column.name), structured.column(column.name)
        rows = pc.indices_nonzero(pc.invert(same_values(left, right)))
        count += len(rows)
        shown = rows[: MOST_REPORTED - len(reported)]
        texts = (_to_text(values.take(shown), column.type) for values in (left, right))
        reported += [
            Difference(key, row, column.name, *values) for row, *values in zip(shown.to_pylist(), *texts, strict=True)
        ]
    return Comparison(key, codec.num_rows, count, tuple(reported))


def same_values(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return, row by row, whether two columns of one type hold the same value, or both none."""
    equal = pc.fill_null(pc.equal(left, right), fill_value=False)
    same = pc.or_(equal, pc.and_(left.is_null(), right.is_null()))
    if pa.types.is_floating(left.type):
        nan = pc.and_kleene(pc.is_nan(left), pc.is_nan(right))
        same = pc.or_(same, pc.fill_null(nan, fill_value=False))
    return same


def _to_text(values: pa.ChunkedArray, data_type: DataType) -> list[str | None]:
    if data_type in (BYTES, FLOAT64):
        show = bytes.hex if data_type == BYTES else repr
        return [None if value is None else show(value) for value in values.to_pylist()]
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts
