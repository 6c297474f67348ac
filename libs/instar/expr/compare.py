"""Typed comparisons from written ones.

A comparison of an integer or timestamp column with an exact constant is rewritten so that the constant has the
column's own type: `x < 1.5` becomes `x <= 1`. Interpreters then never meet a fraction, another unit or a value out of
range, and nothing is rounded.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from instar.errors import InstarError
from instar.expr.literals import INT64_MAX, INT64_MIN, Written, as_float, typed
from instar.expr.nodes import ColumnRef, Compare, Literal, Op
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS, DataType

COMPARABLE = frozenset({BOOL, INT64, FLOAT64, STRING, BYTES, TIMESTAMP, TIMESTAMP_NS})
_FAMILIES = {FLOAT64: INT64, TIMESTAMP_NS: TIMESTAMP}
_PYTHON: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}


class TypeMismatch(InstarError):
    """Two sides that can't be compared, or a condition that is not boolean."""


def compare(op: Op, left: ColumnRef | Written, right: ColumnRef | Written, where: str) -> Compare | Literal:
    """Return the typed form of `left op right`."""
    if isinstance(left, Written):
        return _fold(op, left, right, where) if isinstance(right, Written) else compare(op.flipped, right, left, where)
    if isinstance(right, ColumnRef):
        _require_supported(left.type, where)
        _require_comparable(left.type, right.type, where)
        return Compare(op, left, right)
    _require_supported(left.type, where)
    constant = typed(right, left.type)
    _require_comparable(left.type, constant.type, where)
    return _with_constant(op, left, constant)


def _with_constant(op: Op, column: ColumnRef, constant: Written) -> Compare:
    value = constant.value
    if value is None:
        return Compare(op, column, Literal(column.type, None))
    if FLOAT64 in (column.type, constant.type):
        return Compare(op, column, Literal(FLOAT64, as_float(constant)))
    if isinstance(value, Fraction):
        return _with_exact(op, column, value / 1000 if column.type == TIMESTAMP else value)
    return Compare(op, column, Literal(column.type, value))


def _with_exact(op: Op, column: ColumnRef, value: Fraction) -> Compare:
    floor = math.floor(value)
    if floor == value and INT64_MIN <= floor <= INT64_MAX:
        return Compare(op, column, Literal(column.type, floor))
    # No value of the column equals the constant, so it cuts the column's range between floor and floor + 1.
    if op in (Op.EQ, Op.NE) or floor < INT64_MIN:
        always = op in (Op.NE, Op.GT, Op.GE)
        return Compare(Op.GE if always else Op.LT, column, Literal(column.type, INT64_MIN))
    below = op in (Op.LT, Op.LE)
    return Compare(Op.LE if below else Op.GT, column, Literal(column.type, min(floor, INT64_MAX)))


def _fold(op: Op, left: Written, right: Written, where: str) -> Literal:
    left, right = typed(left, right.type or STRING), typed(right, left.type or STRING)
    _require_comparable(left.type, right.type, where)
    if left.value is None or right.value is None:
        return Literal(BOOL, None)
    if FLOAT64 in (left.type, right.type):
        return Literal(BOOL, _PYTHON[op](_float_key(left), _float_key(right)))
    return Literal(BOOL, _PYTHON[op](left.value, right.value))


def _float_key(written: Written) -> tuple[bool, float]:
    value = as_float(written) or 0.0
    return (True, 0.0) if math.isnan(value) else (False, value)


def _family(data_type: DataType | None) -> DataType | None:
    return data_type and _FAMILIES.get(data_type, data_type)


def _require_supported(data_type: DataType, where: str) -> None:
    if data_type not in COMPARABLE:
        raise TypeMismatch(
            f"Values of type {data_type} can't be compared in a filter ({where}).",
            help=f"IS NULL works for every type; comparisons for: {', '.join(sorted(map(str, COMPARABLE)))}.",
        )


def _require_comparable(left: DataType | None, right: DataType | None, where: str) -> None:
    if _family(left) != _family(right):
        raise TypeMismatch(f"{left} and {right} can't be compared ({where}).", help="Compare values of one type.")
