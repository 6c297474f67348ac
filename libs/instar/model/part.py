"""Parts: what the catalog knows of each immutable file.

Parts of one table travel as one Arrow table, a row per part, so that planning is column arithmetic. Beside the fixed
fields below it has columns for what is known of each table column, named by the column's id (`statistics_field`).
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

Statistic = Literal[
    "lower",
    "upper",
    "nulls",
    "nan",
    "values",
    "bloom",
    "kinds",
    "lower_number",
    "upper_number",
    "lower_string",
    "upper_string",
]
"""What a part may know of a column, of a field of a record, or of a key of JSON objects. Each is null where unknown.

- `lower` and `upper` bound every value that is neither null nor NaN; both are null too where there is none, or where
  the type has no order.
- `nulls` counts nulls; `nan` says whether a NaN is present.
- `values` is the exact set of the values that are neither null nor NaN.
- `bloom` is a bloom filter of them (`model.bloom`).
- `kinds` says which kinds of JSON values there are, as a sum of `JSON_KINDS`; the other four bound the numbers, as
  their nearest floats, and the strings among them.
"""

JSON_KINDS = {"null": 1, "boolean": 2, "number": 4, "string": 8, "array": 16, "object": 32}

KEY_LOWER, KEY_UPPER = "key.lower", "key.upper"
"""The least and the greatest key row of a part, as bytes that sort as keys do (`model.key_order`)."""


def statistics_field(
    column_id: ColumnId, statistic: Statistic, data_type: DataType, path: tuple[str, ...] = ()
) -> pa.Field:
    """Return the field of one statistic of one column, or of what lies at `path` in its records or JSON objects."""
    bound = bound_type(data_type) or pa.null()
    arrow_type = {
        "lower": bound,
        "upper": bound,
        "nulls": pa.int64(),
        "nan": pa.bool_(),
        "values": pa.list_(bound),
        "bloom": pa.binary(),
        "kinds": pa.int8(),
        "lower_number": pa.float64(),
        "upper_number": pa.float64(),
        "lower_string": pa.string(),
        "upper_string": pa.string(),
    }
    return pa.field(statistics_name(column_id, statistic, path), arrow_type[statistic])


def statistics_name(column_id: ColumnId, statistic: Statistic, path: tuple[str, ...] = ()) -> str:
    """Return the name of a statistic's column; the path is written as a JSON Pointer."""
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)
    return f"{column_id}{pointer}.{statistic}"
