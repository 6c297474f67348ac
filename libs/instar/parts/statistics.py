"""What a part, or a row group, knows of its columns.

Soundness: whatever is known is true of every row. Bounds may be wider than the data, never narrower (`parts.bounds`); a
numeric's are those of its nearest floats. A type without order has none, and an opaque column counts its nulls alone.
Fields of records, and keys of JSON objects, have statistics of their own, with the path to them.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.errors import InstarError
from instar.model.arrow import OPAQUE_VERSION, bound_type
from instar.model.bloom import build_bloom, hash_values
from instar.model.key_order import order_bytes
from instar.model.part import KEY_LOWER, KEY_UPPER, Statistic, statistics_field
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import JSONB, NUMERIC, DataType, parse_type
from instar.model.values import to_values
from instar.parts.bounds import BOUND_BYTES, bounds_of, bytes_above
from instar.parts.json_statistics import json_statistics

MOST_VALUES = 32
"""The largest set of values that is kept."""
_SAMPLE_ROWS = 256
"""So many rows, spread over all, tell a column of many values at once."""


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of one column, or of what lies at a path inside its values."""

    column: ColumnId
    type: DataType
    """Of the values at the path; a JSON column's keys are jsonb too."""
    path: tuple[str, ...] = ()
    known: Mapping[Statistic, pa.Scalar] = field(default_factory=dict)
    """Nothing is known of what is not there."""

    def get(self, statistic: Statistic) -> Any:
        """Return a statistic as a Python value; None is unknown."""
        return self.known[statistic].as_py() if statistic in self.known else None

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {statistic: _to_json(scalar) for statistic, scalar in self.known.items()}
        return {"column": self.column, "path": list(self.path), "type": str(self.type), **known}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ColumnStatistics | None":
        """Return statistics as they were written, without what can't be understood; None where nothing can be."""
        try:
            column, path, data_type = ColumnId(int(value["column"])), tuple(value["path"]), parse_type(value["type"])
        except (KeyError, TypeError, ValueError, InstarError):
            return None
        known: dict[Statistic, pa.Scalar] = {}
        for statistic in get_args(Statistic):
            if statistic in value:
                arrow_type = statistics_field(column, statistic, data_type).type
                try:
                    known[statistic] = _from_json(value[statistic], arrow_type)
                except (ValueError, TypeError, OverflowError):  # Arrow's own errors are of these kinds
                    continue
        return cls(column, data_type, path, known)


@dataclass(frozen=True)
class PartStatistics:
    """What is known of some rows of a table: their number, their columns and the least and the greatest key."""

    rows: int
    columns: tuple[ColumnStatistics, ...]
    key_lower: bytes | None = None
    key_upper: bytes | None = None

    def to_json(self) -> dict[str, Any]:
        keys = [None if key is None else key.hex() for key in (self.key_lower, self.key_upper)]
        return {"rows": self.rows, "columns": [of.to_json() for of in self.columns], "key": keys}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PartStatistics":
        columns = tuple(of for of in map(ColumnStatistics.from_json, value["columns"]) if of is not None)
        keys = (None if key is None else bytes.fromhex(key) for key in value["key"])
        return cls(value["rows"], columns, *keys)


def collect_statistics(schema: TableSchema, rows: pa.Table) -> PartStatistics:
    """Return all that can be known of `rows`, whatever it takes; `parts.budget` cuts it down."""
    columns: list[ColumnStatistics] = []
    for column in schema.columns:
        values = rows.column(column.name)
        if column.encoding == OPAQUE_VERSION:
            columns.append(ColumnStatistics(column.id, column.type, (), {"nulls": pa.scalar(values.null_count)}))
            continue
        bloom_bytes = schema.settings.statistics_bytes // 2 if column.id in schema.lookup else 0
        columns += _of_values(column.id, column.type, (), values.combine_chunks(), bloom_bytes)
    return PartStatistics(rows.num_rows, tuple(columns), *_key_bounds(schema, rows))


def statistics_table(groups: Sequence[PartStatistics]) -> pa.Table:
    """Return statistics as the catalog has them: a row each, in the columns that `model.part` names."""
    fields: dict[str, pa.Field] = {}
    cells: dict[str, list[Any]] = {}
    for place, group in enumerate(groups):
        found = {KEY_LOWER: group.key_lower, KEY_UPPER: group.key_upper}
        for name, key in found.items():
            if key is not None:
                fields[name] = pa.field(name, pa.binary())
                cells.setdefault(name, [None] * len(groups))[place] = key
        for of in group.columns:
            for statistic in (name for name in get_args(Statistic) if name in of.known):
                named = statistics_field(of.column, statistic, of.type, of.path)
                fields[named.name] = named
                cells.setdefault(named.name, [None] * len(groups))[place] = of.known[statistic]
    arrays = [pa.array(cells[name], of.type) for name, of in fields.items()]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields.values()))


