"""What the doctor says."""

import enum
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


class Level(enum.StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


class Area(enum.StrEnum):
    DRIVER = "driver"
    EXECUTOR = "executor"
    STORE = "store"
    AIRFLOW = "airflow"


@dataclass(frozen=True)
class Finding:
    """One thing examined in one place: what was found, what it means, and what to do if it is not ok."""

    area: Area
    where: str
    check: str
    level: Level
    found: str
    meaning: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Finding":
        return cls(**{**value, "area": Area(value["area"]), "level": Level(value["level"])})


def worst(findings: Iterable[Finding]) -> Level:
    """Return the gravest level among the findings."""
    order = list(Level)
    return max((finding.level for finding in findings), key=order.index, default=Level.ERROR)
