"""The reference says what the command does: its names exist, and its examples print what they show."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from instar.cli import app
from tests.cli.samples import build_lake, leave_over, run

PAGE = Path(__file__).parents[2] / "docs/reference/cli.md"
_HEADING = re.compile(r"^## `instar (?P<command>[a-z ]+)`$", re.MULTILINE)
_ROW = re.compile(r"^\| `instar (?P<command>[a-z]+(?: [a-z]+)*)[^|]*\|[^|]*\|(?P<options>[^|]*)\|$", re.MULTILINE)
_NAMED_COMMAND = re.compile(r"`instar (?P<words>[a-z]+(?: [a-z]+)*)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_EXAMPLE = re.compile(r"^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> dict[str, frozenset[str]]:
    """Return the options of every command of the application, by the words that it is called with."""
    return dict(_walk(typer.main.get_command(app), ()))


def _walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    if isinstance(command, TyperGroup):
        for name, child in command.commands.items():
            yield from _walk(child, (*words, name))
        return
    yield " ".join(words), frozenset(name for of in command.params for name in of.opts if name.startswith("--"))


def sections() -> dict[str, str]:
    text = PAGE.read_text()
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [text.index("\n## The others")]
    return {heading["command"]: text[heading.end() : end] for heading, end in zip(headings, ends, strict=True)}


def introduction() -> str:
    return PAGE.read_text().split("\n## ")[0]


def examples() -> list[tuple[str, str]]:
    """Return each line that a reader would type, with what the page says that it prints."""
    found = []
    for block in _EXAMPLE.finditer(PAGE.read_text()):
        for step in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
            typed, _, printed = step.partition("\n")
            found.append((typed, printed))
    return found


def rows() -> dict[str, str]:
    """Return what the page says of the options of the commands that have no section."""
    return {row["command"]: row["options"] for row in _ROW.finditer(PAGE.read_text())}


def test_every_command_is_on_the_page_once() -> None:
    assert sorted([*sections(), *rows()]) == sorted(commands())


def test_every_command_that_the_page_names_exists() -> None:
    named = {match["words"] for match in _NAMED_COMMAND.finditer(PAGE.read_text())}
    assert named
    assert named <= commands().keys()


@pytest.mark.parametrize("command", sections())
def test_every_option_that_a_section_names_exists(command: str) -> None:
    assert set(_OPTION.findall(sections()[command])) <= commands()[command]


@pytest.mark.parametrize("command", sections())
def test_every_option_is_named_in_its_section_or_for_all_commands(command: str) -> None:
    assert commands()[command] <= set(_OPTION.findall(sections()[command] + introduction()))


@pytest.mark.parametrize("command", rows())
def test_a_row_names_the_options_of_its_command(command: str) -> None:
    named = set(_OPTION.findall(rows()[command]))
    assert named <= commands()[command] <= named | set(_OPTION.findall(introduction()))


@pytest.mark.parametrize("command", sections())
def test_every_section_has_an_example(command: str) -> None:
    assert any(typed.startswith(f"instar {command}") for typed, _ in examples())


def test_the_examples_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_over(build_lake(tmp_path), tmp_path)
    monkeypatch.setenv("INSTAR_LAKE_URI", tmp_path.as_uri())
    for typed, printed in examples():
        program, *arguments = shlex.split(typed)
        assert program == "instar"
        assert run(*arguments) == printed, typed
