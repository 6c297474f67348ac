"""The one way to run a gate from Airflow."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseOperatorLink
from airflow.sdk.exceptions import AirflowFailException
from airflow.sdk.execution_time.xcom import XCom

from instar.config import Settings

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import TaskInstanceKey

PAGES = "data-docs"
"""The folder of pages below the work folder, and their place on the web server below /instar/."""
PAGE_KEY = "instar_page"


class DataDocsLink(BaseOperatorLink):
    """Lead from a gate's task to the page that shows its verdict."""

    name = "Data Docs"

    def get_link(self, operator: BaseOperator, *, ti_key: "TaskInstanceKey") -> str:  # noqa: ARG002
        page = XCom.get_value(ti_key=ti_key, key=PAGE_KEY)
        return f"/instar/{PAGES}/{page}" if page else ""


class GateOperator(BaseOperator):
    """Hold `rows` (of a report, usually an upstream task's) against the suite of that name; fail unless it passes.

    A failed gate is not retried: the same rows would fail again.
    """

    template_fields = ("rows", "parameters")
    operator_extra_links = (DataDocsLink(),)
    ui_color = "#cfe8cf"

    def __init__(
        self,
        *,
        suite: str,
        rows: Sequence[Mapping[str, Any]] | Any,
        parameters: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.suite = suite
        self.rows = rows
        self.parameters = dict(parameters or {})

    def execute(self, context: "Context") -> dict[str, Any]:
        from instar.quality.gate import judge, rows_frame

        settings = Settings.load()
        page, batch = page_name(context), rows_frame(self.rows)
        context["ti"].xcom_push(key=PAGE_KEY, value=page)  # first: a gate that breaks has a page too
        verdict = judge(self.suite, batch, settings.work / PAGES, page, self.parameters)
        if not verdict.passed:
            raise AirflowFailException(str(verdict))
        self.log.info("%s", verdict)
        return verdict.to_json()


def page_name(context: "Context") -> str:
    """Return the page of a task's attempt, relative to the folder of pages."""
    ti = context["ti"]
    names = [ti.dag_id, ti.run_id, f"{ti.task_id}.{ti.map_index}.{ti.try_number}.html"]
    return "/".join(re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in names)
