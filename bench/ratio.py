"""Compare two ways to do a thing: alternating rounds, the ratio of their medians, and its spread."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

ROUNDS = 5


@dataclass(frozen=True)
class Ratio:
    """How many times as long the other way takes."""

    value: float
    spread: tuple[float, float]

    def to_json(self, bar: float | None, better: Literal["higher", "lower"]) -> dict[str, object]:
        spread = [round(value, 2) for value in self.spread]
        return {"value": round(self.value, 2), "spread": spread, "bar": bar, "better": better}


def compare(ours: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS) -> Ratio:
    """Return how many times as long `other` takes as `ours`; each runs once before it counts."""
    pairs = [(_seconds(other), _seconds(ours)) for _ in range(rounds + 1)][1:]
    others, mine = zip(*pairs, strict=True)
    ratios = [slow / fast for slow, fast in pairs]
    return Ratio(statistics.median(others) / statistics.median(mine), (min(ratios), max(ratios)))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
