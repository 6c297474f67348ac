"""`instar part`: what a data file says about itself."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from instar.cli.lake import LakeOption, open_lake
from instar.cli.output import Cell, JsonOption, print_json, print_rows
from instar.cli.values import plain_bound
from instar.model.schema import ColumnId
from instar.parts.footer import Footer
from instar.parts.reader import Stored, open_part

_EVERYWHERE = frozenset({"PLAIN", "RLE"})
"""How Parquet stores dictionaries, and which values are null: a column has another encoding, or one of these."""

app = typer.Typer(no_args_is_help=True, help="Look into data files.")


@app.callback()
def _group() -> None:
    """Keep `show` a subcommand while it is the only one."""


@app.command("show")
def show(
    key: Annotated[str, typer.Argument(help="Key of the part below the lake's root, as `instar explain` prints it.")],
    lake: LakeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print the footer of a part: its format, rows, provenance, columns and statistics."""
    with open_part(open_lake(lake).store, key) as part:
        facts, columns = _facts(key, part.footer), _columns(part.footer, part.stored())
    if as_json:
        print_json({**facts, "columns": columns})
        return
    print_rows(("fact", "value"), [(fact.replace("_", " "), _cell(value)) for fact, value in facts.items()])
    typer.echo()
    print_rows(tuple(columns[0]), [tuple(column.values()) for column in columns])


def _facts(key: str, footer: Footer) -> dict[str, Any]:
    return {
        "key": key,
        "format": str(footer.format),
        "codec": footer.codec,
        "rows": footer.rows,
        "first_t": footer.first_t,
        "last_t": footer.last_t,
        "has_deletes": footer.has_deletes,
        "batch_version": footer.batch_version,
        "merge_mode": str(footer.schema.merge_mode),
        **footer.provenance.to_json(),
    }


def _columns(footer: Footer, stored: Mapping[ColumnId, Stored]) -> list[dict[str, Any]]:
    """Return the columns with what the part knows of each; None is unknown, or not stored as values."""
    known = {of.column: of for of in footer.statistics}
    described = []
    for column in footer.schema.columns:
        of, lies = known.get(column.id), stored.get(column.id)
        described.append(
            {
                "id": column.id,
                "name": column.name,
                "type": str(column.type),
                "nullable": column.nullable,
                "key": column.id in footer.schema.key,
                "lower": None if of is None else plain_bound(of.type, of.lower),
                "upper": None if of is None else plain_bound(of.type, of.upper),
                "nulls": None if of is None else of.nulls,
                "nan": None if of is None else of.nan,
                "bytes": None if lies is None else lies.bytes,
                "encodings": None if lies is None else _encodings(lies),
            }
        )
    return described


def _encodings(stored: Stored) -> str:
    own = stored.encodings - _EVERYWHERE or stored.encodings - {"RLE"} or stored.encodings
    return ", ".join(sorted(own))


def _cell(value: Any) -> Cell:
    """Return a fact as text, with nothing where there is none."""
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else value if isinstance(value, bool) else str(value)
