"""The command `instar`."""

import sys

import typer

from instar.cli import catalog, demo, doctor, explain, flags, part, read, stack, store, tables
from instar.errors import InstarError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Move a live table from blobs to columnar files.")
app.command("doctor")(doctor.doctor)
app.command("up")(stack.up)
app.command("down")(stack.down)
app.command("demo")(demo.demo)
app.command("tables")(tables.tables)
app.command("read")(read.read)
app.command("explain")(explain.explain)
app.add_typer(part.app, name="part")
app.add_typer(catalog.app, name="catalog")
app.add_typer(flags.app, name="flags")
app.add_typer(store.app, name="store")


def main() -> None:
    """Run the command; print an expected error as two lines instead of a traceback."""
    try:
        app()
    except InstarError as error:
        print(f"error: {error.fact}", file=sys.stderr)
        if error.help:
            print(f"  help: {error.help}", file=sys.stderr)
        sys.exit(1)
