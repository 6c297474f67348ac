"""Hand out the pages of gates."""

from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse

HEADERS = {
    # A page has styles of its own and needs nothing else. It shows rows of any origin to people who are logged in.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
}


def pages_router(folder: Path) -> APIRouter:
    """Return the routes of the HTML pages below `folder`, and of nothing else."""
    router = APIRouter()
    root = folder.resolve()

    @router.get("/{page:path}")
    def show(page: str) -> FileResponse:
        path = (root / page).resolve()
        if not path.is_relative_to(root) or path.suffix != ".html" or not path.is_file():
            raise HTTPException(404, "There is no such page: its gate may not have run yet.")
        return FileResponse(path, headers=HEADERS)

    return router
