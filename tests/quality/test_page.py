from html.parser import HTMLParser
from pathlib import Path

import pytest

from instar.quality.gate import judge, rows_frame

# Great Expectations imports modules of the standard library that are deprecated; nothing here can mend that.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_(constants|parse)' is deprecated:DeprecationWarning")

SCRIPT = "<script>steal()</script>"
LOADING = {"script", "link", "img", "iframe", "source", "video", "audio", "embed", "object", "input", "track", "base"}


class Loads(HTMLParser):
    """Collect what a browser would fetch from elsewhere when it opens the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            remote = (value or "").strip().lower().startswith(("http:", "https:", "//"))
            if tag in LOADING and name in {"src", "href", "data", "srcset", "poster"} and remote:
                self.found.append(f"<{tag} {name}={value}>")


def loads(page: str) -> list[str]:
    parser = Loads()
    parser.feed(page)
    return parser.found


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


def test_the_search_for_loads_finds_them() -> None:
    sample = "<script src='https://a/x.js'></script><link href=//b/x.css><a href='https://c'>link</a><img src='x.png'>"
    assert loads(sample) == ["<script src=https://a/x.js>", "<link href=//b/x.css>"]


def test_a_page_loads_nothing_from_elsewhere(page: str) -> None:
    assert loads(page) == []
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
