"""Ingest through a real scheduler: by hand, over again, cleared, as a backfill, and with nothing to do.

The tests go through the life of one table, in their order; an oracle follows it.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from instar.clock import random_id
from instar.lake import Lake
from instar.model.schema import TableName
from instar.orchestrate.resources import SOURCES_VARIABLE
from instar.sources.line_protocol import parse
from instar.sources.sample import sample_schema
from instar.storage.config import StoreConfig
from tests.engine.sample import FIRST, HOUR, KEY, LiveTable, hour_lines, land, micros
from tests.services.airflow import Airflow

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(900)]

DAG = "instar_ingest"
TABLE = TableName("ingest_dag", "h2o_temperature")
PATIENCE = 600
"""Seconds for a run, on a machine that does much else."""


@dataclass(frozen=True)
class Scene:
    """A table that the DAG ingests into, where its files land, and the oracle of what it holds."""

    airflow: Airflow
    live: LiveTable
    landing: Path

    def land(self, hour: int, data: bytes, source: str = "buoys") -> datetime:
        """Put a source's file of an hour in place of the one before, and tell the oracle."""
        start = land(self.landing / source, hour, data)
        rows = parse(data, self.live.table.schema).rows
        self.live.oracle.put(f"{source}:{start:%Y%m%dT%H%M%SZ}", micros(start), rows)
        return start

    def source(self, name: str = "buoys") -> dict[str, str]:
        return {"table": str(TABLE), "source": name, "landing": (self.landing / name).as_uri()}

    def run(self, conf: dict[str, object]) -> tuple[str, str]:
        run_id = self.airflow.api.trigger(DAG, conf)
        return run_id, self.wait(run_id)

    def wait(self, run_id: str) -> str:
        return self.airflow.api.wait(DAG, run_id, timeout=PATIENCE)

    def evidence(self, run_id: str, index: int = 0) -> dict[str, Any]:
        (row,) = self.airflow.api.result(DAG, run_id, "ingest", "evidence", map_index=index)
        assert isinstance(row, dict)
        return row

    def quarantined(self, run_id: str, index: int = 0) -> list[dict[str, Any]]:
        folder = self.airflow.api.result(DAG, run_id, "ingest", "summary", map_index=index)["quarantine"]
        store = self.live.lake.store
        return [row for info in store.list(folder) for row in pq.read_table(store.open_input(info.key)).to_pylist()]

    def states(self, run_id: str) -> dict[tuple[str, int], str]:
        return {(one["task_id"], one["map_index"]): one["state"] for one in self.airflow.api.tasks(DAG, run_id)}

    def list_sources(self, *names: str) -> None:
        self.airflow.api.set_variable(SOURCES_VARIABLE, json.dumps([self.source(name) for name in names]))

    def backfill(self, first: int, last: int, reprocess: str) -> dict[datetime, str]:
        """Backfill hours through Airflow; return the runs, by the start of their interval."""
        api = self.airflow.api
        asked = {
            "dag_id": DAG,
            "from_date": (FIRST + first * HOUR).isoformat(),
            "to_date": (FIRST + last * HOUR).isoformat(),
            "reprocess_behavior": reprocess,
            "max_active_runs": 2,
        }
        deadline = time.monotonic() + PATIENCE
        while any(one["completed_at"] is None for one in self.backfills()):  # a DAG has one at a time
            assert time.monotonic() < deadline
            time.sleep(0.5)
        api.request("POST", "/backfills", json=asked)
        runs = api.request("GET", f"/dags/{DAG}/dagRuns", params={"run_type": "backfill"})["dag_runs"]
        assert {self.wait(run["dag_run_id"]) for run in runs} == {"success"}
        return {datetime.fromisoformat(run["data_interval_start"]): run["dag_run_id"] for run in runs}

    def backfills(self) -> list[dict[str, Any]]:
        return list(self.airflow.api.request("GET", "/backfills", params={"dag_id": DAG})["backfills"])

    def check(self) -> None:
        """The table holds what the oracle says, and of each origin the rows of one generation, once."""
        assert self.live.rows() == self.live.oracle.rows()
        parts = self.live.table.state().parts.select(["origin", "generation", "rows"]).to_pylist()
        held: Counter[str] = Counter()
        for part in parts:
            held[part["origin"]] += part["rows"]
        versions = self.live.oracle.versions.items()
        assert held == {origin: len({tuple(row[k] for k in KEY) for row in rows}) for origin, (_, rows) in versions}
        assert len({(part["origin"], part["generation"]) for part in parts}) == len(held)


