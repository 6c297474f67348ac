"""Whether a part may hold one value, by the exact set of its values or a bloom filter of them."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.nodes import ColumnRef, Literal
from instar.model.arrow import bound_type, to_arrow
from instar.model.bloom import hash_values, may_contain
from instar.model.types import FLOATS, NUMERIC, TIMESTAMP, TIMESTAMP_NS
from instar.pushdown.domain import Mask
from instar.pushdown.statistics import statistic

_EXACT = frozenset({TIMESTAMP, TIMESTAMP_NS})


def may_equal(column: ColumnRef, literal: Literal, parts: pa.Table) -> Mask:
    """Return which parts may hold a value of the column that equals the literal.

    What is not known rules nothing out, and neither does a literal that the column's type does not have.
    """
    value = _as_column_has_it(literal, column)
    if value is None:
        return np.ones(parts.num_rows, np.bool_)
    hashed = hash_values(value)[0]
    return _in_sets(statistic(column, "values", parts), value[0]) & may_contain(
        statistic(column, "bloom", parts), hashed
    )


def _as_column_has_it(literal: Literal, column: ColumnRef) -> pa.Array | None:
    """Return the literal as an array of the column's type, or None where it is no one value of it."""
    same = column.type == literal.type or column.type in FLOATS or {column.type, literal.type} <= _EXACT
    if bound_type(column.type) is None or NUMERIC in (column.type, literal.type) or not same:
        return None  # integers are compared with floats as floats, so several equal one
    if literal.value is None or (isinstance(literal.value, float) and math.isnan(literal.value)):
        return None
    given = pa.array([literal.value], to_arrow(literal.type))
    try:
        value = given.cast(to_arrow(column.type))
        return value if value.cast(given.type).equals(given) else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _in_sets(sets: pa.ListArray, value: pa.Scalar) -> Mask:
    """Return which sets hold a value; a null is no set."""
    known = sets.is_valid().to_numpy(zero_copy_only=False)
    held = pc.equal(sets.flatten(), value).to_numpy(zero_copy_only=False)
    counts = np.concatenate([[0], np.cumsum(held)])
    ends = np.cumsum(pc.fill_null(sets.value_lengths(), 0).to_numpy())
    starts = ends - pc.fill_null(sets.value_lengths(), 0).to_numpy()
    mask: Mask = ~known | (counts[ends] > counts[starts])
    return mask