def _of_values(
    column: ColumnId, data_type: DataType, path: tuple[str, ...], values: pa.Array, bloom_bytes: int = 0
) -> Iterator[ColumnStatistics]:
    known: dict[Statistic, pa.Scalar] = {"nulls": pa.scalar(values.null_count)}
    bound = bound_type(data_type)
    if bound is not None:
        present = (pc.struct_field(values, "lossy") if data_type == NUMERIC else values).drop_null()
        if pa.types.is_floating(bound):
            is_nan = pc.is_nan(present)
            known["nan"] = pc.any(is_nan, min_count=0)
            present = present.filter(pc.invert(is_nan))
        known["lower"], known["upper"] = bounds_of(present)
        if data_type != NUMERIC:
            known |= _values_and_bloom(present, bloom_bytes)
    yield ColumnStatistics(column, data_type, path, known)
    if data_type.kind == "record":
        for (name, part), child in zip(data_type.parts, values.flatten(), strict=True):
            yield from _of_values(column, part, (*path, name), child)
    if data_type == JSONB:
        for below, of_json in json_statistics(values).items():
            if below:
                yield ColumnStatistics(column, JSONB, (*path, *below), of_json)
            else:
                known |= of_json


def _values_and_bloom(present: pa.Array, bloom_bytes: int) -> dict[Statistic, pa.Scalar]:
    if pa.types.is_floating(present.type):
        present = pc.add(present, pa.scalar(0.0, present.type))  # -0.0 equals 0.0
    sample = present.take(pa.array(np.linspace(0, len(present) - 1, min(len(present), _SAMPLE_ROWS), dtype=np.int64)))
    few = len(sample.unique()) <= MOST_VALUES
    if not few and not bloom_bytes:
        return {}
    distinct = present.unique()
    known: dict[Statistic, pa.Scalar] = {}
    if len(distinct) <= MOST_VALUES and _are_short(distinct):
        known["values"] = pa.scalar(distinct.take(pc.sort_indices(distinct)), pa.list_(distinct.type))
    elif bloom_bytes and (bloom := build_bloom(np.unique(hash_values(distinct)), bloom_bytes)) is not None:
        known["bloom"] = pa.scalar(bloom)
    return known


def _are_short(values: pa.Array) -> bool:
    if not (pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
        return True
    return bool(pc.all(pc.less_equal(pc.binary_length(values), BOUND_BYTES), min_count=0).as_py())


def _key_bounds(schema: TableSchema, rows: pa.Table) -> tuple[bytes | None, bytes | None]:
    """Return bounds on the key rows, as bytes; long ones are cut and rounded outward."""
    if not schema.key or not rows.num_rows:
        return None, None
    # Under plain names: Arrow takes a sort key such as `.a` or `[0]` for a path.
    keys = pa.table({str(place): rows.column(column.name) for place, column in enumerate(schema.key_columns)})
    if any(of.null_count or (pa.types.is_floating(of.type) and pc.any(pc.is_nan(of)).as_py()) for of in keys.columns):
        return None, None  # Arrow sorts nulls and NaN last in either direction
    found = []
    for direction in ("ascending", "descending"):
        (row,) = pc.select_k_unstable(keys, 1, [(name, direction) for name in keys.column_names]).to_pylist()
        found.append(_order_bytes(schema.key_columns, keys.slice(row, 1)))
    return found[0][:BOUND_BYTES], bytes_above(found[1])


def _order_bytes(columns: Sequence[Column], key: pa.Table) -> bytes:
    values = [to_values(column.type, cells)[0] for column, cells in zip(columns, key.columns, strict=True)]
    return order_bytes([column.type for column in columns], values)


def _to_json(scalar: pa.Scalar) -> Any:
    if not scalar.is_valid:
        return None
    if pa.types.is_list(scalar.type):
        return [_to_json(item) for item in scalar]
    if pa.types.is_temporal(scalar.type):
        return scalar.value
    value = scalar.as_py()
    if pa.types.is_floating(scalar.type):
        return repr(value)  # JSON has no infinities
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _from_json(value: Any, arrow_type: pa.DataType) -> pa.Scalar:
    return pa.scalar(_unquoted(value, arrow_type), arrow_type)


def _unquoted(value: Any, arrow_type: pa.DataType) -> Any:
    """Return what JSON holds as pyarrow takes it."""
    if value is None:
        return None
    if pa.types.is_list(arrow_type):
        return [_unquoted(item, arrow_type.value_type) for item in value]
    if pa.types.is_floating(arrow_type):
        return float(value)
    if pa.types.is_binary(arrow_type) or pa.types.is_fixed_size_binary(arrow_type):
        return base64.b64decode(value, validate=True)
    return value
