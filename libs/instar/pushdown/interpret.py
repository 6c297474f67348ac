"""Filters over statistics: the abstract interpreter."""

from functools import reduce
from operator import and_, or_

import pyarrow as pa

from instar.expr.nodes import And, ColumnRef, Compare, Expr, IsNull, Literal, Not, Op, Or
from instar.pushdown.domain import FALSE, TRUE, BoolDomain, ValueDomain, compare, is_null, truth
from instar.pushdown.membership import may_equal
from instar.pushdown.statistics import column_domain, literal_domain


def interpret(expr: Expr, parts: pa.Table) -> BoolDomain:  # noqa: PLR0911  # one per node
    """Return the outcomes that `expr` may have in each part of `parts` (`model.part`'s table, one row per part).

    Sound for rows put together field by field from several rows of one part too: columns are bounded one by one.
    """
    match expr:
        case ColumnRef() | Literal():
            return truth(_values(expr, parts))
        case Compare(op, column, other):
            outcomes = compare(op, _values(column, parts), _values(other, parts))
            if isinstance(column, ColumnRef) and isinstance(other, Literal) and op in (Op.EQ, Op.NE):
                return outcomes.without(TRUE if op is Op.EQ else FALSE, where=~may_equal(column, other, parts))
            return outcomes
        case And():
            return reduce(and_, (interpret(operand, parts) for operand in expr.operands))
        case Or():
            return reduce(or_, (interpret(operand, parts) for operand in expr.operands))
        case Not():
            return ~interpret(expr.operand, parts)
        case IsNull(ColumnRef() as column):
            return is_null(_values(column, parts))
        case IsNull():
            return interpret(expr.operand, parts).is_null()


def _values(expr: ColumnRef | Literal, parts: pa.Table) -> ValueDomain:
    return column_domain(expr, parts) if isinstance(expr, ColumnRef) else literal_domain(expr, parts)
