"""`instar doctor`: the doctor's examination without Airflow's scheduler."""

import json
from collections.abc import Iterator

import httpx
import typer

from instar.cli.findings import print_findings
from instar.config import Settings
from instar.doctor.finding import Area, Finding, Level, worst
from instar.storage.config import StoreConfig


def doctor(
    lake: str = typer.Option("", help="Root to examine; the configured one if empty."),
    racers: int = typer.Option(32, min=2, max=256, help="Racers of put-if-absent."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Examine Java, Spark, every executor, the store and Airflow. Exits with 1 if a finding is an error."""
    from instar.engine.doctor import Examination, examine
    from instar.engine.session import start_session

    settings = Settings.load()
    store = StoreConfig(
        lake or settings.lake, settings.s3_profile or None, settings.s3_endpoint or None, settings.s3_region or None
    )
    spark = start_session("instar-doctor", settings)
    try:
        findings = examine(spark, Examination(store, settings.spark_executors, racers))
    finally:
        spark.stop()
    findings += _airflow(settings)
    if as_json:
        typer.echo(json.dumps([finding.to_json() for finding in findings]))
    else:
        print_findings(findings)
    raise typer.Exit(int(worst(findings) is Level.ERROR))


def _airflow(settings: Settings) -> Iterator[Finding]:
    from instar.orchestrate.resources import FLAGS_POOL
    from instar.orchestrate.stack import connect, running_stack

    meaning = "Schedules and stages run there; the DAG instar_doctor examines it from the inside."

    def stack(level: Level, found: str, remedy: str = "") -> Finding:
        return Finding(Area.AIRFLOW, "airflow", "stack", level, found, meaning, remedy)

    running = running_stack(settings)
    if running is None:
        yield stack(Level.WARNING, "not up", "Start it: make up.")
        return
    logs = f"See its logs in {settings.work / 'logs'}."
    try:
        with connect(settings, running) as api:
            unhealthy, pools = api.unhealthy(), api.pools()
    except httpx.HTTPError as error:
        yield stack(Level.ERROR, f"no answer from {running.url}: {error}", logs)
        return
    if unhealthy:
        yield stack(Level.ERROR, f"unhealthy: {', '.join(unhealthy)}", logs)
    else:
        yield stack(Level.OK, f"healthy at {running.url}")
    there = FLAGS_POOL in pools
    yield Finding(
        Area.AIRFLOW,
        "airflow",
        f"pool {FLAGS_POOL}",
        Level.OK if there else Level.ERROR,
        "there" if there else "missing",
        "Its one slot serialises changes of flags.",
        "" if there else "Run make down, then make up.",
    )
