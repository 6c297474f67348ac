"""Evidence: plain rows, counted from the catalog and from what the work found, for a gate to judge.

No row says whether it is good; that is for the gate.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from instar.maintain.rewrite import Rewritten
from instar.model.part import PartFormat
from instar.parts.compare import Comparison
from instar.plan.observation import WronglySkipped
from instar.plan.scan import ScanPlan

Row = dict[str, Any]


def sizes(parts: pa.Table) -> Row:
    """Return how much a table's live parts are."""
    return {"parts": parts.num_rows, "rows": _sum(parts, "rows"), "bytes": _sum(parts, "bytes")}


def dual_write_evidence(table: str, parts: pa.Table) -> Row:
    """Say how many live rows have both encodings, and what the second one costs."""
    dual = parts.filter(pc.equal(parts["format"], PartFormat.DUAL.value))
    codec = parts.filter(pc.equal(parts["format"], PartFormat.CODEC.value))
    codec_bytes = _sum(dual, "codec_bytes")
    return {
        "table": table,
        "live_rows": _sum(parts, "rows"),
        "dual_rows": _sum(dual, "rows"),
        "codec_parts": codec.num_rows,
        "growth": _sum(dual, "bytes") / codec_bytes if codec_bytes else None,
    }


def shadow_evidence(parts: pa.Table, comparisons: Iterable[Comparison]) -> list[Row]:
    """Say of each live part how many of its rows were compared, how many datums differ, and which is the first."""
    compared = {comparison.part: comparison for comparison in comparisons}
    rows = []
    for part in parts.select(["key", "rows"]).to_pylist():
        comparison = compared.get(part["key"])
        first = comparison.differences[0] if comparison and comparison.differences else None
        rows.append(
            {
                "part": part["key"],
                "live_rows": part["rows"],
                "compared_rows": comparison.rows if comparison else 0,
                "differences": comparison.count if comparison else 0,
                "row": first.row if first else None,
                "column": first.column if first else None,
                "codec_value": first.codec_value if first else None,
                "structured_value": first.structured_value if first else None,
            }
        )
    return rows


def compaction_evidence(table: str, done: Sequence[Rewritten], parts: pa.Table) -> list[Row]:
    """Say of each rewritten group, and of the table, whether the content stayed, and what is left of blobs."""
    left = _sum(parts, "codec_bytes")
    groups: list[Row] = [
        {
            "origin": one.group.origin,
            "parts_before": len(one.group.keys),
            "parts_after": one.records.num_rows if one.records is not None else 0,
            "updates_before": one.updates_before,
            "updates_after": one.updates_after,
            "same_content": one.same_content,
            "differences": len(one.differences),
            "codec_bytes_left": left,
        }
        for one in done
    ]
    counts = ("parts_before", "parts_after", "updates_before", "updates_after", "differences")
    total = {
        "origin": table,
        **{count: sum(group[count] for group in groups) for count in counts},
        "same_content": all(group["same_content"] for group in groups),
        "codec_bytes_left": left,
    }
    return [*groups, total]


def pushdown_evidence(plans: Sequence[ScanPlan], violations: Iterable[WronglySkipped]) -> list[Row]:
    """Say of each filter how many parts it skips, and which of them it must not."""
    by_filter: dict[str, list[WronglySkipped]] = {}
    for violation in violations:
        by_filter.setdefault(violation.where, []).append(violation)
    rows = []
    for plan in plans:
        found = by_filter.get(plan.where or "", [])
        rows.append(
            {
                "filter": plan.where,
                "parts": plan.parts.num_rows,
                "skipped": int((~plan.proven).sum()),
                "violations": len(found),
                "part": found[0].part if found else None,
                "row": found[0].row if found else None,
            }
        )
    return rows


def _sum(parts: pa.Table, column: str) -> int:
    total: int = pc.sum(parts[column], min_count=0).as_py()
    return total
