"""The pages of gates as the web server hands them out: who may see them is Airflow's, and tested with it."""

import asyncio
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from instar.console.pages import pages_router


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "dag" / "run").mkdir(parents=True)
    (folder / "dag" / "run" / "task.html").write_text("<h1>held</h1>")
    (folder / "dag" / "notes.txt").write_text("secret")
    (tmp_path / "outside.html").write_text("secret")
    return folder


def get(folder: Path, path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        app = FastAPI()
        app.include_router(pages_router(folder), prefix="/pages")
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(f"/pages/{path}")

    return asyncio.run(ask())


def policy(response: httpx.Response) -> dict[str, str]:
    directives = (directive.split(maxsplit=1) for directive in response.headers["content-security-policy"].split(";"))
    return {name: rest[0] if rest else "" for name, *rest in directives}


def test_a_page_is_shown_as_html(pages: Path) -> None:
    response = get(pages, "dag/run/task.html")
    assert (response.status_code, response.text) == (200, "<h1>held</h1>")
    assert response.headers["content-type"].startswith("text/html")


def test_a_page_may_use_its_own_styles_and_nothing_else(pages: Path) -> None:
    """Rows of any origin end up on it, and it is opened by people who are logged in."""
    given = policy(get(pages, "dag/run/task.html"))
    assert given["default-src"] == "'none'"
    assert given["style-src"] == "'unsafe-inline'"
    assert given["base-uri"] == given["form-action"] == "'none'"
    assert given["frame-ancestors"] == "'self'"
    assert not given.keys() & {"script-src", "script-src-elem", "script-src-attr"}


def test_a_browser_may_not_guess_what_a_page_is(pages: Path) -> None:
    assert get(pages, "dag/run/task.html").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "dag/run/other.html",
        "dag/run",
        "dag/notes.txt",
        "..%2foutside.html",
        "dag/..%2f..%2foutside.html",
        "dag/link.html",
    ],
)
def test_what_is_no_page_of_a_gate_is_not_found(pages: Path, path: str) -> None:
    (pages / "dag" / "link.html").symlink_to(pages.parent / "outside.html")
    response = get(pages, path)
    assert response.status_code == 404
    assert "secret" not in response.text
