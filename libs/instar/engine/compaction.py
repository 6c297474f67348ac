"""Stage 4: bring all parts into structured files of a good size."""

from pyspark.sql import SparkSession

from instar.engine.rewrite import rewrite_parts
from instar.engine.stage import StageArguments, StageReport, Watched
from instar.maintain.rewrite import parts_to_compact
from instar.model.part import PartFormat
from instar.plan.root import Root
from instar.rollout.evidence import compaction_evidence, sizes


def compaction(spark: SparkSession, arguments: StageArguments) -> StageReport:
    """Rewrite what still holds blobs, or lies in small pieces, as structured parts."""
    watched = Watched(Root(arguments.store), arguments.table)
    before = watched.table().parts
    done = rewrite_parts(spark, watched, PartFormat.STRUCTURED, parts_to_compact)
    landed = watched.landed()
    view = watched.view()
    after = view.table(watched.name).parts
    summary = {"groups_rewritten": len(done), "before": sizes(before), "after": sizes(after)}
    return StageReport(compaction_evidence(arguments.table, done, after), view.vector, landed, summary)
