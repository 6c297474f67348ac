"""How a table's parts are made. Nothing here changes what a reader sees."""

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from instar.errors import InstarError

MIB = 2**20


class InvalidSetting(InstarError):
    """A setting that a table can't have."""


class Counted(enum.StrEnum):
    """Which bytes of a dual part count towards the size that parts should have."""

    ALL = "all"
    """All of them: files have the size that was asked for."""
    CODEC = "codec"
    """Not those of the structured columns: a table keeps the number of parts that it had before it was dual."""


@dataclass(frozen=True)
class TableSettings:
    """Sizes and names in the files of a table."""

    part_bytes: int = 128 * MIB
    """The size that parts should have, about: no part is made of more rows than that seems to take."""
    counted: Counted = Counted.ALL
    part_rows: int = 262_144
    """How many updates a part holds at most, so that a task that writes one has bounded memory."""
    statistics_bytes: int = 4_096
    """How much the catalog keeps of a part's columns at most, but for those in `keep_statistics`."""
    names_by_id: bool = False
    """Whether columns are called by their ids in files, because their names must not leave the catalog."""

    def __post_init__(self) -> None:
        least = {"part_bytes": 1, "part_rows": 1, "statistics_bytes": 0}
        for name, limit in least.items():
            if (value := getattr(self, name)) < limit:
                raise InvalidSetting(f"{name} is {value}.", help=f"It is {limit} or more.")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "counted": self.counted.value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableSettings":
        return cls(**{**value, "counted": Counted(value["counted"])})
