import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from instar.quality import gate
from instar.quality.gate import judge, rows_frame
from instar.quality.page import render_broken_page

# Great Expectations imports modules of the standard library that are deprecated; nothing here can mend that.
SCRIPT = "<script>steal()</script>"
HANDLER = re.compile(r"on[a-z]+")
REMOTE = ("http:", "https:", "//")
LOADING = {"script", "link", "img", "iframe", "source", "video", "audio", "embed", "object", "input", "track", "base"}


class Reader(HTMLParser):
    """Collect what a browser would fetch from elsewhere or run when it opens the page, and what it would show."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.runs: list[str] = []
        self.shown = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.runs.append(tag)
        for name, value in attrs:
            text = (value or "").strip().lower()
            if tag in LOADING and name in {"src", "href", "data", "srcset", "poster"} and text.startswith(REMOTE):
                self.loads.append(f"<{tag} {name}={value}>")
            if HANDLER.fullmatch(name) or text.startswith("javascript:"):
                self.runs.append(f"<{tag} {name}={value}>")

    def handle_data(self, data: str) -> None:
        self.shown += f"{data} "


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("pages")
    rows = [
        {
            "area": "store",
            "where": "lake",
            "check": "access",
            "level": "error",
            "found": "<script>steal()</script>",
            "remedy": "r",
        }
    ]
    return (folder / judge("doctor", rows_frame(rows), folder, "page.html").page).read_text()


def test_the_search_for_loads_and_scripts_finds_them() -> None:
    sample = "<script src='https://a/x.js'></script><link href=//b/x.css><a href='https://c'>link</a><img src='x.png'>"
    assert Reader(sample).loads == ["<script src=https://a/x.js>", "<link href=//b/x.css>"]
    sample = "<script>x()</script><p onclick='x()' once='1'>text</p><a href='javascript:x()'>link</a>"
    assert Reader(sample).runs == ["script", "<p onclick=x()>", "<p once=1>", "<a href=javascript:x()>"]


def test_a_page_runs_no_script(page: str) -> None:
    """The web server forbids scripts on these pages, and logged-in users are better off without."""
    assert Reader(page).runs == []


def test_a_page_loads_nothing_from_elsewhere(page: str) -> None:
    assert Reader(page).loads == []
    assert "@import" not in page
    assert "url(http" not in page.replace('"', "").replace("'", "")


def test_a_page_has_a_style_of_its_own(page: str) -> None:
    head = page[: page.index("</head>")]
    assert "system-ui" in head


def test_a_page_tells_which_expectations_broke(page: str) -> None:
    assert "Failed" in page
    assert "lake" in page


def test_a_value_of_the_batch_is_text_and_never_markup(page: str) -> None:
    """Airflow's web server hands the page to logged-in users: a script in a row would act in their name."""
    assert "steal()" in page
    assert SCRIPT not in page


def test_a_page_tells_what_each_expectation_means_and_what_became_of_it(page: str) -> None:
    shown = " ".join(Reader(page).shown.split())
    assert "broken critical No finding is an error." in shown
    assert "held warning No finding is a warning." in shown
    assert "broken critical Every area was examined." in shown


def planted_page(folder: Path, monkeypatch: pytest.MonkeyPatch, notes: Any, parameters: dict[str, Any]) -> str:
    kwargs = {"column": "x", "value_set": {"$PARAMETER": "known"}}
    suite = {"expectations": [{"type": "expect_column_values_to_be_in_set", "kwargs": kwargs, "notes": notes}]}
    (folder / "planted.json").write_text(json.dumps(suite))
    monkeypatch.setattr(gate, "SUITES", folder)
    return (folder / judge("planted", rows_frame([{"x": 1}]), folder, "page.html", parameters).page).read_text()


@pytest.mark.parametrize("notes", [f"Known & {SCRIPT}", ["Known &", SCRIPT]], ids=["text", "list"])
def test_notes_are_text_and_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Any) -> None:
    page = planted_page(tmp_path, monkeypatch, notes, {"known": [1]})
    assert f"Known & {SCRIPT}" in " ".join(Reader(page).shown.split())
    assert Reader(page).runs == []


def test_a_parameter_is_text_and_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = planted_page(tmp_path, monkeypatch, "Known.", {"known": ["<b id=planted>"]})
    assert "<b id=planted>" in Reader(page).shown
    assert "<b id=planted>" not in page


def test_the_page_of_a_broken_gate_says_so_and_runs_nothing() -> None:
    page = render_broken_page("doctor", f"It could not be evaluated: {SCRIPT}")
    assert "The gate 'doctor' is broken" in Reader(page).shown
    assert SCRIPT in Reader(page).shown
    assert (Reader(page).runs, Reader(page).loads) == ([], [])
