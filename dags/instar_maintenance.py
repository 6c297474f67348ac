"""# Keep tables in shape

Once a day, for every table of the lake or for those that you name: merges small parts of tables whose rollout has come
to compaction, writes a checkpoint of the catalog, and deletes files that no revision names and that are older than the
grace. Each step has the same gate as in the rollout.
"""

from datetime import timedelta

from airflow.sdk import CronDataIntervalTimetable, Param, dag, task_group

from instar.orchestrate.defaults import TAG, default_args
from instar.orchestrate.rollout import all_tables, maintenance_stage
from instar.rollout.stages import Stage


@dag(
    schedule=CronDataIntervalTimetable("0 3 * * *", timezone="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=[TAG],
    default_args=default_args(timeout=timedelta(hours=2)),
    dagrun_timeout=timedelta(hours=12),
    max_active_runs=1,
    render_template_as_native_obj=True,  # numbers of the trigger form stay numbers
    params={
        "tables": Param(
            [], type="array", items={"type": "string"}, title="Tables", description="All if there is none."
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
def instar_maintenance() -> None:
    @task_group(prefix_group_id=False)
    def maintain(table: str) -> None:
        done = maintenance_stage(Stage.COMPACTION, table, after=[])
        done = maintenance_stage(Stage.CATALOG_CHECKPOINT, table, after=done)
        maintenance_stage(Stage.ORPHAN_GC, table, after=done)

    maintain.expand(table=all_tables())


instar_maintenance()
