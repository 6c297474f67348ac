"""Register Instar's pages and links with Airflow."""

from airflow.plugins_manager import AirflowPlugin

from instar.config import Settings
from instar.console.app import make_app
from instar.orchestrate.gate import DataDocsLink


class InstarConsole(AirflowPlugin):
    name = "instar_console"
    fastapi_apps = [{"app": make_app(Settings.load()), "url_prefix": "/instar", "name": "Instar"}]  # noqa: RUF012
    operator_extra_links = [DataDocsLink()]  # noqa: RUF012
