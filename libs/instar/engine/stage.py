"""What the jobs of all stages share: their arguments, their report, and an eye on what others commit meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from instar.catalog.actions import AddParts
from instar.catalog.union import UnitedTable, View
from instar.catalog.vector import RevisionVector
from instar.model.schema import TableName
from instar.plan.root import Root
from instar.storage.config import StoreConfig


@dataclass(frozen=True)
class StageArguments:
    """The arguments of every stage's job."""

    store: StoreConfig
    table: str


@dataclass(frozen=True)
class StageReport:
    """What a stage's job did."""

    evidence: list[dict[str, Any]]
    """The rows that its gate judges."""
    vector: RevisionVector
    """The revisions that the evidence holds for."""
    landed: list[dict[str, Any]]
    """Rows that others committed while the job ran."""
    summary: dict[str, Any] = field(default_factory=dict)
    more: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows for further gates."""

    def to_json(self) -> dict[str, Any]:
        return {
            "evidence": self.evidence,
            "vector": str(self.vector),
            "landed": self.landed,
            "summary": self.summary,
            **self.more,
        }


class Watched:
    """A table while a job works on it."""

    def __init__(self, root: Root, table: str) -> None:
        self.root = root
        self.name = TableName.parse(table)
        self.start = self.view()
        self.start.table(self.name)

    def view(self) -> View:
        """Return the newest state of the table's database."""
        return self.root.catalog.view(database=self.name.database)

    def table(self) -> UnitedTable:
        return self.view().table(self.name)

    @property
    def writers(self) -> list[str]:
        return list(self.start.table(self.name).timelines)

    def landed(self) -> list[dict[str, Any]]:
        """Return what has been added to the table since the job began: rows, not rewritten parts."""
        return [
            {
                "timeline": f"{place.writer}/{place.database}",
                "revision": transaction.revision,
                "rows": sum(action.parts["rows"].to_pylist()),
            }
            for place, revision in self.start.vector
            for transaction in self.root.catalog.timeline(place.writer, place.database).history(after=revision)
            for action in transaction.actions
            if isinstance(action, AddParts) and action.data_change and action.table == self.name.table
        ]
