"""`instar read`: the rows that answer a question."""

import enum
from typing import Annotated

import pyarrow as pa
import pyarrow.csv
import typer

from instar.cli.lake import AsOfOption, LakeOption, WhereOption, open_lake, parse_as_of
from instar.cli.output import JsonOption, note, print_json, print_rows
from instar.cli.values import plain_values
from instar.plan.observation import Observation


class Format(enum.StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def read(
    table: Annotated[str, typer.Argument(help="database.table")],
    where: WhereOption = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B", help="Columns to show, joined by commas; all if not given."),
    ] = None,
    as_of: AsOfOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="The most rows to print.")] = None,
    format: Annotated[
        Format | None, typer.Option("--format", help="How to print the rows; a table if not given.")
    ] = None,
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print the rows of a table that a filter lets through."""
    if as_json and format not in (None, Format.JSON):
        raise typer.BadParameter(f"--json and --format {format} exclude each other.")
    asked = None if columns is None else [name.strip() for name in columns.split(",")]
    scan = open_lake(lake).table(table).scan(where, asked, parse_as_of(as_of))
    rows = scan.to_arrow(observe=_warn)
    shown = rows if limit is None else rows.slice(0, limit)
    match Format.JSON if as_json else format or Format.TABLE:
        case Format.JSON:
            names = shown.column_names
            print_json([dict(zip(names, row, strict=True)) for row in _plain_rows(shown)])
        case Format.CSV:
            typer.echo(_as_csv(shown), nl=False)
        case Format.TABLE:
            print_rows(shown.column_names, _plain_rows(shown))
            if shown.num_rows < rows.num_rows:
                note(f"{shown.num_rows:,} of {rows.num_rows:,} rows.")


def _warn(observation: Observation) -> None:
    note(f"warning: {observation}")


def _plain_rows(rows: pa.Table) -> list[tuple[str | int | float | bool | None, ...]]:
    return list(zip(*map(plain_values, rows.columns), strict=True))


def _as_csv(rows: pa.Table) -> bytes:
    """Return the rows with a header. A null is nothing at all, an empty text a pair of quotes."""
    arrays = [pa.array(plain_values(column)) if _needs_text(column.type) else column for column in rows.columns]
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(pa.table(arrays, names=rows.column_names), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _needs_text(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow_type) or pa.types.is_binary(arrow_type))
