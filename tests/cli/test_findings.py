import pytest

from instar.cli.findings import print_findings
from instar.doctor.finding import Area, Finding, Level


def shown(finding: Finding, capsys: pytest.CaptureFixture[str]) -> str:
    print_findings([finding])
    return capsys.readouterr().out


def test_a_finding_that_is_not_ok_comes_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(Finding(Area.DRIVER, "here", "disk", Level.ERROR, "full", "Room.", "Free some."), capsys)
    assert all(word in text for word in ("error", "driver", "here", "disk", "full", "→ Free some."))


def test_a_finding_that_is_ok_needs_no_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert "→" not in shown(Finding(Area.DRIVER, "here", "disk", Level.OK, "empty", "Room."), capsys)


def test_brackets_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Rich takes words in brackets for markup: they vanished, or an unmatched one ended the command."""
    found = "[red]local[/] and [/tmp]"
    text = shown(Finding(Area.EXECUTOR, "local[a]", "disk[b]", Level.ERROR, found, "Room.", "See [c]."), capsys)
    assert all(word in text for word in (found, "local[a]", "disk[b]", "See [c]."))
