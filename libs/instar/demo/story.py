"""The story that the demo tells, step by step, through a real scheduler."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from instar.catalog.names import timeline_prefix
from instar.clock import random_id
from instar.demo.faulty_encoder import append_with_wrong_value
from instar.errors import InstarError
from instar.lake import Lake, Table
from instar.model.schema import TableName
from instar.orchestrate.api import AirflowApi
from instar.orchestrate.flags import variable_name
from instar.plan.queries import query_prefix
from instar.rollout.stages import Stage
from instar.sources.landing import landing_prefix
from instar.sources.line_protocol import parse
from instar.sources.sample import sample_lines, sample_schema

TABLE = TableName("instar_demo", "h2o_temperature")
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
HISTORY_DAYS = 6
STATIONS, STEP_SECONDS, BAD_LINES = 6, 30, 4
SOURCE = "buoys"
WRONG_COLUMN, WRONG_VALUE, WRONG_ROW = "surface_degrees", 999.0, 7
QUESTIONS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    ("state = 'CA' and time >= timestamp '2026-01-05'", ("location", "time", "surface_degrees")),
    ("time >= timestamp '2026-01-02' and time < timestamp '2026-01-03'", ("location", "bottom_degrees")),
    ("location = 'hilo_bay' and time < timestamp '2026-01-02'", ("time", "surface_degrees", "note")),
)
ROLLOUT, INGEST = "instar_rollout", "instar_ingest"


class DemoFailed(InstarError):
    """The demo did not go as it should."""


@dataclass(frozen=True)
class StageOutcome:
    """What a stage came to in a run of the rollout."""

    stage: Stage
    verdict: str
    result: dict[str, Any]


@dataclass(frozen=True)
class Rollout:
    """A run of the rollout."""

    run_id: str
    state: str
    outcomes: tuple[StageOutcome, ...]

    def outcome(self, stage: Stage) -> StageOutcome:
        return self.outcomes[stage - 1]


def fresh_table(lake: Lake, api: AirflowApi) -> Table:
    """Make the demo's table anew: forget what an earlier demo left of it."""
    writers = lake.catalog.writers(TABLE.database)
    for prefix in (*(timeline_prefix(writer, TABLE.database) for writer in writers), query_prefix(TABLE)):
        lake.store.delete([info.key for info in lake.store.list(prefix)])
    api.delete_variable(variable_name(TABLE))
    return Lake(lake.config, writer=lake.writer).create_table(replace(sample_schema(random_id), name=TABLE))


def day_lines(day: int) -> tuple[datetime, bytes]:
    """Return the start of a day and what the buoys sent that day."""
    start = FIRST_DAY + day * _DAY
    return start, sample_lines(
        start, start + _DAY, seed=1, stations=STATIONS, step_seconds=STEP_SECONDS, bad_lines=BAD_LINES
    )


def write_history(table: Table) -> int:
    """Write the days of the past as legacy codec parts; return their rows."""
    rows = 0
    for day in range(HISTORY_DAYS):
        start, data = day_lines(day)
        parsed = parse(data, table.schema).rows
        table.append(parsed, t=_micros(start), origin=_origin(start))
        rows += parsed.num_rows
    return rows


def land(folder: Path, day: int) -> datetime:
    """Put a day's lines where files land; return its start."""
    start, data = day_lines(day)
    target = folder / landing_prefix(start)
    target.mkdir(parents=True, exist_ok=True)
    (target / "buoys.lp").write_bytes(data)
    return start


def ask(table: Table) -> float:
    """Ask the readers' questions; return the seconds of the best of three times."""
    return min(
        _timed(lambda: [table.scan(where, columns).to_arrow() for where, columns in QUESTIONS]) for _ in range(3)
    )


def plant_wrong_value(table: Table) -> str:
    """Let a faulty encoder write one more day; return the part's key."""
    start, data = day_lines(HISTORY_DAYS + 1)
    rows = parse(data, table.schema).rows.slice(0, 1_000)
    t, origin = _micros(start), _origin(start)
    return append_with_wrong_value(
        table, rows, t=t, origin=origin, row=WRONG_ROW, column=WRONG_COLUMN, value=WRONG_VALUE
    )


def repair(table: Table) -> int:
    """Write the faulty day again, with an encoder that works: a new generation takes the place of the old one."""
    start, data = day_lines(HISTORY_DAYS + 1)
    rows = parse(data, table.schema).rows.slice(0, 1_000)
    return table.append(rows, t=_micros(start), origin=_origin(start), generation=1).revision


def run_ingest(api: AirflowApi, landing: Path, start: datetime) -> dict[str, Any]:
    """Bring a landed day in through the DAG; return the job's evidence."""
    conf = {"table": str(TABLE), "landing": landing.as_uri(), "source": SOURCE, "interval_start": start.isoformat()}
    run_id = api.trigger(INGEST, conf)
    if (state := api.wait(INGEST, run_id)) != "success":
        raise DemoFailed(f"{INGEST} ended as {state}.", help="Look at its log: make up, then open the run.")
    evidence: list[dict[str, Any]] = api.result(INGEST, run_id, "ingest", "evidence", map_index=0)
    return evidence[0]


def run_rollout(api: AirflowApi) -> Rollout:
    """Take the table through all stages."""
    run_id = api.trigger(ROLLOUT, {"tables": [str(TABLE)], "grace_seconds": 1})
    state = api.wait(ROLLOUT, run_id, timeout=900)
    return Rollout(run_id, state, tuple(_outcomes(api, run_id)))


def _outcomes(api: AirflowApi, run_id: str) -> Iterator[StageOutcome]:
    states = {task["task_id"]: str(task["state"]) for task in api.tasks(ROLLOUT, run_id)}
    for stage in Stage:
        gates = [states[name] for name in _gates(stage)]
        verdict = "passed" if set(gates) == {"success"} else "failed" if "failed" in gates else "not reached"
        result = _result(api, run_id, stage) if states[stage.label] == "success" else {}
        yield StageOutcome(stage, verdict, result)


def _gates(stage: Stage) -> tuple[str, ...]:
    from instar.orchestrate.rollout import GATES

    return tuple(f"{gate.suite}_gate" for gate in GATES[stage])


def _result(api: AirflowApi, run_id: str, stage: Stage) -> dict[str, Any]:
    report: dict[str, Any] = api.result(ROLLOUT, run_id, stage.label, map_index=0)
    result: dict[str, Any] = report["result"]
    return result


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _origin(start: datetime) -> str:
    return f"{SOURCE}:{start:%Y%m%dT%H%M%SZ}"


def _micros(start: datetime) -> int:
    return int(start.timestamp()) * 1_000_000
