"""A small live table, and an oracle of its content that knows nothing of parts, logs or merging."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from instar.catalog.actions import SetFlags
from instar.catalog.commit import Change, commit
from instar.clock import random_id
from instar.flags import Flags
from instar.lake import Lake, Table
from instar.sources.landing import landing_prefix
from instar.sources.line_protocol import parse
from instar.sources.sample import sample_lines, sample_schema
from instar.storage.config import StoreConfig

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEY = ("location", "state", "time")


@dataclass
class Oracle:
    """Rows by key: fields of later times win, and nulls never do."""

    versions: dict[str, tuple[int, list[dict[str, Any]]]] = field(default_factory=dict)

    def put(self, origin: str, t: int, rows: pa.Table) -> None:
        self.versions[origin] = (t, rows.to_pylist())

    def rows(self) -> list[dict[str, Any]]:
        merged: dict[tuple[Any, ...], dict[str, Any]] = {}
        for _, (_, rows) in sorted(self.versions.items(), key=lambda item: (item[1][0], item[0])):
            for row in rows:
                known = merged.setdefault(tuple(row[name] for name in KEY), dict(row))
                known.update({name: value for name, value in row.items() if value is not None})
        return [merged[key] for key in sorted(merged)]


@dataclass
class LiveTable:
    """A table of the sample, written hour by hour, and what it should hold."""

    table: Table
    oracle: Oracle = field(default_factory=Oracle)
    flags_version: int = 0

    @property
    def lake(self) -> Lake:
        return self.table.lake

    @property
    def store(self) -> StoreConfig:
        return self.lake.config

    def write_hour(self, number: int, *, seed: int = 1, generation: int = 0) -> int:
        """Append an hour's rows and return the revision."""
        start = FIRST + number * HOUR
        rows = parse(hour_lines(number, seed=seed), self.table.schema).rows
        t, origin = micros(start), origin_of(start)
        self.oracle.put(origin, t, rows)
        return self.table.append(rows, t=t, origin=origin, generation=generation).revision

    def set_flags(self, values: Mapping[str, str]) -> None:
        self.flags_version += 1
        name = self.table.name
        for writer in self.table.state().timelines:
            timeline = self.lake.catalog.timeline(writer, name.database)
            flags = Flags.parse(values, timeline.load().table(name.table).flags)
            change = Change(self.lake.uuids(), (SetFlags(name.table, flags, self.flags_version),))
            commit(timeline, change, clock=self.lake.clock)

    def rows(self) -> list[dict[str, Any]]:
        """Return what a reader sees now, under the table's flags."""
        found = self.table.scan().to_arrow().to_pylist()
        return sorted(found, key=lambda row: tuple(row[name] for name in KEY))


def live_table(config: StoreConfig, hours: int) -> LiveTable:
    """Make a table with that many hours in codec parts."""
    live = LiveTable(Lake(config).create_table(sample_schema(random_id)))
    for number in range(hours):
        live.write_hour(number)
    return live


def hour_lines(number: int, *, seed: int = 1, bad_lines: int = 0) -> bytes:
    start = FIRST + number * HOUR
    return sample_lines(start, start + HOUR, seed=seed, stations=4, step_seconds=120, bad_lines=bad_lines)


def land(folder: Path, number: int, data: bytes, name: str = "a.lp") -> datetime:
    """Put a file where those of an hour land; return the hour."""
    start = FIRST + number * HOUR
    target = folder / landing_prefix(start)
    target.mkdir(parents=True, exist_ok=True)
    (target / name).write_bytes(data)
    return start


def origin_of(start: datetime) -> str:
    return f"buoys:{start:%Y%m%dT%H%M%SZ}"


def micros(start: datetime) -> int:
    return int(start.timestamp()) * 1_000_000
