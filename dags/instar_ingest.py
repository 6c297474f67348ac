"""# Take in what has landed

Every hour, for each source that the Variable `instar_sources` lists: reads the line-protocol files of the data interval
from the landing folder and commits their rows once. Sources don't wait for each other. A run that is started with a
table and a source ingests that one alone.

A run that is cleared, backfilled over or started again for the same interval replaces what the earlier one left. For
history use `airflow backfill create --dag-id instar_ingest --from-date … --to-date …`. Lines that can't be taken are
kept aside with a reason; the gate fails where they are too many.

```json
[{"table": "weather.h2o_temperature", "source": "stations", "landing": "s3://bucket/stations", "writer": "main"}]
```
The landing and the writer may be left out. Without the Variable there is nothing to do, and runs are green.
"""

from datetime import timedelta
from typing import Any

from airflow.sdk import CronDataIntervalTimetable, Param, dag, get_current_context, task, task_group

from instar.orchestrate.defaults import TAG, default_args
from instar.orchestrate.ingest import generation
from instar.orchestrate.resources import FLAGS_POOL
from instar.orchestrate.rollout import Gate
from instar.orchestrate.spark_job import SparkJobOperator


@dag(
    schedule=CronDataIntervalTimetable("@hourly", timezone="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=[TAG],
    default_args=default_args(timeout=timedelta(minutes=30), retries=2),
    dagrun_timeout=timedelta(hours=2),
    max_active_runs=2,
    user_defined_macros={"generation": generation},
    render_template_as_native_obj=True,  # numbers of the trigger form stay numbers
    params={
        "table": Param(
            "",
            type="string",
            title="Table",
            description="As database.table; all sources of the Variable instar_sources if empty.",
        ),
        "source": Param("", type="string", title="Source", description="Names the origin of the table's rows."),
        "writer": Param("", type="string", title="Writer", description="Timeline to commit to; the source's if empty."),
        "landing": Param(
            "",
            type="string",
            title="Landing",
            description="URI of the landing folder; landing in the work folder if empty.",
        ),
        "interval_start": Param(
            None,
            type=["null", "string"],
            format="date-time",
            title="Start of the interval",
            description="That of the data interval if empty; runs started by hand have none.",
        ),
        "most_rejects": Param(
            0.05,
            type="number",
            minimum=0,
            maximum=1,
            title="Rejects",
            description="The share of lines that may be refused.",
        ),
    },
)
def instar_ingest() -> None:
    @task
    def sources() -> list[dict[str, str]]:
        """List what this run ingests."""
        from instar.orchestrate.ingest import list_sources

        return list_sources(get_current_context()["params"])

    @task(pool=FLAGS_POOL)
    def prepare(source: dict[str, str]) -> dict[str, Any]:
        """Bring the Variables' flags in; decide on the interval."""
        from instar.orchestrate.ingest import Source, prepare

        context = get_current_context()
        return prepare(Source(**source), context["params"]["interval_start"], context["dag_run"])

    @task_group(prefix_group_id=False)
    def ingest_source(source: dict[str, str]) -> None:
        prepared: Any = prepare(source)
        names = ("store", "table", "writer", "landing", "source", "interval_start")
        arguments = {name: prepared[name] for name in names}
        # Told by the task that it counts for, so that clearing this one alone replaces the rows too.
        arguments["generation"] = "{{ generation(dag_run) }}"
        ingest = SparkJobOperator(task_id="ingest", job="ingest", arguments=arguments)
        Gate("ingest", parameters=("most_rejects",)).after(ingest)

    ingest_source.expand(source=sources())


instar_ingest()