@pytest.fixture(scope="module")
def scene(airflow: Airflow, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    schema = replace(sample_schema(random_id), name=TABLE)
    table = Lake(StoreConfig(airflow.settings.lake)).create_table(schema)
    airflow.api.delete_variable(SOURCES_VARIABLE)
    yield Scene(airflow, LiveTable(table), tmp_path_factory.mktemp("landing"))
    airflow.api.delete_variable(SOURCES_VARIABLE)


@pytest.fixture(scope="module")
def idle_run(scene: Scene) -> str:
    """Wake the DAG while there is nothing to ingest: Airflow runs the schedule's last hour at once."""
    run_id, state = scene.run({})
    assert state == "success"
    return run_id


@pytest.fixture(scope="module")
def first_run(scene: Scene, idle_run: str) -> str:
    start = scene.land(0, hour_lines(0, bad_lines=3))
    run_id, state = scene.run({**scene.source(), "interval_start": start.isoformat()})
    assert state == "success"
    return run_id


@pytest.fixture(scope="module")
def backfilled(scene: Scene, idle_run: str) -> dict[datetime, str]:
    """Two hours of history, of which the later corrects what the earlier said."""
    scene.land(1, hour_lines(1, seed=1))
    scene.land(2, hour_lines(1, seed=2)[:3000].rsplit(b"\n", 1)[0] + b"\n" + hour_lines(2))
    scene.list_sources("buoys")
    return scene.backfill(1, 2, "none")


def test_runs_without_sources_are_green_and_say_how_to_add_one(scene: Scene, idle_run: str) -> None:
    states = scene.states(idle_run)
    assert states.pop(("sources", -1)) == "success"
    assert {task for task, _ in states} == {"prepare", "ingest", "ingest_gate"}
    assert set(states.values()) == {"skipped"}
    assert 'set the Variable instar_sources to [{"table": ' in scene.airflow.api.log(DAG, idle_run, "sources")


def test_the_schedule_of_a_fresh_installation_is_green(scene: Scene, idle_run: str) -> None:
    runs = scene.airflow.api.request("GET", f"/dags/{DAG}/dagRuns", params={"run_type": "scheduled"})["dag_runs"]
    assert [scene.wait(run["dag_run_id"]) for run in runs] == ["success"] * len(runs)
    assert runs


def test_a_run_by_hand_ingests_its_interval_and_sets_aside_what_it_rejects(scene: Scene, first_run: str) -> None:
    scene.check()
    row = scene.evidence(first_run)
    assert (row["table"], row["files"], row["rejects"]) == (str(TABLE), 1, 3)
    rejects = scene.quarantined(first_run)
    assert len(rejects) == 3
    assert all(reject["reason"] for reject in rejects)


def test_another_run_of_the_interval_leaves_the_same_rows_once_and_a_cleared_one_brings_the_files_of_now(
    scene: Scene, first_run: str
) -> None:
    before, api = scene.evidence(first_run), scene.airflow.api
    another, state = scene.run({**scene.source(), "interval_start": FIRST.isoformat()})
    assert state == "success"
    assert before["generation"] < scene.evidence(another)["generation"]
    assert not scene.evidence(another)["already"]
    scene.check()

    scene.land(0, hour_lines(0, seed=2)[:5000].rsplit(b"\n", 1)[0])
    api.request("POST", f"/dags/{DAG}/dagRuns/{first_run}/clear", json={"dry_run": False})
    assert scene.wait(first_run) == "success"
    assert scene.evidence(first_run)["generation"] > scene.evidence(another)["generation"]
    scene.check()


def test_a_backfill_ingests_each_of_its_intervals_from_the_sources_of_the_variable(
    scene: Scene, backfilled: dict[datetime, str]
) -> None:
    assert sorted(backfilled) == [FIRST + HOUR, FIRST + 2 * HOUR]
    for start, run_id in backfilled.items():
        assert scene.evidence(run_id)["origin"] == f"buoys:{start:%Y%m%dT%H%M%SZ}"
    scene.check()


def test_too_many_rejects_fail_the_gate_of_their_source_and_no_other(scene: Scene, idle_run: str) -> None:
    start = scene.land(4, hour_lines(4, bad_lines=20), "ships")
    scene.land(4, hour_lines(4, seed=2))
    scene.list_sources("ships", "buoys")
    run_id, state = scene.run({"interval_start": start.isoformat()})
    assert state == "failed"
    states = scene.states(run_id)
    assert {states["ingest", 0], states["ingest", 1], states["ingest_gate", 1]} == {"success"}
    assert states["ingest_gate", 0] == "failed"
    assert "Rejected lines are few enough" in scene.airflow.api.log(DAG, run_id, "ingest_gate", map_index=0)
    assert len(scene.quarantined(run_id)) == 20
    scene.check()


def test_backfilling_over_again_replaces_each_interval_and_overwrites_no_newer_value(
    scene: Scene, backfilled: dict[datetime, str]
) -> None:
    before = {start: scene.evidence(run_id)["generation"] for start, run_id in backfilled.items()}
    scene.land(1, hour_lines(1, seed=3))
    scene.list_sources("buoys")
    again = scene.backfill(1, 2, "completed")
    assert again == backfilled
    assert all(scene.evidence(run_id)["generation"] > before[start] for start, run_id in again.items())
    scene.check()
