"""The web application that the plugin mounts at /instar: for logged-in users only."""

from pathlib import Path

from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import requires_access_view
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import FileResponse

from instar.config import Settings
from instar.orchestrate.gate import PAGES


def make_app(settings: Settings) -> FastAPI:
    """Build the application; it serves the pages of gates from the work folder."""
    app = FastAPI(title="Instar", dependencies=[Depends(requires_access_view(AccessView.WEBSITE))])
    pages = (settings.work / PAGES).resolve()

    @app.get("/" + PAGES + "/{page:path}", response_class=FileResponse)
    def data_docs(page: str) -> Path:
        path = (pages / page).resolve()
        if not path.is_relative_to(pages) or path.suffix != ".html" or not path.is_file():
            raise HTTPException(404, "There is no such page: its gate may not have run yet.")
        return path

    return app
