"""Stage 2: compare both encodings of every live row, and what pushdown would skip with what is there."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from instar.engine.stage import StageArguments, StageReport, Watched
from instar.engine.tasks import run_tasks
from instar.flags import Flags, Pushdown, ReadFormat
from instar.model.part import PartFormat
from instar.parts.compare import Comparison, compare_updates
from instar.parts.reader import open_part
from instar.plan.groups import split
from instar.plan.observation import WronglySkipped
from instar.plan.queries import recorded_queries
from instar.plan.read import labelled, wrongly_skipped
from instar.plan.root import Root
from instar.plan.scan import ScanPlan, plan_scan
from instar.rollout.evidence import pushdown_evidence, shadow_evidence
from instar.rollout.probes import probe_filters
from instar.storage.config import StoreConfig, open_store

_SOFT = Flags(read_format=ReadFormat.CODEC, pushdown=Pushdown.SOFT)


@dataclass(frozen=True)
class _Piece:
    """Parts that share keys with no others, under each of the filters."""

    store: StoreConfig
    plans: tuple[ScanPlan, ...]


@dataclass(frozen=True)
class _Findings:
    comparisons: tuple[Comparison, ...]
    violations: tuple[WronglySkipped, ...]


def shadow_validation(spark: SparkSession, arguments: StageArguments) -> StageReport:
    """Compare datum by datum, at one revision vector; try the recorded filters, and some made from statistics."""
    watched = Watched(Root(arguments.store), arguments.table)
    view = watched.start
    state = view.table(watched.name)
    asked = [query.where for query in recorded_queries(watched.root.store, watched.name) if query.where is not None]
    filters = dict.fromkeys([*asked, *probe_filters(state.parts, state.schema)])
    plans = [plan_scan(state.schema, state.parts, _SOFT, view.vector, where=where) for where in filters]
    pieces = [_Piece(arguments.store, alike) for alike in zip(*map(split, plans), strict=True)]
    findings = run_tasks(spark, _examine, pieces)
    comparisons = [comparison for found in findings for comparison in found.comparisons]
    violations = [violation for found in findings for violation in found.violations]
    summary = {
        "rows_compared": sum(comparison.rows for comparison in comparisons),
        "datums_differ": sum(comparison.count for comparison in comparisons),
        "filters": len(plans),
        "parts_skipped": sum(int((~plan.proven).sum()) for plan in plans),
        "parts_planned": sum(plan.parts.num_rows for plan in plans),
    }
    return StageReport(
        shadow_evidence(state.parts, comparisons),
        view.vector,
        watched.landed(),
        summary,
        {"pushdown": pushdown_evidence(plans, violations)},
    )


def _examine(piece: _Piece, attempt: int) -> _Findings:  # noqa: ARG001 - nothing is stored
    store, any_plan = open_store(piece.store), piece.plans[0]
    schema = any_plan.schema
    comparisons, updates = [], {}
    for part in any_plan.parts.to_pylist():
        with open_part(store, part["key"]) as opened:
            if opened.footer.format is PartFormat.STRUCTURED:
                rows = opened.read_structured(schema.columns)
            else:
                rows = opened.read_codec(schema.columns)
            if opened.footer.format is PartFormat.DUAL:
                structured = opened.read_structured(schema.columns)
                comparisons.append(compare_updates(part["key"], rows, structured, schema))
        updates[part["key"]] = labelled(rows, part)
    violations = [violation for plan in piece.plans for violation in wrongly_skipped(plan, updates)]
    return _Findings(tuple(comparisons), tuple(violations))
