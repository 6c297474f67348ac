"""Abstract values: what an expression may be in each part, all parts at once.

Soundness: if any row of a part gives an expression the value v (NULL and errors included), then v is admitted in that
part's slot. The converse need not hold: whatever is unknown is admitted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import product, starmap
from operator import or_
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from instar.expr.nodes import Op
from instar.expr.order import less, sort_keys
from instar.model.types import DataType

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One flag per part."""

TRUE, FALSE, NULL, ERROR = 1, 2, 4, 8
_OUTCOMES = (TRUE, FALSE, NULL, ERROR)


@dataclass(frozen=True)
class ValueDomain:
    """The values that an expression may have, one slot per part.

    A slot admits NULL where `may_be_null`, an error where `may_error`, NaN where `may_be_nan`, and where
    `may_be_value` every other value between `lower` and `upper`, inclusive; a null bound is no bound.
    """

    type: DataType
    may_be_null: Mask
    may_error: Mask
    may_be_value: Mask
    may_be_nan: Mask
    lower: pa.Array
    upper: pa.Array


@dataclass(frozen=True)
class BoolDomain:
    """The outcomes that a condition may have, one slot per part: a union of TRUE, FALSE, NULL and ERROR."""

    outcomes: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, *, true: Mask, false: Mask, null: Mask, error: Mask) -> "BoolDomain":
        bits = zip((true, false, null, error), _OUTCOMES, strict=True)
        return cls(np.bitwise_or.reduce([mask.astype(np.uint8) * np.uint8(bit) for mask, bit in bits]))

    @property
    def may_be_true(self) -> Mask:
        return self._admits(TRUE)

    @property
    def may_be_false(self) -> Mask:
        return self._admits(FALSE)

    @property
    def may_be_null(self) -> Mask:
        return self._admits(NULL)

    @property
    def may_error(self) -> Mask:
        return self._admits(ERROR)

    def _admits(self, outcome: int) -> Mask:
        mask: Mask = (self.outcomes & outcome) != 0
        return mask

    def __and__(self, other: "BoolDomain") -> "BoolDomain":
        return BoolDomain(_AND[self.outcomes, other.outcomes])

    def __or__(self, other: "BoolDomain") -> "BoolDomain":
        return ~(~self & ~other)

    def __invert__(self) -> "BoolDomain":
        return BoolDomain(_NOT[self.outcomes])

    def without(self, outcome: int, *, where: Mask) -> "BoolDomain":
        """Return the same outcomes but for one that is known to be impossible in some slots."""
        return BoolDomain(np.where(where, self.outcomes & ~np.uint8(outcome), self.outcomes))

    def is_null(self) -> "BoolDomain":
        return BoolDomain(_IS_NULL[self.outcomes])


def is_null(values: ValueDomain) -> BoolDomain:
    """Return what `values IS NULL` may be."""
    return BoolDomain.of(
        true=values.may_be_null,
        false=values.may_be_value | values.may_be_nan,
        null=np.zeros_like(values.may_be_null),
        error=values.may_error,
    )


def truth(values: ValueDomain) -> BoolDomain:
    """Return what a boolean value may be as a condition."""
    return BoolDomain.of(
        true=values.may_be_value & possible(values.upper),
        false=values.may_be_value & possible(pc.invert(values.lower)),
        null=values.may_be_null,
        error=values.may_error,
    )


def compare(op: Op, left: ValueDomain, right: ValueDomain) -> BoolDomain:
    """Return what `left op right` may be; NaN is greatest and equals itself."""
    left_lower, right_upper = sort_keys(left.lower, left.type, right.upper, right.type)
    left_upper, right_lower = sort_keys(left.upper, left.type, right.lower, right.type)
    both = left.may_be_value & right.may_be_value
    apart = pc.or_kleene(less(right_upper, left_lower), less(left_upper, right_lower))
    before = (both & possible(less(left_lower, right_upper))) | (left.may_be_value & right.may_be_nan)
    after = (both & possible(less(right_lower, left_upper))) | (left.may_be_nan & right.may_be_value)
    same = (both & possible(pc.invert(apart))) | (left.may_be_nan & right.may_be_nan)
    true, false = {
        Op.EQ: (same, before | after),
        Op.NE: (before | after, same),
        Op.LT: (before, same | after),
        Op.LE: (before | same, after),
        Op.GT: (after, before | same),
        Op.GE: (same | after, before),
    }[op]
    return BoolDomain.of(
        true=true,
        false=false,
        null=left.may_be_null | right.may_be_null,
        error=left.may_error | right.may_error,
    )


def possible(flags: pa.Array) -> Mask:
    """Return where `flags` is not known to be false."""
    mask: Mask = pc.fill_null(flags, True).to_numpy(zero_copy_only=False)
    return mask


def _and(left: int, right: int) -> int:
    if ERROR in (left, right):
        # Whether a false side hides the error depends on the order of evaluation, which SQL leaves open.
        return ERROR | (FALSE if FALSE in (left, right) else 0)
    if FALSE in (left, right):
        return FALSE
    return NULL if NULL in (left, right) else TRUE


def _not(operand: int) -> int:
    return {TRUE: FALSE, FALSE: TRUE}.get(operand, operand)


def _is_null(operand: int) -> int:
    return {NULL: TRUE, ERROR: ERROR}.get(operand, FALSE)


def _table(outcomes: Callable[..., int], arity: int) -> npt.NDArray[np.uint8]:
    """Tabulate a function of single outcomes for all sets of outcomes: the union over their members."""
    table = np.zeros((16,) * arity, np.uint8)
    for sets in np.ndindex(table.shape):
        members = ([outcome for outcome in _OUTCOMES if outcome & one] for one in sets)
        table[sets] = reduce(or_, starmap(outcomes, product(*members)), 0)
    return table


_AND, _NOT, _IS_NULL = _table(_and, 2), _table(_not, 1), _table(_is_null, 1)
