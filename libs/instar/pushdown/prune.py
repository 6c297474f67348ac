"""Which parts a filter needs, and why."""

import enum
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from instar.expr.nodes import And, ColumnRef, Expr, columns_of, conjuncts
from instar.model.schema import MergeMode, TableSchema
from instar.pushdown.domain import BoolDomain, Mask
from instar.pushdown.interpret import interpret
from instar.pushdown.overlap import isolated


class Verdict(enum.IntEnum):
    """Why a part is read or skipped."""

    KEPT_MAY_MATCH = 0
    """A row may match the filter."""
    KEPT_MAY_FAIL = 1
    """The filter may fail on a row, and the error has to surface."""
    KEPT_NEWER_VERSION_MAY_HIDE = 2
    """No row matches by itself, but one may replace or delete what another part holds under its key."""
    ROWS_CANNOT_MATCH = 3
    """No row matches the filter, and no other part shares a key with this one."""
    KEYS_CANNOT_MATCH = 4
    """No row's key matches the filter."""


_SKIPPED = (Verdict.ROWS_CANNOT_MATCH, Verdict.KEYS_CANNOT_MATCH)


@dataclass(frozen=True)
class Pruning:
    """A verdict per part, in the order of the parts."""

    verdicts: npt.NDArray[np.uint8]

    @property
    def keep(self) -> Mask:
        """Return which parts have to be read."""
        return ~np.isin(self.verdicts, _SKIPPED)

    @property
    def reasons(self) -> list[Verdict]:
        names = list(Verdict)
        return [names[code] for code in self.verdicts]

    @property
    def counts(self) -> Counter[Verdict]:
        """Return how many parts got each verdict."""
        return Counter(
            {Verdict(code): int(n) for code, n in zip(*np.unique(self.verdicts, return_counts=True), strict=True)}
        )


def prune(expr: Expr, parts: pa.Table, schema: TableSchema) -> Pruning:
    """Decide which of `parts` a reader of `expr` needs.

    `parts` are all live parts of the table that the reader would merge, of every timeline: a part left out could hold
    a version that this reasoning believes absent.

    Soundness: the merged rows of the kept parts that match `expr` are those of all parts that match.

    - append: a row is its own answer, so a part without a matching row adds nothing.
    - upsert, by key: a merged row depends only on rows with its key. Where no row of a part can satisfy the conjuncts
      that read key columns alone, every key in the part fails them, and so does every merged row that the part
      contributes to; that goes for its delete rows too, which only hide rows of keys that the filter refuses anyway.
      So no kept part misses anything for a key that can match.
    - upsert, by value: of the parts kept by key, one that shares no key with another gives its merged rows alone. Each
      of their fields is one of the part's own values (the last that is not null, or null where all are), within the
      part's statistics, so the whole filter may judge it. Where keys may be shared, a row that fails the filter may
      still be the newest version or a delete of one that passes: skipping it would bring the old one back.
    """
    whole = interpret(expr, parts)
    verdicts = np.full(parts.num_rows, Verdict.KEPT_MAY_MATCH, np.uint8)
    refuted = ~(whole.may_be_true | whole.may_error)
    verdicts[whole.may_error & ~whole.may_be_true] = Verdict.KEPT_MAY_FAIL
    if schema.merge_mode is MergeMode.APPEND:
        verdicts[refuted] = Verdict.ROWS_CANNOT_MATCH
        return Pruning(verdicts)
    by_key = _refuted_by_key(expr, parts, schema) & ~whole.may_error
    verdicts[refuted] = Verdict.KEPT_NEWER_VERSION_MAY_HIDE
    verdicts[by_key] = Verdict.KEYS_CANNOT_MATCH
    if np.any(refuted & ~by_key):
        key = tuple(ColumnRef(column.id, column.type) for column in schema.key_columns)
        verdicts[refuted & isolated(parts, key, ~by_key)] = Verdict.ROWS_CANNOT_MATCH
    return Pruning(verdicts)


def _refuted_by_key(expr: Expr, parts: pa.Table, schema: TableSchema) -> Mask:
    on_key = tuple(part for part in conjuncts(expr) if columns_of(part) <= set(schema.key))
    if not on_key:
        return np.zeros(parts.num_rows, np.bool_)
    domain: BoolDomain = interpret(And(on_key), parts)
    return ~(domain.may_be_true | domain.may_error)
