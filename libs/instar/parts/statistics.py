"""What a part knows of its columns: bounds, nulls, NaN.

Soundness: every value that is neither null nor NaN lies between the bounds, inclusive, under numeric comparison of
numbers and byte order of strings and bytes. Bounds may be wider than the data, never narrower. A type without order has
no bounds; a numeric's are those of its nearest floats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from instar.model.arrow import OPAQUE_VERSION, bound_type
from instar.model.part import Statistic, statistics_field
from instar.model.schema import Column, ColumnId
from instar.model.types import NUMERIC, DataType, parse_type

BOUND_BYTES = 100
"""The longest bound of a string or bytes column."""

_LAST_BEFORE_SURROGATES, _FIRST_AFTER_SURROGATES, _LAST_CHARACTER = 0xD7FF, 0xE000, 0x10FFFF
_LAST_BYTE = 0xFF


@dataclass(frozen=True)
class ColumnStatistics:
    """The statistics of one column of one part; a bound is a null scalar where there is none."""

    column: ColumnId
    type: DataType
    lower: pa.Scalar
    upper: pa.Scalar
    nulls: int
    nan: bool | None
    """None where unknown, as for an opaque column."""

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "type": str(self.type),
            "lower": _bound_to_json(self.lower),
            "upper": _bound_to_json(self.upper),
            "nulls": self.nulls,
            "nan": self.nan,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ColumnStatistics":
        data_type = parse_type(value["type"])
        return cls(
            ColumnId(value["column"]),
            data_type,
            _bound_from_json(value["lower"], data_type),
            _bound_from_json(value["upper"], data_type),
            value["nulls"],
            value["nan"],
        )


def collect_statistics(columns: Sequence[Column], rows: pa.Table) -> tuple[ColumnStatistics, ...]:
    """Return the statistics of `columns` over `rows`."""
    return tuple(_of_column(column, rows.column(column.name)) for column in columns)


def statistics_table(statistics: Sequence[ColumnStatistics]) -> pa.Table:
    """Return the statistics of one part as one row, in the columns that `model.part` names."""
    fields, arrays = [], []
    for of in statistics:
        for statistic in get_args(Statistic):
            field = statistics_field(of.column, statistic, of.type)
            if not pa.types.is_null(field.type):
                fields.append(field)
                arrays.append(pa.array([getattr(of, statistic)], field.type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _of_column(column: Column, values: pa.ChunkedArray) -> ColumnStatistics:
    bound = bound_type(column.type) or pa.null()
    lower = upper = pa.scalar(None, bound)
    if column.encoding == OPAQUE_VERSION:
        return ColumnStatistics(column.id, column.type, lower, upper, values.null_count, nan=None)
    nan = False
    if not pa.types.is_null(bound):
        present = (pc.struct_field(values, "lossy") if column.type == NUMERIC else values).drop_null()
        if pa.types.is_floating(bound):
            is_nan = pc.is_nan(present)
            nan = bool(pc.any(is_nan).as_py())
            present = present.filter(pc.invert(is_nan))
        bounds = pc.min_max(present)
        lower, upper = _round_outward(bounds["min"], bounds["max"])
    return ColumnStatistics(column.id, column.type, lower, upper, values.null_count, nan)


def _round_outward(lower: pa.Scalar, upper: pa.Scalar) -> tuple[pa.Scalar, pa.Scalar]:
    if not lower.is_valid:
        return lower, upper
    if pa.types.is_floating(lower.type):
        # A reader that orders -0.0 below 0.0 must find both inside.
        low, high = -0.0 if lower.as_py() == 0 else lower.as_py(), upper.as_py() + 0.0
        return pa.scalar(low, lower.type), pa.scalar(high, lower.type)
    if pa.types.is_string(lower.type):
        return pa.scalar(truncate_text(lower.as_py())), pa.scalar(text_above(upper.as_py()), pa.string())
    if pa.types.is_binary(lower.type):
        return pa.scalar(lower.as_py()[:BOUND_BYTES]), pa.scalar(bytes_above(upper.as_py()), pa.binary())
    return lower, upper


def truncate_text(text: str) -> str:
    """Return the longest prefix of `text` that fits a bound, cut between characters."""
    return text.encode()[:BOUND_BYTES].decode(errors="ignore")


def text_above(text: str) -> str | None:
    """Return a text that fits a bound and is not below `text`, or None if there is none."""
    prefix = truncate_text(text)
    if prefix == text:
        return text
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1])
        if code == _LAST_CHARACTER:
            continue
        after = _FIRST_AFTER_SURROGATES if code == _LAST_BEFORE_SURROGATES else code + 1
        above = prefix[: end - 1] + chr(after)
        if len(above.encode()) <= BOUND_BYTES:
            return above
    return None


def bytes_above(value: bytes) -> bytes | None:
    """Return bytes that fit a bound and are not below `value`, or None if there are none."""
    prefix = value[:BOUND_BYTES]
    if prefix == value:
        return value
    kept = prefix.rstrip(bytes([_LAST_BYTE]))
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _bound_to_json(bound: pa.Scalar) -> Any:
    if not bound.is_valid:
        return None
    if pa.types.is_temporal(bound.type):
        return bound.value
    value = bound.as_py()
    if pa.types.is_floating(bound.type):
        return repr(value)  # JSON has no infinities
    return value.hex() if isinstance(value, bytes) else value


def _bound_from_json(value: Any, data_type: DataType) -> pa.Scalar:
    arrow_type = bound_type(data_type) or pa.null()
    if value is not None and pa.types.is_floating(arrow_type):
        value = float(value)
    if value is not None and (pa.types.is_binary(arrow_type) or pa.types.is_fixed_size_binary(arrow_type)):
        value = bytes.fromhex(value)
    return pa.scalar(value, arrow_type)
