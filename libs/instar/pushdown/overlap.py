"""Which parts may share keys."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.nodes import ColumnRef
from instar.model.part import KEY_LOWER, KEY_UPPER
from instar.model.types import FLOATS
from instar.pushdown.domain import Mask
from instar.pushdown.statistics import column_domain

Ranks = npt.NDArray[np.int64]


def key_groups(parts: pa.Table, key: tuple[ColumnRef, ...]) -> Ranks:
    """Return a group number per part, such that parts of different groups have no key in common.

    Sound, not complete: parts of one group need not share a key. Parts are split into groups that are apart in their
    whole keys, then each group by one key column after the other, in n log n.
    """
    group = np.zeros(parts.num_rows, np.int64)
    ranges = [_rank_ranges(_key_bound(KEY_LOWER, parts), _key_bound(KEY_UPPER, parts))]
    ranges += [_rank_ranges(*_column_bounds(column, parts)) for column in key]
    # A split by a later column can break a chain of parts that held a group together in an earlier one.
    for lower, upper in [*ranges, *ranges]:
        group = _split(group, lower, upper)
    return group


def isolated(parts: pa.Table, key: tuple[ColumnRef, ...], among: Mask) -> Mask:
    """Return which of the parts in `among` have no key in common with another in `among`, as far as can be told."""
    group = key_groups(parts.filter(pa.array(among)), key)
    alone = np.zeros(len(among), np.bool_)
    alone[among] = np.bincount(group, minlength=1)[group] == 1
    return alone


def _key_bound(name: str, parts: pa.Table) -> pa.Array:
    if name not in parts.column_names:
        return pa.nulls(parts.num_rows, pa.binary())
    return parts.column(name).combine_chunks()


def _column_bounds(column: ColumnRef, parts: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Return each part's range in a key column; a part that may hold null or NaN has none."""
    domain = column_domain(column, parts)
    unbounded = pa.array(domain.may_be_null | domain.may_be_nan)
    lower, upper = (pc.if_else(unbounded, None, bound) for bound in (domain.lower, domain.upper))
    if column.type in FLOATS:
        zero = pa.scalar(0.0, lower.type)
        return pc.add(lower, zero), pc.add(upper, zero)  # -0.0 and 0.0 are one key
    return lower, upper


def _rank_ranges(lower: pa.Array, upper: pa.Array) -> tuple[Ranks, Ranks]:
    """Return each range as ranks among all bounds; one without bounds holds all of them."""
    bounds = pa.concat_arrays([lower, upper])
    rank = pc.rank(bounds, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    known = bounds.is_valid().to_numpy(zero_copy_only=False)
    count = len(lower)
    return np.where(known[:count], rank[:count], 0), np.where(known[count:], rank[count:], len(bounds) + 1)


def _split(group: Ranks, lower: Ranks, upper: Ranks) -> Ranks:
    """Number the groups anew so that parts apart in this column, and parts apart before, are in different ones."""
    if not len(group):
        return group
    # Groups laid end to end on one axis: one sweep sees them all, and ranges of different groups never touch.
    offset = group * (int(upper.max()) + 1)
    order = np.argsort(offset + lower, kind="stable")
    starts, ends = (offset + lower)[order], (offset + upper)[order]
    begins = np.concatenate([[False], starts[1:] > np.maximum.accumulate(ends)[:-1]])
    result = np.empty_like(group)
    result[order] = np.cumsum(begins)
    return result
