"""Parts in a store, and what the catalog would know of them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pyarrow as pa

from instar.catalog.union import WRITER_COLUMN
from instar.catalog.vector import RevisionVector
from instar.flags import Flags, Pushdown, ReadFormat
from instar.model.part import PART_FIELDS, PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.parts.writer import WrittenPart, write_part
from instar.plan.observation import Observation
from instar.plan.read import answer
from instar.plan.scan import ScanPlan, plan_scan
from instar.storage.memory import MemoryStore
from tests.plan.oracle import Update, to_updates

TRANSACTION = UUID(int=7, version=4)


class Shelf:
    """The live parts of one table."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.store = MemoryStore()
        self._records = [PART_FIELDS.append(pa.field(WRITER_COLUMN, pa.string(), nullable=False)).empty_table()]

    def write(
        self, updates: Sequence[Update], format: PartFormat = PartFormat.DUAL, *, known: Mapping[str, Any] | None = None
    ) -> str:
        """Store updates of one writer and origin as a part, and return its key.

        `known` takes the place of statistics, by name; without any the catalog knows none.
        """
        of = self.provenance(updates[0].writer, updates[0].origin)
        part = write_part(to_updates(updates, self.schema), self.schema, format, of, ordinal=len(self._records))
        return self.put(part, updates[0].writer, known=known)

    def put(self, part: WrittenPart, writer: str = "w", *, known: Mapping[str, Any] | None = None) -> str:
        self.store.put(part.key, part.data)
        record = part.record if known is None or known else part.record.select(PART_FIELDS.names)
        for name, value in (known or {}).items():
            place = record.schema.get_field_index(name)
            record = record.set_column(place, record.schema.field(place), pa.array([value], record.schema.types[place]))
        self._records.append(record.append_column(pa.field(WRITER_COLUMN, pa.string(), nullable=False), [[writer]]))
        return part.key

    def provenance(self, writer: str = "w", origin: str = "o") -> Provenance:
        return Provenance(writer, self.schema.name, "", TRANSACTION, origin, 0, 0)

    def plan(
        self,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        pushdown: Pushdown = Pushdown.ON,
        read_format: ReadFormat = ReadFormat.CODEC,
    ) -> ScanPlan:
        parts = pa.concat_tables(self._records, promote_options="permissive")
        flags = Flags(read_format=read_format, pushdown=pushdown)
        return plan_scan(self.schema, parts, flags, RevisionVector(), where=where, columns=columns)

    def answer(self, where: str | None = None, **options: Any) -> tuple[pa.Table, list[Observation]]:
        """Return the rows, and what was noticed on the way."""
        noticed: list[Observation] = []
        return answer(self.store, self.plan(where, **options), noticed.append), noticed
