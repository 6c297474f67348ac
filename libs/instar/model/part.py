"""Parts: what the catalog knows of each immutable file.

Parts of one table travel as one Arrow table, a row per part, so that planning is column arithmetic. Beside the fixed
fields below it has four columns per table column with statistics, named by the column's id (`statistics_field`).
A part that lacks one of those, or holds a null in it, knows nothing of that kind about the column.
"""

import enum
from typing import Literal

import pyarrow as pa

from instar.model.arrow import bound_type
from instar.model.schema import ColumnId
from instar.model.types import DataType


class PartFormat(enum.StrEnum):
    """What a part file holds."""

    CODEC = "codec"
    """k, v (bytes), t, d: the legacy format."""
    DUAL = "dual"
    """k, v, t, d and the same rows as Arrow structs k_s, v_s."""
    STRUCTURED = "structured"
    """One top-level column per table column, plus the logical time and the diff."""


PART_FIELDS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),  # relative to the lake's root
        pa.field("format", pa.string(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("codec_bytes", pa.int64(), nullable=False),  # of the k and v columns, compressed
        pa.field("first_t", pa.int64(), nullable=False),
        pa.field("last_t", pa.int64(), nullable=False),
        pa.field("partition", pa.string(), nullable=False),
        pa.field("origin", pa.string(), nullable=False),  # source and interval
        pa.field("generation", pa.int64(), nullable=False),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("transaction", pa.string(), nullable=False),  # uuid of the transaction that adds it
        pa.field("batch_version", pa.int32(), nullable=False),
        pa.field("has_deletes", pa.bool_(), nullable=False),  # any d < 0
    ]
)

Statistic = Literal["lower", "upper", "nulls", "nan"]


def statistics_field(column_id: ColumnId, statistic: Statistic, data_type: DataType) -> pa.Field:
    """Return the field of one statistic of one column.

    `lower` and `upper` bound every value that is neither null nor NaN; `nulls` counts nulls; `nan` says whether a NaN
    is present. Each is null where unknown, and bounds are null too where the column has no value to bound, or a type
    without order.
    """
    bound = bound_type(data_type) or pa.null()
    arrow_type = {"lower": bound, "upper": bound, "nulls": pa.int64(), "nan": pa.bool_()}
    return pa.field(statistics_name(column_id, statistic), arrow_type[statistic])


def statistics_name(column_id: ColumnId, statistic: Statistic) -> str:
    return f"{column_id}.{statistic}"
