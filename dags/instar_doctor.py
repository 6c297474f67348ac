"""# Is this place fit for Instar?

Examines the driver, every Spark executor, the store and Airflow itself, and lets a gate decide. Trigger it after an
installation or an upgrade, or when something is odd. Each finding says what to do; the gate's page shows them all.
"""

from datetime import timedelta
from typing import Any

from airflow.sdk import Param, dag, get_current_context, task

from instar.orchestrate.defaults import TAG, default_args
from instar.orchestrate.gate import GateOperator
from instar.orchestrate.spark_job import SparkJobOperator


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=[TAG],
    default_args=default_args(timeout=timedelta(minutes=5)),
    dagrun_timeout=timedelta(minutes=15),
    params={
        "lake": Param("", type="string", title="Lake", description="Root to examine; the configured one if empty."),
        "racers": Param(32, type="integer", minimum=2, maximum=256, title="Racers of put-if-absent"),
    },
)
def instar_doctor() -> None:
    @task
    def target() -> dict[str, Any]:
        """Decide which store to examine and how many executors should answer."""
        from instar.orchestrate.doctor import examination

        params = get_current_context()["params"]
        return examination(params["lake"], params["racers"])

    @task
    def examine_airflow() -> list[dict[str, str]]:
        """Look for the connections, pools and Variables that Instar needs."""
        from instar.orchestrate.doctor import examine_airflow

        return [finding.to_json() for finding in examine_airflow()]

    @task
    def findings(spark: dict[str, Any], airflow: list[dict[str, str]]) -> list[dict[str, str]]:
        """Bring all findings together."""
        return [*spark["result"], *airflow]

    examined: Any = target()
    spark: Any = SparkJobOperator(task_id="examine_spark", job="doctor", arguments=examined).output
    airflow: Any = examine_airflow()
    GateOperator(task_id="gate", suite="doctor", rows=findings(spark, airflow), retries=0)


instar_doctor()
