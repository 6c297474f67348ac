"""The web application that the plugin mounts at /instar: for logged-in users only."""

from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import requires_access_view
from fastapi import Depends, FastAPI

from instar.config import Settings
from instar.console.pages import pages_router
from instar.orchestrate.gate import PAGES


def make_app(settings: Settings) -> FastAPI:
    """Build the application; it serves the pages of gates from the work folder."""
    app = FastAPI(title="Instar", dependencies=[Depends(requires_access_view(AccessView.WEBSITE))])
    app.include_router(pages_router(settings.work / PAGES), prefix=f"/{PAGES}")
    return app
