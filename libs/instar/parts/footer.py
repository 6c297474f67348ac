"""The footer entry of a part: everything that a catalog rebuilt from files alone needs to know."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from instar.errors import InstarError
from instar.model.part import PartFormat
from instar.model.schema import TableName, TableSchema
from instar.parts.checksums import FOOTER_KEY
from instar.parts.statistics import PartStatistics

ROW_GROUPS_KEY = b"instar.row_groups"
"""An entry of its own: few readers need it, and it is long."""
FOOTER_VERSION = 1
"""How the footer entry is written. A reader refuses versions that it does not know."""
BATCH_VERSION = 1
"""How structured columns and statistics are encoded. A reader can be told to ignore those of a bad version."""


class UnknownFooterVersion(InstarError):
    """A part that a newer release wrote."""


class MalformedFooter(InstarError):
    """A footer entry that does not say what it should."""


@dataclass(frozen=True)
class Provenance:
    """Where a part comes from: its timeline and table, the origin of its rows, and the attempt that wrote it."""

    writer: str
    table: TableName
    partition: str
    transaction: UUID
    origin: str
    generation: int
    attempt: int
    replaces: tuple[str, ...] = ()
    """Keys of the parts that this one takes the place of."""

    def to_json(self) -> dict[str, Any]:
        return {
            "writer": self.writer,
            "database": self.table.database,
            "table": self.table.table,
            "partition": self.partition,
            "transaction": str(self.transaction),
            "origin": self.origin,
            "generation": self.generation,
            "attempt": self.attempt,
            "replaces": list(self.replaces),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Provenance":
        return cls(
            value["writer"],
            TableName(value["database"], value["table"]),
            value["partition"],
            UUID(value["transaction"]),
            value["origin"],
            value["generation"],
            value["attempt"],
            tuple(value["replaces"]),
        )


@dataclass(frozen=True)
class Footer:
    """What a part says about itself."""

    provenance: Provenance
    schema: TableSchema
    """The columns as they were when the part was written: blobs hold their values in this order."""
    format: PartFormat
    codec: str | None
    """The codec of k and v, where the part has them."""
    first_t: int
    last_t: int
    has_deletes: bool
    statistics: PartStatistics
    batch_version: int = BATCH_VERSION

    @property
    def rows(self) -> int:
        return self.statistics.rows

    def to_bytes(self) -> bytes:
        """Return the footer entry, the same bytes for the same footer."""
        entry = {
            "version": FOOTER_VERSION,
            "batch_version": self.batch_version,
            "provenance": self.provenance.to_json(),
            "schema": self.schema.to_json(),
            "format": self.format.value,
            "codec": self.codec,
            "first_t": self.first_t,
            "last_t": self.last_t,
            "has_deletes": self.has_deletes,
            "statistics": self.statistics.to_json(),
        }
        return _to_bytes(entry)


def row_groups_to_bytes(groups: Sequence[PartStatistics]) -> bytes:
    """Return the entry with what is known of each row group, in their order."""
    return _to_bytes([group.to_json() for group in groups])


def parse_row_groups(metadata: Mapping[bytes, bytes], key: str) -> tuple[PartStatistics, ...]:
    """Return what a file's metadata says of its row groups; nothing where it has but one."""
    try:
        return tuple(map(PartStatistics.from_json, json.loads(metadata.get(ROW_GROUPS_KEY, b"[]"))))
    except (ValueError, KeyError, TypeError) as error:
        raise _malformed(key, error) from error


def _to_bytes(entry: Any) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _malformed(key: str, error: Exception) -> "MalformedFooter":
    return MalformedFooter(
        f"The footer of {key} can't be understood: {error!r}.", help="The file was altered after it was written."
    )


def parse_footer(metadata: Mapping[bytes, bytes], key: str) -> Footer:
    """Return the footer among a file's key-value metadata, or raise an error that names the file, `key`."""
    try:
        entry = metadata[FOOTER_KEY]
        value = json.loads(entry)
        version = value["version"]
        if version == FOOTER_VERSION:
            return _from_json(value)
    except (ValueError, KeyError, TypeError, InstarError) as error:
        raise _malformed(key, error) from error
    raise UnknownFooterVersion(
        f"{key} has a footer of version {version!r}; this release reads version {FOOTER_VERSION}.",
        help="Read it with a newer release.",
    )


def _from_json(value: Mapping[str, Any]) -> Footer:
    return Footer(
        provenance=Provenance.from_json(value["provenance"]),
        schema=TableSchema.from_json(value["schema"]),
        format=PartFormat(value["format"]),
        codec=value["codec"],
        first_t=value["first_t"],
        last_t=value["last_t"],
        has_deletes=value["has_deletes"],
        statistics=PartStatistics.from_json(value["statistics"]),
        batch_version=value["batch_version"],
    )
