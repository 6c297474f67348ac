"""Split a scan into pieces that can be answered apart."""

from collections.abc import Iterator

import numpy as np

from instar.expr.nodes import ColumnRef
from instar.plan.scan import ScanPlan
from instar.pushdown.overlap import key_groups


def split(plan: ScanPlan) -> Iterator[ScanPlan]:
    """Yield plans over disjoint parts, whose answers together are the answer to `plan`.

    Rows of an upsert table are merged from all parts that share their key, so such parts stay together; parts of an
    append table are apart from each other.
    """
    key = tuple(ColumnRef(column.id, column.type) for column in plan.schema.key_columns)
    group = key_groups(plan.parts, key) if key else np.arange(plan.parts.num_rows)
    order = np.argsort(group, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(places):
            yield plan.restrict(places)
