"""`instar up`, `instar down`, `instar demo`: the embedded stack for a person."""

import time

import typer

from instar.cli.findings import print_findings
from instar.config import Settings
from instar.doctor.finding import Finding


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


def demo() -> None:
    """Run the DAG instar_doctor through a real scheduler and show its findings."""
    from instar.orchestrate.stack import stack

    dag_id = "instar_doctor"
    typer.echo("Starting PostgreSQL and Airflow (scheduler, API server, DAG processor, triggerer) …")
    with stack(Settings.load()) as api:
        typer.echo(f"Airflow is up at {api.url}. Triggering {dag_id}: Spark examines this place, a gate decides …")
        started = time.monotonic()
        run_id = api.trigger(dag_id)
        state = api.wait(dag_id, run_id)
        for task in api.tasks(dag_id, run_id):
            typer.echo(f"  {task['task_id']:<16} {task['state']:<10} {task['duration'] or 0:5.1f} s")
        print_findings([Finding.from_json(row) for row in api.result(dag_id, run_id, "findings")])
    typer.echo(f"The gate's verdict: {state}, {time.monotonic() - started:.0f} s after the trigger.")
    typer.echo("Look around yourself: make up, then open the run of instar_doctor and the Data Docs link of its gate.")
    raise typer.Exit(int(state != "success"))
