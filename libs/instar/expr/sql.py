"""Filters as SQL text."""

import datetime as dt
import math

from instar.expr.literals import INT64_MAX, INT64_MIN
from instar.expr.nodes import And, ColumnRef, Compare, Expr, IsNull, Literal, Not, Or
from instar.model.schema import TableSchema
from instar.model.types import FLOAT64, TIMESTAMP, TIMESTAMP_NS, DataType

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def to_sql(expr: Expr, schema: TableSchema) -> str:  # noqa: PLR0911  # one per node
    """Return text that `parse_filter` reads as the same condition."""
    match expr:
        case ColumnRef():
            return '"{}"'.format(schema.column_by_id(expr.id).name.replace('"', '""'))
        case Literal():
            return _literal(expr, expr.type)
        case Compare(op, column, Literal() as other):
            return f"{to_sql(column, schema)} {op} {_literal(other, column.type)}"
        case Compare(op, column, other):
            return f"{to_sql(column, schema)} {op} {to_sql(other, schema)}"
        case And():
            return " AND ".join(_nested(operand, schema) for operand in expr.operands)
        case Or():
            return " OR ".join(_nested(operand, schema) for operand in expr.operands)
        case Not(IsNull(operand)):
            return f"{_tested(operand, schema)} IS NOT NULL"
        case Not():
            return f"NOT {_tested(expr.operand, schema)}"
        case IsNull():
            return f"{_tested(expr.operand, schema)} IS NULL"


def _nested(expr: Expr, schema: TableSchema) -> str:
    text = to_sql(expr, schema)
    return f"({text})" if isinstance(expr, And | Or) else text


def _tested(expr: Expr, schema: TableSchema) -> str:
    text = to_sql(expr, schema)
    return text if isinstance(expr, ColumnRef | Literal) else f"({text})"


def _literal(literal: Literal, context: DataType) -> str:
    value = literal.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, float):
        # Beside an int64 column a bare number would be exact; the cast keeps it a float.
        return repr(value) if context == FLOAT64 and math.isfinite(value) else f"'{value!r}'::float8"
    return f"timestamp '{_instant(value, literal.type)}'" if literal.type in (TIMESTAMP, TIMESTAMP_NS) else str(value)


def _instant(value: int, data_type: DataType) -> str:
    if data_type == TIMESTAMP and value in (INT64_MIN, INT64_MAX):
        return "-infinity" if value < 0 else "infinity"
    digits = 6 if data_type == TIMESTAMP else 9
    seconds, fraction = divmod(value, 10**digits)
    moment = (_EPOCH + dt.timedelta(seconds=seconds)).replace(tzinfo=None)
    text = moment.isoformat(sep=" ")
    return f"{text}.{fraction:0{digits}d}" if fraction else text
