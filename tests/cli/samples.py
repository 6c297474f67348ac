"""A small lake that is the same each time, and commands that are run on it."""

import itertools
import json
import os
import random
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from instar.catalog.actions import SetFlags
from instar.catalog.commit import Change, commit
from instar.cli import app, main
from instar.flags import Flags
from instar.lake import Lake
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.plan.write import WriteTask, as_updates, write_parts
from instar.storage.config import StoreConfig

H2O = "weather.h2o"
STATIONS = "weather.stations"
LEFT_OVER = UUID("00000000-0000-4000-8000-00000000dead")
_HOUR = 3_600_000_000
_BEGIN = 1_767_225_600_000_000  # 2026-01-01


def build_lake(root: Path) -> Lake:
    """Fill a lake: an append table of three parts, codec and dual, with pushdown on; and an upsert table of one."""
    numbers = random.Random(7)
    lake = Lake(
        StoreConfig(root.as_uri()),
        clock=itertools.count(_BEGIN, _HOUR).__next__,
        uuids=lambda: UUID(int=numbers.getrandbits(128), version=4),
    )
    ids = itertools.count(101).__next__
    columns = {"state": "string", "time": "timestamp", "degrees": "float64"}
    h2o = lake.create_table(TableSchema.create(H2O, columns, ids=ids, required=["state"]))
    h2o.append(rows("CA"), origin="landing/ca")
    h2o.append(rows("NY"), origin="landing/ny")
    set_flags(lake, "h2o", 1, write_format="dual", pushdown="on")
    h2o.append(rows("WA"), origin="landing/wa")
    stations = TableSchema.create(
        STATIONS, {"station": "int64", "name": "string"}, ids=ids, key=["station"], merge_mode="upsert"
    )
    lake.create_table(stations).append(pa.table({"station": [1, 2], "name": ["Coyote Creek", None]}), t=1)
    return lake


def rows(state: str) -> pa.Table:
    times = pa.array([_BEGIN, _BEGIN + _HOUR, None], pa.timestamp("us"))
    return pa.table({"state": [state] * 3, "time": times, "degrees": [61.5, float("nan"), 60.0]})


def set_flags(lake: Lake, table: str, version: int, **flags: str) -> None:
    change = Change(lake.uuids(), (SetFlags(table, Flags.parse(flags), version),))
    commit(lake.catalog.timeline(lake.writer, "weather"), change, clock=lake.clock)


def leave_over(lake: Lake, root: Path) -> str:
    """Write a part as a writer does that dies before its commit, long ago; return its key."""
    schema = lake.table(H2O).schema
    provenance = Provenance(lake.writer, schema.name, "", LEFT_OVER, "landing/or", 0, attempt=0)
    task = WriteTask(schema, PartFormat.CODEC, provenance)
    (key,) = write_parts(lake.store, as_updates(rows("OR"), 0), task)["key"].to_pylist()
    seconds = _BEGIN // 1_000_000
    os.utime(root / key, (seconds, seconds))
    return str(key)


def part_keys(lake: Lake, table: str) -> list[str]:
    keys: list[str] = lake.table(table).state().parts["key"].to_pylist()
    return keys


def run(*arguments: str, terminal: bool = False) -> str:
    """Run a command that succeeds, and return what it prints: to a terminal, or to a pipe."""
    env = {"FORCE_COLOR": "1" if terminal else None, "TTY_COMPATIBLE": None}
    result = CliRunner(env=env).invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def lines(*arguments: str) -> list[list[str]]:
    """Run a command and return the cells of the lines that it prints, which two spaces or more set apart."""
    return [[cell for cell in line.split("  ") if cell] for line in run(*arguments).splitlines()]


def fail(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Run the command as a shell does; return what it says on stderr after it exits with 1 and prints nothing else."""
    monkeypatch.setattr(sys, "argv", ["instar", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capsys.readouterr()
    assert (stopped.value.code, printed.out) == (1, "")
    return printed.err
