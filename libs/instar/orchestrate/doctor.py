"""Examine Airflow from inside a task: the connections, pools and Variables that Instar needs."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import httpx
from airflow.sdk import BaseHook, Variable
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from instar.config import Settings
from instar.doctor.finding import Area, Finding, Level
from instar.orchestrate.api import AirflowApi
from instar.orchestrate.resources import API_CONNECTION, FLAGS_POOL, FLAGS_VARIABLE, SPARK_CONNECTION
from instar.orchestrate.store import lake_store

WHERE = "airflow"


def examination(lake: str, racers: int) -> dict[str, Any]:
    """Return the arguments of the Spark job that examines the rest: of the configured lake if `lake` is empty."""
    settings = Settings.load()
    return {"store": asdict(lake_store(settings, lake)), "executors": settings.spark_executors, "racers": racers}


def examine_airflow() -> Iterator[Finding]:
    """Look up everything that Instar needs inside Airflow."""
    yield _look(f"connection {SPARK_CONNECTION}", "Jobs are submitted to the master that it names.", _spark_master)
    yield _look(f"variable {FLAGS_VARIABLE}", "It holds the flags that the stages flip.", _flags)
    yield _look(f"pool {FLAGS_POOL}", "Its one slot serialises changes of flags.", _pool)


def _look(check: str, meaning: str, look: Callable[[], str]) -> Finding:
    try:
        found, level, remedy = look(), Level.OK, ""
    except (AirflowNotFoundException, AirflowRuntimeError, LookupError, ValueError, httpx.HTTPError) as error:
        found, level = f"{type(error).__name__}: {error}", Level.ERROR
        remedy = "Run python -m instar.orchestrate.provision, and see docs/reference/airflow.md."
    return Finding(Area.AIRFLOW, WHERE, check, level, found, meaning, remedy)


def _spark_master() -> str:
    connection = BaseHook.get_connection(SPARK_CONNECTION)
    return f"{connection.conn_type} at {connection.host}"


def _flags() -> str:
    value = json.loads(Variable.get(FLAGS_VARIABLE))
    return f"version {value['version']}"


def _pool() -> str:
    """Ask the public API: tasks have no other way to see pools."""
    connection = BaseHook.get_connection(API_CONNECTION)
    with AirflowApi(str(connection.host), str(connection.login), str(connection.password)) as api:
        if FLAGS_POOL not in (pools := api.pools()):
            raise LookupError(f"only {', '.join(sorted(pools))}")
    return "there"
