"""`instar store`: what a store can be trusted with."""

import json
from dataclasses import asdict

import typer

from instar.config import Settings
from instar.storage.config import StoreConfig, open_store
from instar.storage.probe import probe

app = typer.Typer(no_args_is_help=True, help="Examine stores.")


@app.callback()
def _group() -> None:
    """Keep `probe` a subcommand while it is the only one."""


@app.command("probe")
def probe_store(
    uri: str = typer.Argument(help="file:///folder or s3://bucket/prefix"),
    racers: int = typer.Option(32, min=2, max=256, help="Racers of put-if-absent."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Race many put-if-absents and say whether the store can be trusted with commits. Exits with 1 if not."""
    settings = Settings.load()
    config = StoreConfig(uri, settings.s3_profile or None, settings.s3_endpoint or None, settings.s3_region or None)
    checks = probe(open_store(config), "_instar_probe", racers)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks]))
    else:
        for check in checks:
            typer.echo(f"{'ok   ' if check.ok else 'ERROR'} {check.name}: {check.detail}")
    raise typer.Exit(int(not all(check.ok for check in checks)))
