"""The whole rollout through a real scheduler: each kind of failure stops it where it should, and then it passes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from instar.demo.faulty_encoder import append_with_wrong_value
from instar.demo.live import LOCATION, LiveIngest, live_row
from instar.flags import Flags
from instar.orchestrate.flags import variable_name
from instar.rollout.stages import Stage
from instar.sources.line_protocol import parse
from instar.storage.config import StoreConfig
from tests.engine.sample import FIRST, HOUR, LiveTable, hour_lines, live_table, micros, origin_of
from tests.services.airflow import Airflow

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.timeout(900)]

ROLLOUT = "instar_rollout"
FAULTY_HOUR = 6


@pytest.fixture(scope="module")
def live(airflow: Airflow) -> LiveTable:
    return live_table(StoreConfig(airflow.settings.lake), hours=4)


@pytest.fixture(scope="module")
def ingest(live: LiveTable) -> Iterator[LiveIngest]:
    """Keep an ingest going during all rollouts."""
    with LiveIngest(live.lake, live.table.name) as ingest:
        yield ingest


def roll_out(airflow: Airflow, live: LiveTable, **params: Any) -> tuple[str, dict[str, str]]:
    """Run the rollout and return the run's state and that of each task."""
    conf = {
        "tables": [str(live.table.name)],
        "grace_seconds": 0,
        "most_growth": 1000.0,  # of tiny parts
        "most_slowdown": 1000.0,  # on a busy machine
        **params,
    }
    run_id = airflow.api.trigger(ROLLOUT, conf)
    state = airflow.api.wait(ROLLOUT, run_id, timeout=600)
    return run_id, {"": state, **{task["task_id"]: task["state"] for task in airflow.api.tasks(ROLLOUT, run_id)}}


def variable(airflow: Airflow, live: LiveTable) -> dict[str, Any]:
    text = airflow.api.variable(variable_name(live.table.name))
    values: dict[str, Any] = json.loads(text) if text else {}
    return values


def flags(**values: str) -> Flags:
    return Flags.parse(values)


def test_a_gate_that_fails_after_the_flags_were_changed_brings_them_back(
    airflow: Airflow, live: LiveTable, ingest: LiveIngest
) -> None:
    run_id, states = roll_out(airflow, live, most_growth=0.1)
    assert (states[""], states["dual_write_gate"], states["dual_write_roll_back"]) == ("failed", "failed", "success")
    assert states["shadow_validation"] == "upstream_failed"
    assert "growth" in airflow.api.log(ROLLOUT, run_id, "dual_write_gate", map_index=0).lower()
    assert live.table.flags == flags()
    assert variable(airflow, live)["write_format"] == "codec"


def test_a_wrong_value_stops_the_rollout_at_the_shadow_gate_which_names_it(
    airflow: Airflow, live: LiveTable, ingest: LiveIngest
) -> None:
    start = FIRST + FAULTY_HOUR * HOUR
    rows = parse(hour_lines(FAULTY_HOUR), live.table.schema).rows
    key = append_with_wrong_value(
        live.table, rows, t=micros(start), origin=origin_of(start), row=3, column="surface_degrees", value=999.0
    )
    run_id, states = roll_out(airflow, live)
    assert (states[""], states["dual_write_gate"], states["shadow_validation_gate"]) == ("failed", "success", "failed")
    assert states["pushdown_gate"] == "success"
    log = airflow.api.log(ROLLOUT, run_id, "shadow_validation_gate", map_index=0)
    for named in (key, '"row": 3,', "surface_degrees", "999.0"):
        assert named in log
    assert live.table.flags == flags(write_format="dual")
    live.write_hour(FAULTY_HOUR, generation=1)


def test_a_switchover_that_nobody_asked_anything_before_fails(
    airflow: Airflow, live: LiveTable, ingest: LiveIngest
) -> None:
    _, states = roll_out(airflow, live, up_to="read_switchover")
    assert (states[""], states["shadow_validation_gate"], states["read_switchover_gate"]) == (
        "failed",
        "success",
        "failed",
    )
    assert live.table.flags == flags(write_format="dual", read_format="shadow", pushdown="soft")


def test_the_rollout_goes_on_where_the_table_stands_and_reaches_its_end_while_ingest_goes_on(
    airflow: Airflow, live: LiveTable, ingest: LiveIngest
) -> None:
    live.table.scan(
        "time >= timestamp '2026-01-01 02:00:00' and state = 'CA'", ["location", "surface_degrees"]
    ).to_arrow()
    run_id, states = roll_out(airflow, live)
    assert states[""] == "success"
    assert states["dual_write"] == "skipped"
    for stage in Stage:
        if stage is not Stage.DUAL_WRITE:
            landed = airflow.api.result(ROLLOUT, run_id, stage.label, "landed", map_index=0)
            assert landed, f"no commit landed during {stage.label}"
    assert live.table.flags == flags(write_format="structured", read_format="structured", pushdown="on")
    assert variable(airflow, live)["version"] == live.table.state().timelines["main"].flags_version - 1
    committed = len(ingest.revisions)
    assert set(live.table.state().parts["format"].to_pylist()) == {"structured"}
    seen = live.rows()
    assert [row for row in seen if row["location"] != LOCATION] == live.oracle.rows()
    expected = [row["surface_degrees"][0].as_py() for row in map(live_row, range(committed))]
    assert [row["surface_degrees"] for row in seen if row["location"] == LOCATION][:committed] == expected
