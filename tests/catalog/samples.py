"""Tables, parts and timelines that catalog tests share."""

import itertools
import random
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.catalog.actions import Action, AddParts, CreateTable, RemoveParts
from instar.catalog.commit import Change, Committed, commit
from instar.catalog.preconditions import Precondition
from instar.catalog.timeline import Timeline
from instar.clock import UuidSource
from instar.model.part import PART_FIELDS
from instar.model.schema import TableName, TableSchema
from instar.parts.footer import Provenance
from instar.parts.names import part_key
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store

HOUR = 60 * 60 * 1_000_000


class Ticks:
    """A clock that moves by a microsecond at each look, and otherwise when told to."""

    def __init__(self, now: int = 1_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += 1
        return self.now


def numbered_uuids(seed: int = 0) -> UuidSource:
    numbers = random.Random(seed)
    return lambda: UUID(int=numbers.getrandbits(128), version=4)


def schema(table: str = "h2o", database: str = "weather") -> TableSchema:
    ids = itertools.count(101)
    columns = {"time": "timestamp", "state": "string", "degrees": "float64"}
    return TableSchema.create(f"{database}.{table}", columns, ids=lambda: next(ids))


def part_rows(
    transaction: UUID,
    count: int = 1,
    *,
    writer: str = "w1",
    table: str = "h2o",
    origin: str = "",
    generation: int = 0,
    attempt: int = 0,
    statistics: dict[str, pa.Array] | None = None,
) -> pa.Table:
    """Return metadata of parts that `transaction` wrote, under the names that real parts have."""
    provenance = Provenance(writer, TableName("weather", table), "", transaction, origin, generation, attempt)
    row: dict[str, Any] = {
        "format": "codec",
        "rows": 10,
        "bytes": 1000,
        "codec_bytes": 800,
        "first_t": 0,
        "last_t": 9,
        "partition": "",
        "origin": origin,
        "generation": generation,
        "attempt": attempt,
        "transaction": str(transaction),
        "batch_version": 1,
        "has_deletes": False,
    }
    keyed = [{**row, "key": part_key(provenance, number)} for number in range(count)]
    rows = pa.Table.from_pylist(keyed, schema=PART_FIELDS)
    for name, values in (statistics or {}).items():
        rows = rows.append_column(name, values)
    return rows


class Writer:
    """A process that commits to one timeline, with a clock and uuids of its own."""

    def __init__(
        self, store: Store | None = None, *, writer: str = "w1", seed: int = 0, clock: Ticks | None = None
    ) -> None:
        self.clock = clock or Ticks()
        self.store = MemoryStore(clock=self.clock) if store is None else store
        self.timeline = Timeline(self.store, writer, "weather")
        self.uuids = numbered_uuids(seed)

    def create(self, table: str = "h2o") -> Committed:
        return self.commit(CreateTable(schema(table)))

    def add(self, count: int = 1, *, table: str = "h2o", upload: bool = False, **fields: Any) -> Committed:
        uuid = self.uuids()
        rows = part_rows(uuid, count, table=table, **fields)
        if upload:
            self.upload(rows)
        return self.commit(AddParts(table, rows), uuid=uuid)

    def compact(self, keys: Iterable[str], origins: Iterable[tuple[str, int]], table: str = "h2o") -> Committed:
        """Replace parts by one per origin, without a change of data."""
        uuid = self.uuids()
        outputs = pa.concat_tables(
            part_rows(uuid, table=table, origin=origin, generation=generation, attempt=attempt)
            for attempt, (origin, generation) in enumerate(origins)
        )
        return self.commit(
            RemoveParts(table, tuple(keys), data_change=False),
            AddParts(table, outputs, data_change=False),
            uuid=uuid,
        )

    def commit(self, *actions: Action, uuid: UUID | None = None, expect: tuple[Precondition, ...] = ()) -> Committed:
        return commit(self.timeline, Change(uuid or self.uuids(), actions, expect), clock=self.clock)

    def upload(self, rows: pa.Table) -> None:
        for key in rows["key"].to_pylist():
            self.store.put(key, b"part")

    def keys(self, table: str = "h2o") -> list[str]:
        """Return the live keys as a reader who opens the lake now sees them."""
        keys: list[str] = Timeline(self.store, "w1", "weather").load().table(table).parts["key"].to_pylist()
        return keys
