"""`instar part`: what a data file says about itself."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from instar.cli.lake import LakeOption, open_lake
from instar.cli.output import Cell, JsonOption, print_json, print_rows
from instar.cli.values import plain_bound, plain_values
from instar.model.part import JSON_KINDS, Statistic
from instar.model.schema import ColumnId
from instar.model.types import FLOAT64, STRING
from instar.parts.footer import Footer
from instar.parts.reader import Stored, open_part
from instar.parts.statistics import ColumnStatistics

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
        facts, columns = _facts(key, part.footer, part.file.num_row_groups), _columns(part.footer, part.stored())
    if as_json:
        print_json({**facts, "columns": columns})
        return
    print_rows(("fact", "value"), [(fact.replace("_", " "), _cell(value)) for fact, value in facts.items()])
    typer.echo()
    shown = [name for name in columns[0] if any(column[name] is not None for column in columns)]
    rows = [{name: column[name] for name in shown} for column in columns]
    print_rows(tuple(name.replace("_", " ") for name in shown), [_row(row) for row in rows])


def _facts(key: str, footer: Footer, row_groups: int) -> dict[str, Any]:
    return {
        "key": key,
        "format": str(footer.format),
        "codec": footer.codec,
        "rows": footer.rows,
        "row_groups": row_groups,
        "first_t": footer.first_t,
        "last_t": footer.last_t,
        "has_deletes": footer.has_deletes,
        "batch_version": footer.batch_version,
        "merge_mode": str(footer.schema.merge_mode),
        **footer.provenance.to_json(),
    }


def _columns(footer: Footer, stored: Mapping[ColumnId, Stored]) -> list[dict[str, Any]]:
    """Return the columns, each followed by the fields and keys inside it, with what the part knows of them.

    None is unknown, or not stored as values.
    """
    described = []
    for column in footer.schema.columns:
        about = {of.path: of for of in footer.statistics.columns if of.column == column.id}
        lies = stored.get(column.id)
        for path, of in {(): ColumnStatistics(column.id, column.type), **about}.items():
            described.append(
                {
                    "id": column.id,
                    "name": "/".join([column.name, *path]),
                    "type": str(of.type),
                    "nullable": column.nullable or bool(path),
                    "key": column.id in footer.schema.key,
                    **_known(of),
                    "bytes": None if lies is None or path else lies.bytes,
                    "encodings": None if lies is None or path else _encodings(lies),
                }
            )
    return described


def _known(of: ColumnStatistics) -> dict[str, Any]:
    kinds = of.get("kinds")
    return {
        "kinds": None if kinds is None else [name for name, bit in JSON_KINDS.items() if kinds & bit],
        "lower": _bound(of, "lower", "lower_number", "lower_string"),
        "upper": _bound(of, "upper", "upper_number", "upper_string"),
        "nulls": of.get("nulls"),
        "nan": of.get("nan"),
        "values": None if "values" not in of.known else plain_values(of.type, of.known["values"].values),
        "bloom_bytes": None if "bloom" not in of.known else len(of.get("bloom")),
    }


def _bound(of: ColumnStatistics, *names: Statistic) -> Any:
    """Return the bound that there is; JSON that holds numbers and strings has no one bound."""
    found = [name for name in names if name in of.known]
    if len(found) != 1:
        return None
    bounded = of.type if found[0] == names[0] else FLOAT64 if found[0] == names[1] else STRING
    return plain_bound(bounded, of.known[found[0]])


def _row(column: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Return a column as a row of the table: of a set its size, of several words a list."""
    return tuple(
        len(cell) if name == "values" and cell is not None else ", ".join(cell) if isinstance(cell, list) else cell
        for name, cell in column.items()
    )


def _encodings(stored: Stored) -> str:
    own = stored.encodings - _EVERYWHERE or stored.encodings - {"RLE"} or stored.encodings
    return ", ".join(sorted(own))


def _cell(value: Any) -> Cell:
    """Return a fact as text, with nothing where there is none."""
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else value if isinstance(value, bool) else str(value)
