"""# Move tables from codec blobs to columnar files

Takes each table through the six stages, up to the one that you choose. Every stage ends with a gate; a gate that fails
stops its table, leaves the flags of the last good stage, and shows why on its page. Tables don't wait for each other.
Trigger it again after a repair: it goes on where the table stands.

| stage | what it does | what its gate demands |
|---|---|---|
| dual_write | new and old parts hold both encodings | every live row has both; growth inside the limit |
| shadow_validation | compares both encodings datum by datum | all rows compared, none differ; no part wrongly skipped |
| read_switchover | runs the recorded queries on both paths | the same answers, and not slower |
| compaction | rewrites parts without codec bytes | the same content |
| catalog_checkpoint | writes a checkpoint per timeline | it says what a replay of the log says |
| orphan_gc | deletes files that no revision names | nothing referenced was touched |
"""

from datetime import timedelta

from airflow.sdk import Param, dag, task_group

from instar.orchestrate.defaults import TAG, default_args
from instar.orchestrate.rollout import named_tables, rollout_stage
from instar.rollout.stages import Stage

STAGES = [stage.label for stage in Stage]


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=[TAG],
    default_args=default_args(timeout=timedelta(hours=2)),
    dagrun_timeout=timedelta(hours=12),
    max_active_runs=1,
    render_template_as_native_obj=True,  # numbers of the trigger form stay numbers
    params={
        "tables": Param([], type="array", items={"type": "string"}, title="Tables", description="As database.table."),
        "up_to": Param(STAGES[-1], type="string", enum=STAGES, title="Up to this stage"),
        "most_growth": Param(3.0, type="number", title="Growth", description="Bytes of dual parts per codec byte."),
        "most_slowdown": Param(
            1.5, type="number", title="Slowdown", description="Time of structured reads over that of codec reads."
        ),
        "grace_seconds": Param(
            86400,
            type="integer",
            minimum=0,
            title="Grace",
            description="Age in seconds from which a file is an orphan.",
        ),
    },
)
def instar_rollout() -> None:
    @task_group(prefix_group_id=False)
    def roll_out(table: str) -> None:
        done = rollout_stage(Stage.DUAL_WRITE, table, after=[])
        done = rollout_stage(Stage.SHADOW_VALIDATION, table, after=done)
        done = rollout_stage(Stage.READ_SWITCHOVER, table, after=done)
        done = rollout_stage(Stage.COMPACTION, table, after=done)
        done = rollout_stage(Stage.CATALOG_CHECKPOINT, table, after=done)
        rollout_stage(Stage.ORPHAN_GC, table, after=done)

    roll_out.expand(table=named_tables())


instar_rollout()
