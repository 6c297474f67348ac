"""What commands print: one JSON document, or rows, as a table on a terminal and as plain aligned text elsewhere."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from instar.flags import Flags

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Cell = str | int | float | bool | None
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def print_json(document: Any) -> None:
    typer.echo(json.dumps(document, allow_nan=False))


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a header and a line per row; columns of numbers are flush right."""
    cells = [[printable(cell) for cell in row] for row in rows]
    right = [bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(columns))]
    header = [printable(column) for column in columns]
    console = Console()
    if console.is_terminal:
        console.print(_table(header, cells, right))
        return
    widths = [max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    for line in (header, *cells):
        padded = (_pad(*of) for of in zip(line, widths, right, strict=True))
        typer.echo("  ".join(padded).rstrip())


def note(text: str) -> None:
    """Tell a person something that is not part of the answer."""
    typer.echo(printable(text), err=True)


def invite(commit: bool, something: bool) -> None:
    """Say, after a dry run that found something to do, how to do it."""
    if something and not commit:
        typer.echo("Nothing was changed. Add --commit to do it.")


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def file_size(number: int) -> str:
    return decimal(number)


def flags_in_words(flags: Flags) -> str:
    return " ".join(f"{flag}={value}" for flag, value in flags.to_json().items())


def moment(micros: int) -> str:
    """Return microseconds since the epoch as a time in UTC."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def printable(cell: Cell) -> str:
    """Return a cell as text that can't move the cursor of a terminal: control characters are escaped."""
    if cell is None:
        return "NULL"
    text = str(cell).lower() if isinstance(cell, bool) else str(cell)
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _table(header: list[str], cells: list[list[str]], right: list[bool]) -> Table:
    table = Table()
    for name, flush_right in zip(header, right, strict=True):
        table.add_column(Text(name), justify="right" if flush_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))  # as text: a value in brackets is no markup
    return table


def _pad(text: str, width: int, flush_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if flush_right else text + space


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
