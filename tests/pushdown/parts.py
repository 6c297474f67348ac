"""Parts with the statistics of given rows, and ways to know less about them."""

import math
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from instar.model.part import PART_FIELDS, Statistic, statistics_field
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import BOOL, FLOAT64, STRING, DataType
from tests.expr.strategies import Row, values

Statistics = dict[Statistic, Any]
"""What is known of one column in one part."""
KINDS: tuple[Statistic, ...] = ("lower", "upper", "nulls", "nan")
LAST_CHARACTER = "\U0010ffff"


def statistics(column: Column, rows: list[Row]) -> Statistics:
    """Return the sharpest statistics of a column."""
    present = [row[column.name] for row in rows if row[column.name] is not None]
    bounded = sorted((value for value in present if value == value), key=_sort_key)  # noqa: PLR0124  # not NaN
    return {
        "lower": bounded[0] if bounded else None,
        "upper": bounded[-1] if bounded else None,
        "nulls": len(rows) - len(present),
        "nan": len(bounded) < len(present),
    }


def parts_table(
    schema: TableSchema,
    parts: list[tuple[list[Row], dict[ColumnId, Statistics]]],
    *,
    missing: frozenset[str] = frozenset(),
) -> pa.Table:
    """Return the catalog's table of parts, without the statistics columns in `missing`."""
    fixed: dict[str, Any] = {"key": "p", "format": "structured", "partition": "", "origin": "o", "transaction": "u"}
    fixed["has_deletes"] = False
    columns: dict[str, Any] = {
        field.name: pa.array([fixed.get(field.name, 0)] * len(parts), field.type)
        for field in PART_FIELDS
        if field.name != "rows"
    }
    columns["rows"] = pa.array([len(rows) for rows, _ in parts], pa.int64())
    for column in schema.columns:
        for kind in KINDS:
            field = statistics_field(column.id, kind, column.type)
            if field.name not in missing:
                columns[field.name] = pa.array([known[column.id][kind] for _, known in parts], field.type)
    return pa.table(columns)


def sharp_parts(schema: TableSchema, parts: list[list[Row]]) -> pa.Table:
    return parts_table(schema, [(rows, {c.id: statistics(c, rows) for c in schema.columns}) for rows in parts])


@st.composite
def known_statistics(draw: st.DrawFn, column: Column, rows: list[Row]) -> Statistics:
    """Draw statistics that are true of `rows`, or that a reader has to see through: inverted or NaN bounds."""
    known = statistics(column, rows)
    for kind in KINDS:
        if draw(st.integers(0, 7)) == 0:
            known[kind] = None
    trouble = draw(st.integers(0, 15))
    if trouble == 0 and column.type == FLOAT64:
        known[draw(st.sampled_from(KINDS[:2]))] = math.nan
    elif trouble == 1 and column.type != BOOL:
        low, high = sorted(draw(st.tuples(_bounds(column.type), _bounds(column.type))), key=_sort_key)
        if _sort_key(low) < _sort_key(high):
            known |= {"lower": high, "upper": low}
    elif trouble == 2:
        known["nulls"] = -1
    elif trouble <= 8:
        _widen(draw, column, known)
    return known


def _widen(draw: st.DrawFn, column: Column, known: Statistics) -> None:
    looser = draw(_bounds(column.type))
    if known["lower"] is not None and _sort_key(looser) <= _sort_key(known["lower"]):
        known["lower"] = looser
    if known["upper"] is not None and _sort_key(looser) >= _sort_key(known["upper"]):
        known["upper"] = looser
    if column.type == STRING and known["upper"]:
        known["upper"] = truncated_upper(known["upper"])
        known["lower"] = known["lower"] and known["lower"][:1]


def truncated_upper(text: str) -> str | None:
    """Cut to one character and round up; None where there is no greater character."""
    if len(text) == 1:
        return text
    return None if text[0] == LAST_CHARACTER else chr(ord(text[0]) + 1)


def _bounds(data_type: DataType) -> st.SearchStrategy[Any]:
    return values(data_type).filter(lambda value: value == value)  # noqa: PLR0124  # not NaN


def _sort_key(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
