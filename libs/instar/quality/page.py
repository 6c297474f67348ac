"""Data Docs pages that need neither network nor scripts."""

import copy
import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instar.quality.gate import Outcome

_ACTIVE = re.compile(
    r"<script\b.*?</script>"
    r"|<link\b[^>]*>"
    r"|<img\b[^>]*\bsrc=[\"']https?://[^>]*>"
    r"|url\([\"']?https?://[^)]*\)"
    r"|\son[a-z]+=\"[^\"]*\"",
    re.IGNORECASE | re.DOTALL,
)
_STYLE = """<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: .5rem 0; } td, th { border: 1px solid #ccc; padding: .3rem .6rem; }
td { vertical-align: top; } nav, footer, .d-none, .ge-navigation-sidebar-container { display: none; }
.card:has(.btn-group-toggle) { display: none; }
.held { color: #15803d; } .broken { color: #b91c1c; } pre { white-space: pre-wrap; }
i.fa-check-circle::before, i.fas.fa-check-circle::before { content: "held"; color: #15803d; }
i.fa-times::before, i.fas.fa-times::before { content: "broken"; color: #b91c1c; }
</style></head>"""


def render_page(result: Any, outcomes: "Sequence[Outcome]") -> str:
    """Render a validation result as Great Expectations does, below what each expectation means and what became of it.

    Its scripts, and all that it loads from elsewhere, are left out. Values of the batch are text, never markup.
    """
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
    from great_expectations.render.view.view import DefaultJinjaPageView

    safe = copy.deepcopy(result)
    for held in safe.results:
        held.result = _escaped(held.result)
    page: str = DefaultJinjaPageView().render(ValidationResultsPageRenderer().render(safe))  # type: ignore[no-untyped-call]
    return _ACTIVE.sub("", page).replace("</head>", _STYLE, 1).replace("<body>", f"<body>{_meanings(outcomes)}", 1)


def render_broken_page(suite: str, reason: str) -> str:
    """Render the page of a gate that could not be evaluated."""
    title = html.escape(f"The gate {suite!r} is broken")
    return f"""<!DOCTYPE html>
<html><head><meta charset="UTF-8"><title>{title}</title>{_STYLE}
<body><h1>{title}</h1>
<p>It could not be evaluated, so it neither passed nor failed. Its task counts as failed.</p>
<pre>{html.escape(reason)}</pre></body></html>
"""


def _meanings(outcomes: "Sequence[Outcome]") -> str:
    rows = (
        f'<tr><td class="{word}">{word}</td><td>{html.escape(outcome.severity)}</td>'
        f"<td>{html.escape(outcome.meaning)}</td></tr>\n"
        for outcome in outcomes
        for word in ["held" if outcome.passed else "broken"]
    )
    return f"\n<table><tr><th></th><th>severity</th><th>expectation</th></tr>\n{''.join(rows)}</table>\n"


def _escaped(value: Any) -> Any:
    """Return the value with all text as HTML shows it: Great Expectations would take it for markup."""
    if isinstance(value, str):
        return html.escape(value)
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value
