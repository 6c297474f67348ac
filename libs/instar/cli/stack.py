"""`instar up`, `instar down`: the embedded stack for a person."""

import typer

from instar.config import Settings


def up() -> None:
    """Start Airflow on 127.0.0.1 and print where it is and how to log in."""
    from instar.orchestrate.environment import USER, password
    from instar.orchestrate.stack import start_stack

    settings = Settings.load()
    typer.echo("Starting PostgreSQL and Airflow …")
    running = start_stack(settings)
    typer.echo(f"Airflow is up: {running.url}  user {USER}  password {password(settings)}")
    typer.echo("Stop it with: make down")


def down() -> None:
    """Stop everything that `up` started."""
    from instar.orchestrate.stack import stop_stack

    typer.echo("Stopped." if stop_stack(Settings.load()) else "Nothing was running.")
