"""`instar read`: the rows that answer a question."""

import enum
from collections.abc import Sequence
from typing import Annotated

import pyarrow as pa
import pyarrow.csv
import typer

from instar.cli.lake import AsOfOption, LakeOption, WhereOption, open_lake, parse_as_of
from instar.cli.output import Cell, JsonOption, note, print_rows
from instar.cli.values import plain_cells, plain_values, to_json
from instar.model.types import DataType
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
    kinds = [column.type for column in scan.plan().columns]
    match Format.JSON if as_json else format or Format.TABLE:
        case Format.JSON:
            typer.echo(_as_json(shown, kinds))
        case Format.CSV:
            typer.echo(_as_csv(shown, kinds), nl=False)
        case Format.TABLE:
            print_rows(shown.column_names, _cells(shown, kinds))
            if shown.num_rows < rows.num_rows:
                note(f"{shown.num_rows:,} of {rows.num_rows:,} rows.")


def _warn(observation: Observation) -> None:
    note(f"warning: {observation}")


def _as_json(rows: pa.Table, kinds: Sequence[DataType]) -> str:
    values = zip(*map(plain_values, kinds, rows.columns), strict=True)
    return to_json([dict(zip(rows.column_names, row, strict=True)) for row in values])


def _cells(rows: pa.Table, kinds: Sequence[DataType]) -> list[tuple[Cell, ...]]:
    return list(zip(*map(plain_cells, kinds, rows.columns), strict=True))


def _as_csv(rows: pa.Table, kinds: Sequence[DataType]) -> bytes:
    """Return the rows with a header. A null is nothing at all, an empty text a pair of quotes."""
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(pa.table(list(map(_csv_cells, kinds, rows.columns)), names=rows.column_names), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _csv_cells(kind: DataType, values: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    as_it_is = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string)
    if any(is_one(values.type) for is_one in as_it_is):
        return values
    return pa.array(plain_cells(kind, values), pa.string())
