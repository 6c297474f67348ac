"""The doctor's DAG, on a store that overwrites on put-if-absent."""

from typing import Any

from airflow.sdk import dag, task

from instar.orchestrate.gate import GateOperator
from instar.orchestrate.spark_job import SparkJobOperator


@dag(schedule=None, default_args={"retries": 0})
def instar_faulty_doctor() -> None:
    @task
    def target() -> dict[str, object]:
        from instar.orchestrate.doctor import examination

        return examination("", 8)

    @task
    def findings(report: dict[str, list[dict[str, str]]]) -> list[dict[str, str]]:
        return report["result"]

    report: Any = SparkJobOperator(task_id="examine_spark", job="faulty_doctor", arguments=target()).output
    GateOperator(task_id="gate", suite="doctor", rows=findings(report))


instar_faulty_doctor()
