"""Split updates by a table's partition order: rows of different partitions never share a part."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.model.schema import Column, PartitionUnit, TableSchema
from instar.model.types import DATE, TIMESTAMP_NS, DataType
from instar.model.values import to_values

_UNITS = {PartitionUnit.HOUR: "h", PartitionUnit.DAY: "D", PartitionUnit.MONTH: "M", PartitionUnit.YEAR: "Y"}
_NONE = "null"


def split_by_partition(updates: pa.Table, schema: TableSchema) -> Iterator[tuple[str, pa.Table]]:
    """Yield the name and the updates of each partition; a table without a partition order has one, without a name.

    A name reads `column=value`, or `column=2026-01-31` where the order goes by days, and several are joined by commas.
    """
    if not schema.partition_by:
        yield "", updates
        return
    named = schema.in_files()
    labels = []
    for of in schema.partition_by:
        column = schema.column_by_id(of.column)
        texts = _labels(column, of.unit, updates.column(column.name).combine_chunks())
        labels.append(pc.binary_join_element_wise(f"{named.column_by_id(of.column).name}=", texts, ""))
    joined = labels[0] if len(labels) == 1 else pc.binary_join_element_wise(*labels, ",")
    for label in joined.unique().to_pylist():
        yield label, updates.filter(pc.equal(joined, label))


def _labels(column: Column, unit: PartitionUnit, values: pa.Array) -> pa.Array:
    """Return the text of each value, or of the unit of time that it is in."""
    encoded = values.dictionary_encode()
    found = to_values(column.type, encoded.dictionary)
    texts = [_text(value) if unit is PartitionUnit.VALUE else _period(column.type, unit, value) for value in found]
    return pc.fill_null(pa.array(texts, pa.string()).take(encoded.indices), _NONE)


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _period(data_type: DataType, unit: PartitionUnit, value: int) -> str:
    count = "D" if data_type == DATE else "ns" if data_type == TIMESTAMP_NS else "us"
    return str(np.array(value, f"datetime64[{count}]").astype(f"datetime64[{_UNITS[unit]}]"))
