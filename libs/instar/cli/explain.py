"""`instar explain`: which parts a question needs, and why."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import pyarrow.compute as pc
import typer

from instar.catalog.union import WRITER_COLUMN
from instar.cli.lake import AsOfOption, LakeOption, WhereOption, open_lake, parse_as_of
from instar.cli.output import JsonOption, counted, file_size, flags_in_words, print_json, print_rows
from instar.flags import Pushdown
from instar.plan.scan import ScanPlan
from instar.pushdown.prune import Verdict

REASONS = {
    Verdict.KEPT_MAY_MATCH: "a row may match",
    Verdict.KEPT_MAY_FAIL: "the filter may fail on a row",
    Verdict.KEPT_NEWER_VERSION_MAY_HIDE: "no row matches, but one may replace or delete a row of another part",
    Verdict.ROWS_CANNOT_MATCH: "no row can match",
    Verdict.KEYS_CANNOT_MATCH: "no key can match",
}
_NO_FILTER = "there is no filter"
_PUSHDOWN_OFF = "pushdown is off"


@dataclass(frozen=True)
class Totals:
    """What a plan reads and what it is spared."""

    parts: int
    parts_read: int
    parts_skippable: int
    """Proven not to matter: skipped with pushdown on, and read to check the proof with soft pushdown."""
    updates: int
    updates_read: int
    bytes: int
    bytes_read: int
    bytes_saved: int

    @classmethod
    def of(cls, plan: ScanPlan) -> "Totals":
        parts, kept = plan.parts, plan.kept
        size, size_read = _sum(parts, "bytes"), _sum(kept, "bytes")
        return cls(
            parts=parts.num_rows,
            parts_read=kept.num_rows,
            parts_skippable=int((~plan.proven).sum()),
            updates=_sum(parts, "rows"),
            updates_read=_sum(kept, "rows"),
            bytes=size,
            bytes_read=size_read,
            bytes_saved=size - size_read,
        )

    def to_json(self) -> dict[str, int]:
        return dict(vars(self))


def explain(
    table: Annotated[str, typer.Argument(help="database.table")],
    where: WhereOption = None,
    as_of: AsOfOption = None,
    pushdown: Annotated[
        Pushdown | None, typer.Option("--pushdown", help="Plan under this flag instead of the table's own.")
    ] = None,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say which parts a read would fetch and which it would skip, why, and how many bytes that saves."""
    plan = open_lake(lake).table(table).scan(where, as_of=parse_as_of(as_of)).plan()
    if pushdown is not None:
        plan = plan.under(replace(plan.flags, pushdown=pushdown))
    totals, parts = Totals.of(plan), _explain_parts(plan)
    if as_json:
        print_json(
            {
                "table": str(plan.schema.name),
                "where": plan.where,
                "vector": plan.vector.to_json(),
                "flags": plan.flags.to_json(),
                "parts": parts,
                "totals": totals.to_json(),
            }
        )
        return
    print_rows(
        ("decision", "reason", "updates", "size", "format", "part"),
        [(p["decision"], p["reason"], p["updates"], file_size(p["bytes"]), p["format"], p["key"]) for p in parts],
    )
    for line in _in_words(plan, totals):
        typer.echo(line)


def _explain_parts(plan: ScanPlan) -> list[dict[str, Any]]:
    parts = plan.parts.select(["key", WRITER_COLUMN, "format", "rows", "bytes"]).to_pylist()
    verdicts = [None] * len(parts) if plan.pruning is None else plan.pruning.reasons
    unjudged = _NO_FILTER if plan.filter is None else _PUSHDOWN_OFF
    return [
        {
            "key": part["key"],
            "writer": part[WRITER_COLUMN],
            "format": part["format"],
            "updates": part["rows"],
            "bytes": part["bytes"],
            "decision": "skip" if not keep else "read" if proven else "check",
            "verdict": None if verdict is None else verdict.name,
            "reason": unjudged if verdict is None else REASONS[verdict],
        }
        for part, keep, proven, verdict in zip(parts, plan.keep, plan.proven, verdicts, strict=True)
    ]


def _in_words(plan: ScanPlan, totals: Totals) -> list[str]:
    parts = f"{totals.parts_read:,} of {counted(totals.parts, 'part')}"
    updates = f"{totals.updates_read:,} of {counted(totals.updates, 'update')}"
    size = f"{file_size(totals.bytes_read)} of {file_size(totals.bytes)}"
    lines = [
        f"{plan.schema.name} at {plan.vector}, {flags_in_words(plan.flags)}.",
        f"Reads {parts}, {updates}, {size}; saves {file_size(totals.bytes_saved)}.",
    ]
    if plan.flags.pushdown is Pushdown.SOFT:
        lines.append(f"Soft pushdown reads {counted(totals.parts_skippable, 'skippable part')} to check the proof.")
    return lines


def _sum(parts: Any, column: str) -> int:
    return int(pc.sum(parts[column], min_count=0).as_py())
