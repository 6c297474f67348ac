"""What holds for every command."""

from pathlib import Path

import pytest

from tests.cli.command import instar

COMMANDS = ("doctor", "up", "down", "demo", "store")


def test_help_lists_the_commands(tmp_path: Path) -> None:
    done = instar("--help", work=tmp_path)
    assert done.returncode == 0
    listed = [line.strip("│ ").split()[0] for line in done.stdout.splitlines() if line.strip("│ ")]
    assert set(COMMANDS) <= set(listed)


def test_without_a_command_help_is_shown(tmp_path: Path) -> None:
    assert "Usage: instar" in instar(work=tmp_path).stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = instar(command, "--help", work=tmp_path)
    assert done.returncode == 0
    assert f"Usage: instar {command}" in done.stdout


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    done = instar("dokter", work=tmp_path)
    assert done.returncode == 2
    assert "dokter" in done.stderr


def test_an_expected_error_is_told_in_two_lines_without_a_traceback(tmp_path: Path) -> None:
    done = instar("down", work=tmp_path, INSTAR_LAKE_URL="x")
    assert (done.returncode, done.stdout) == (1, "")
    error, remedy = done.stderr.splitlines()
    assert error == "error: INSTAR_LAKE_URL is set, but is not a setting."
    assert remedy == "  help: Did you mean INSTAR_LAKE_URI?"
