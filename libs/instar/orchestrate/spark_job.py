"""The one way to run a Spark job from Airflow."""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import psutil
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from instar.config import Settings
from instar.orchestrate.processes import end_trees
from instar.orchestrate.resources import SPARK_CONNECTION

if TYPE_CHECKING:
    from airflow.sdk import Context

Session = Literal["own", "shared"]
KILL_GRACE_SECONDS = 3.0


class JobFailed(AirflowException):
    """A Spark job that said why it failed."""


class SparkJobOperator(SparkSubmitOperator):
    """Run `spark_jobs/<job>.py` and return its report; each entry of a result that is an object is an XCom of its own.

    `arguments` become the job's typed options. The job has a driver of its own by default; with `session="shared"` it
    is a client of the configured Spark Connect server, if there is one: seconds faster, but one failure domain, so it
    suits short jobs. Either way the library is shipped to the executors, the output streams into the task's log, and
    nothing of the job outlives the task.
    """

    template_fields = (*SparkSubmitOperator.template_fields, "arguments")
    ui_color = "#f6d8b8"

    def __init__(
        self, *, job: str, arguments: Mapping[str, Any] | Any = None, session: Session = "own", **kwargs: Any
    ) -> None:
        super().__init__(conn_id=SPARK_CONNECTION, name=f"instar-{job}", **kwargs)
        self.job = job
        self.arguments = arguments or {}
        self.session = session

    def execute(self, context: "Context") -> Any:
        from instar.engine.java import find_java
        from instar.engine.job import to_argv
        from instar.engine.session import session_conf, session_environment
        from instar.engine.shipping import library_zip

        settings = Settings.load()
        java = find_java(settings.work)
        report = report_path(settings, context)
        report.unlink(missing_ok=True)
        remote = settings.spark_connect if self.session == "shared" else ""
        self._hook = JobHook(
            conn_id=SPARK_CONNECTION,
            name=self.name,
            conf=session_conf(settings, java),
            py_files=str(library_zip(settings)),
            env_vars=session_environment(java) | ({"SPARK_REMOTE": remote} if remote else {}),
            application_args=to_argv({**self.arguments, "report": str(report), "parent": os.getpid()}),
        )
        try:
            self._hook.submit(str(settings.home / "spark_jobs" / f"{self.job}.py"))
        except AirflowException as error:
            raise JobFailed(_reason(self.job, report, error)) from None
        told = json.loads(report.read_text())
        if isinstance(told["result"], dict):
            for name, value in told["result"].items():
                context["ti"].xcom_push(key=name, value=value)
        return told

    def on_kill(self) -> None:
        """End the driver with everything it started."""
        if self._hook is not None:
            self._hook.on_kill()


class JobHook(SparkSubmitHook):
    """The Spark provider's hook, with a client's command for a shared session and an end that leaves nothing."""

    def _resolve_connection(self) -> dict[str, Any]:
        self.get_connection(self._conn_id)  # the provider would quietly go to YARN without it
        return super()._resolve_connection()

    def _build_spark_submit_command(self, application: str) -> list[str]:
        command = super()._build_spark_submit_command(application)
        if "SPARK_REMOTE" in (self._env_vars or {}):
            return [sys.executable, application, *(self._application_args or [])]
        return command

    def on_kill(self) -> None:
        process = self._submit_sp
        if process is not None and process.poll() is None:
            end_trees([psutil.Process(process.pid)], grace=KILL_GRACE_SECONDS)


def report_path(settings: Settings, context: "Context") -> Path:
    """Return where a task's attempt writes its report."""
    ti = context["ti"]
    names = [ti.dag_id, ti.run_id, f"{ti.task_id}.{ti.map_index}.{ti.try_number}.json"]
    return settings.work.joinpath("reports", *(re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in names))


def _reason(job: str, report: Path, error: AirflowException) -> str:
    if report.exists() and (said := json.loads(report.read_text()).get("error")):
        return f"{job} failed: {said}"
    return f"{job} ended without a report: {error}"
