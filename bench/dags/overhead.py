"""# One Spark job, one gate

The least that a stage of Instar does, once with a driver of the job's own and once in a shared session.
"""

from datetime import timedelta

from airflow.sdk import dag

from instar.orchestrate.defaults import TAG, default_args
from instar.orchestrate.gate import GateOperator
from instar.orchestrate.spark_job import Session, SparkJobOperator


def _overhead(session: Session) -> None:
    @dag(
        dag_id=f"overhead_{session}",
        schedule=None,
        doc_md=__doc__,
        tags=[TAG],
        default_args=default_args(timeout=timedelta(minutes=5), retries=0),
        dagrun_timeout=timedelta(minutes=10),
        render_template_as_native_obj=True,
    )
    def overhead() -> None:
        job = SparkJobOperator(task_id="job", job="smallest", session=session)
        gate = GateOperator(task_id="gate", suite="doctor", rows="{{ ti.xcom_pull('job')['result'] }}")
        job >> gate

    overhead()


_overhead("own")
_overhead("shared")
