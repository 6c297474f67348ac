"""Filters over rows."""

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.nodes import And, ColumnRef, Compare, Expr, IsNull, Literal, Not, Op, Or
from instar.expr.order import Keys, Values, equal, less, sort_keys
from instar.model.arrow import to_arrow
from instar.model.schema import TableSchema


def evaluate(expr: Expr, rows: pa.Table, schema: TableSchema) -> pa.BooleanArray:
    """Return, per row, whether `expr` is true, false or NULL (null).

    `rows` has the columns that `expr` reads, under their names in `schema` and with the Arrow types of `schema`.
    """
    result = _evaluate(expr, rows, schema)
    if isinstance(result, pa.Scalar):
        return pa.repeat(result, rows.num_rows)
    return result.combine_chunks() if isinstance(result, pa.ChunkedArray) else result


def _evaluate(expr: Expr, rows: pa.Table, schema: TableSchema) -> Values:  # noqa: PLR0911  # one per node
    match expr:
        case ColumnRef():
            return rows.column(schema.column_by_id(expr.id).name)
        case Literal():
            return pa.scalar(expr.value, to_arrow(expr.type))
        case Compare(op, column, other):
            left, right = (_evaluate(side, rows, schema) for side in (column, other))
            return _compare(op, *sort_keys(left, column.type, right, other.type))
        case And():
            return reduce(pc.and_kleene, (_evaluate(operand, rows, schema) for operand in expr.operands))
        case Or():
            return reduce(pc.or_kleene, (_evaluate(operand, rows, schema) for operand in expr.operands))
        case Not():
            return pc.invert(_evaluate(expr.operand, rows, schema))
        case IsNull():
            return pc.is_null(_evaluate(expr.operand, rows, schema))


def _compare(op: Op, left: Keys, right: Keys) -> Values:
    # The order is total, so each comparison is one of three or its opposite.
    match op:
        case Op.EQ:
            return equal(left, right)
        case Op.NE:
            return pc.invert(equal(left, right))
        case Op.LT:
            return less(left, right)
        case Op.GE:
            return pc.invert(less(left, right))
        case Op.GT:
            return less(right, left)
        case Op.LE:
            return pc.invert(less(right, left))
