"""The questions that readers ask, recorded in the lake: the evidence that a switchover is judged by."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from instar.errors import InstarError
from instar.model.schema import TableName
from instar.parts.names import escape_name
from instar.storage.protocol import AlreadyExists, Store

_PREFIX = "_instar/queries"


class DamagedRecord(InstarError):
    """A recorded query that can't be understood."""


@dataclass(frozen=True)
class Query:
    """One question: the filter as text, and the columns asked for."""

    where: str | None
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"where": self.where, "columns": list(self.columns)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Query":
        where, columns = value["where"], value["columns"]
        if not isinstance(where, str | None) or not isinstance(columns, list):
            raise TypeError(value)
        return cls(where, tuple(map(str, columns)))


def record_query(store: Store, table: TableName, query: Query) -> None:
    """Keep a question in the lake; the same question is kept once."""
    data = json.dumps(query.to_json(), sort_keys=True, ensure_ascii=False).encode()
    try:
        store.put_if_absent(f"{query_prefix(table)}{hashlib.sha256(data).hexdigest()[:32]}.json", data)
    except AlreadyExists:
        return


def recorded_queries(store: Store, table: TableName) -> Iterator[Query]:
    """Yield the questions that were asked of a table, in the order of their keys."""
    for info in store.list(query_prefix(table)):
        try:
            yield Query.from_json(json.loads(store.get(info.key)))
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedRecord(f"{info.key} is no recorded query: {error!r}.", help="Delete it.") from error


def query_prefix(table: TableName) -> str:
    """Return the prefix below which the questions to a table are kept."""
    return f"{_PREFIX}/{escape_name(table.database)}/{escape_name(table.table)}/"
