"""A Data Docs page that needs no network."""

import re
from typing import Any

_REMOTE = re.compile(
    r"<script\b[^>]*\bsrc=[\"']https?://[^>]*>\s*</script>"
    r"|<link\b[^>]*\bhref=[\"']https?://[^>]*>"
    r"|<img\b[^>]*\bsrc=[\"']https?://[^>]*>"
    r"|url\([\"']?https?://[^)]*\)",
    re.IGNORECASE,
)
_STYLE = """<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: .5rem 0; } td, th { border: 1px solid #ccc; padding: .3rem .6rem; }
td { vertical-align: top; } nav, .d-none, .ge-navigation-sidebar-container { display: none; }
i.fa-check-circle::before, i.fas.fa-check-circle::before { content: "held"; color: #15803d; }
i.fa-times::before, i.fas.fa-times::before { content: "broken"; color: #b91c1c; }
</style></head>"""


def render_page(result: Any) -> str:
    """Render a validation result as Great Expectations does, without what its pages load from elsewhere."""
    from great_expectations.render.renderer import ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView

    html: str = DefaultJinjaPageView().render(ValidationResultsPageRenderer().render(result))
    return _REMOTE.sub("", html).replace("</head>", _STYLE, 1)
