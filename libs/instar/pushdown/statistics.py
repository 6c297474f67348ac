"""Abstract values of columns, from the statistics of parts."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.nodes import ColumnRef, Literal
from instar.expr.order import less, sort_keys
from instar.model.arrow import to_arrow
from instar.model.part import Statistic, statistics_field
from instar.model.types import FLOATS, NUMERIC
from instar.pushdown.domain import ValueDomain, possible

_WITH_NAN = frozenset({*FLOATS, NUMERIC})


def column_domain(column: ColumnRef, parts: pa.Table) -> ValueDomain:
    """Return what a column may hold in each part.

    A statistic that is missing, null, of another type or impossible says nothing; NaN bounds and inverted ones are
    impossible. Bounds speak of the values that are neither null nor NaN.
    """
    rows = parts.column("rows").combine_chunks()
    nulls = statistic(column, "nulls", parts)
    nulls = pc.if_else(pc.and_(pc.greater_equal(nulls, 0), pc.less_equal(nulls, rows)), nulls, None)
    not_only_null = possible(pc.less(nulls, rows))
    lower, upper = _bounds(column, parts)
    has_nan = column.type in _WITH_NAN
    may_be_nan = possible(statistic(column, "nan", parts)) if has_nan else np.zeros(len(rows), np.bool_)
    return ValueDomain(
        type=column.type,
        may_be_null=possible(pc.greater(nulls, 0)),
        may_error=np.zeros(len(rows), np.bool_),
        may_be_value=not_only_null,
        may_be_nan=may_be_nan & not_only_null,
        lower=lower,
        upper=upper,
    )


def literal_domain(literal: Literal, parts: pa.Table) -> ValueDomain:
    """Return the domain that holds one constant in every part."""
    count = parts.num_rows
    is_nan = isinstance(literal.value, float) and math.isnan(literal.value)
    bound = pa.repeat(pa.scalar(None if is_nan else literal.value, to_arrow(literal.type)), count)
    return ValueDomain(
        type=literal.type,
        may_be_null=np.full(count, literal.value is None),
        may_error=np.zeros(count, np.bool_),
        may_be_value=np.full(count, literal.value is not None and not is_nan),
        may_be_nan=np.full(count, is_nan),
        lower=bound,
        upper=bound,
    )


def _bounds(column: ColumnRef, parts: pa.Table) -> tuple[pa.Array, pa.Array]:
    lower, upper = (statistic(column, name, parts) for name in ("lower", "upper"))
    if pa.types.is_null(lower.type):
        return lower, upper
    if column.type in _WITH_NAN:
        lower, upper = (pc.if_else(pc.is_nan(bound), None, bound) for bound in (lower, upper))
    lower_keys, upper_keys = sort_keys(lower, column.type, upper, column.type)
    inverted = pc.fill_null(less(upper_keys, lower_keys), False)
    return pc.if_else(inverted, None, lower), pc.if_else(inverted, None, upper)


def statistic(column: ColumnRef, name: Statistic, parts: pa.Table) -> pa.Array:
    """Return one statistic of a column in each part; null where it is unknown, or of another type."""
    field = statistics_field(column.id, name, column.type)
    index = parts.schema.get_field_index(field.name)
    if index < 0 or parts.schema.field(index).type != field.type:
        return pa.nulls(parts.num_rows, field.type)
    return parts.column(index).combine_chunks()
