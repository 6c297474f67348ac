"""Filters over one row in plain Python: the oracle of the interpreters."""

import math
import operator
from collections.abc import Callable
from typing import Any

from instar.expr.nodes import And, ColumnRef, Compare, Expr, IsNull, Literal, Not, Op, Or
from instar.model.schema import TableSchema
from instar.model.types import FLOAT64, TIMESTAMP, DataType
from tests.expr.strategies import Row

_OPERATORS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}


def holds(expr: Expr, row: Row, schema: TableSchema) -> bool | None:  # noqa: PLR0911  # one per node
    """Return whether `expr` is true, false or unknown (None) for `row`."""
    match expr:
        case ColumnRef() | Literal():
            truth: bool | None = _value(expr, row, schema)
            return truth
        case Compare(op, column, other):
            left, right = _value(column, row, schema), _value(other, row, schema)
            if left is None or right is None:
                return None
            as_float = FLOAT64 in (column.type, other.type)
            return _OPERATORS[op](_key(left, column.type, as_float), _key(right, other.type, as_float))
        case And():
            return _all([holds(operand, row, schema) for operand in expr.operands])
        case Or():
            return _negated(_all([_negated(holds(operand, row, schema)) for operand in expr.operands]))
        case Not():
            return _negated(holds(expr.operand, row, schema))
        case IsNull(ColumnRef() as column):
            return _value(column, row, schema) is None
        case IsNull():
            return holds(expr.operand, row, schema) is None


def _value(expr: Expr, row: Row, schema: TableSchema) -> Any:
    if isinstance(expr, ColumnRef):
        return row[schema.column_by_id(expr.id).name]
    assert isinstance(expr, Literal)
    return expr.value


def _key(value: Any, data_type: DataType, as_float: bool) -> Any:
    if as_float:
        return (True, 0.0) if math.isnan(float(value)) else (False, float(value))
    if isinstance(value, str):
        return value.encode()
    return value * 1000 if data_type == TIMESTAMP else value


def _all(truths: list[bool | None]) -> bool | None:
    if False in truths:
        return False
    return None if None in truths else True


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth
