"""Compare the two encodings of a dual part, datum by datum."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.errors import InstarError
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.model.types import BOOL, TIMES, DataType
from instar.model.values import to_values
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
    return pa.chunked_array([_same(_one_array(left), _one_array(right))], pa.bool_())


def _one_array(values: pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)


def _same(left: pa.Array, right: pa.Array) -> pa.BooleanArray:
    absent = pc.and_(left.is_null(), right.is_null())
    if pa.types.is_struct(left.type):
        pairs = zip(left.flatten(), right.flatten(), strict=True)
        present = pc.and_(left.is_valid(), right.is_valid())
        return pc.or_(absent, reduce(pc.and_, (_same(a, b) for a, b in pairs), present))
    if pa.types.is_list(left.type):
        return pc.or_(absent, _same_lists(left, right))
    same = pc.or_(absent, pc.fill_null(pc.equal(left, right), fill_value=False))
    if pa.types.is_floating(left.type):
        nan = pc.and_kleene(pc.is_nan(left), pc.is_nan(right))
        same = pc.or_(same, pc.fill_null(nan, fill_value=False))
    return same


def _same_lists(left: pa.ListArray, right: pa.ListArray) -> pa.BooleanArray:
    lengths = left.value_lengths()
    alike = pc.fill_null(pc.equal(lengths, right.value_lengths()), fill_value=False)
    ends = np.cumsum(lengths.filter(alike).to_numpy(zero_copy_only=False), dtype=np.int64)
    elements = _same(left.filter(alike).flatten(), right.filter(alike).flatten())
    differing = np.concatenate([[0], np.cumsum(~elements.to_numpy(zero_copy_only=False))])
    same = np.zeros(len(left), np.bool_)
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    same[alike.to_numpy(zero_copy_only=False)] = differing[ends] == differing[starts]
    return pa.array(same)


def _to_text(values: pa.ChunkedArray, data_type: DataType) -> list[str | None]:
    if data_type in (BOOL, *TIMES):
        texts: list[str | None] = values.cast(pa.string()).to_pylist()
        return texts
    found = to_values(data_type, values)
    return [None if value is None else value.hex() if isinstance(value, bytes) else str(value) for value in found]
