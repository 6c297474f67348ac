"""The nodes of a filter: all that filter text can reach.

A filter is a boolean expression over the columns of one table. Nodes are plain values; what they mean is said by
their interpreters, which agree with PostgreSQL: three-valued logic, NaN is greatest and equals itself, -0 equals 0.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from instar.model.schema import ColumnId
from instar.model.types import DataType


class Op(enum.StrEnum):
    """A comparison."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    @property
    def flipped(self) -> "Op":
        """Return the comparison that holds with the sides exchanged."""
        return _FLIPPED.get(self, self)


_FLIPPED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


@dataclass(frozen=True)
class ColumnRef:
    """The value of a column."""

    id: ColumnId
    type: DataType


@dataclass(frozen=True)
class Literal:
    """A constant. Timestamps count units of their type since the epoch; None is NULL."""

    type: DataType
    value: bool | int | float | str | bytes | None


@dataclass(frozen=True)
class Compare:
    """A column against a column or a constant.

    Both sides have one type, or are int64 and float64 (compared as floats, as PostgreSQL does), or are the two
    timestamps (compared exactly).
    """

    op: Op
    column: ColumnRef
    other: ColumnRef | Literal


@dataclass(frozen=True)
class And:
    operands: tuple["Expr", ...]


@dataclass(frozen=True)
class Or:
    operands: tuple["Expr", ...]


@dataclass(frozen=True)
class Not:
    operand: "Expr"


@dataclass(frozen=True)
class IsNull:
    """Whether a column of any type, or a condition, is NULL; never NULL itself."""

    operand: "Expr"


Expr: TypeAlias = ColumnRef | Literal | Compare | And | Or | Not | IsNull
"""A condition; below `IsNull` a ColumnRef may have any type, elsewhere conditions are boolean."""


def columns_of(expr: Expr) -> frozenset[ColumnId]:
    """Return the ids of the columns that `expr` reads."""
    return frozenset(_references(expr))


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the conditions that must all be true for `expr` to be true."""
    return expr.operands if isinstance(expr, And) else (expr,)


def _references(expr: Expr) -> Iterator[ColumnId]:
    match expr:
        case ColumnRef():
            yield expr.id
        case Compare():
            yield expr.column.id
            yield from _references(expr.other)
        case And() | Or():
            for operand in expr.operands:
                yield from _references(operand)
        case Not() | IsNull():
            yield from _references(expr.operand)
        case Literal():
            pass
