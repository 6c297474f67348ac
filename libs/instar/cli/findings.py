"""Show findings as a table."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from instar.doctor.finding import Finding, Level

_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.ERROR: "red"}


def print_findings(findings: Sequence[Finding]) -> None:
    """Print a row per finding, with what to do below those that are not ok."""
    table = Table("", "area", "where", "check", "found", title="Findings")
    for finding in findings:
        found = finding.found if finding.level is Level.OK else f"{finding.found}\n→ {finding.remedy}"
        # Plain text: what was found may hold brackets, which would be taken for markup.
        texts = map(Text, (finding.area, finding.where, finding.check, found))
        table.add_row(Text(finding.level, _COLOURS[finding.level]), *texts)
    Console(width=None if Console().is_terminal else 140).print(table)
