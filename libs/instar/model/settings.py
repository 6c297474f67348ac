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
    statistics_bytes: int = 4_096
    """How much the catalog keeps of a part's columns at most, but for those in `keep_statistics`."""
    names_by_id: bool = False
    """Whether columns are called by their ids in files, because their names must not leave the catalog."""

    def __post_init__(self) -> None:
        if self.part_bytes < 1 or self.statistics_bytes < 0:
            raise InvalidSetting(
                f"part_bytes is {self.part_bytes}, statistics_bytes is {self.statistics_bytes}.",
                help="A part has at least one byte; statistics may have none.",
            )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "counted": self.counted.value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableSettings":
        return cls(**{**value, "counted": Counted(value["counted"])})
