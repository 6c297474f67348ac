"""Stage 1: give every live row both encodings."""

from pyspark.sql import SparkSession

from instar.engine.rewrite import rewrite_parts
from instar.engine.stage import StageArguments, StageReport, Watched
from instar.maintain.rewrite import codec_parts
from instar.model.part import PartFormat
from instar.plan.root import Root
from instar.rollout.evidence import dual_write_evidence, sizes


def dual_write(spark: SparkSession, arguments: StageArguments) -> StageReport:
    """Re-encode the table's codec parts as dual parts. New parts are dual since the flags say so."""
    watched = Watched(Root(arguments.store), arguments.table)
    before = watched.table().parts
    done = rewrite_parts(spark, watched, PartFormat.DUAL, codec_parts)
    landed = watched.landed()
    view = watched.view()
    after = view.table(watched.name).parts
    summary = {"parts_rewritten": len(done), "before": sizes(before), "after": sizes(after)}
    return StageReport([dual_write_evidence(arguments.table, after)], view.vector, landed, summary)
