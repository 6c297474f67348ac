"""Spark jobs that fail, hang past their timeout or wait to be cancelled."""

from datetime import timedelta

from airflow.sdk import dag

from instar.orchestrate.spark_job import SparkJobOperator


def _dag(how: str, timeout: timedelta) -> None:
    @dag(dag_id=f"misbehave_{how}", schedule=None, default_args={"retries": 0, "execution_timeout": timeout})
    def misbehave() -> None:
        SparkJobOperator(task_id="job", job="misbehave", arguments={"how": how})

    misbehave()


_dag("fail", timedelta(minutes=2))
_dag("hang", timedelta(seconds=20))
_dag("cancel", timedelta(minutes=5))
