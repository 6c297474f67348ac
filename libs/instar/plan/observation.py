"""What a cautious read noticed: published to whoever listens, never raised at the reader."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from instar.parts.compare import Difference

logger = logging.getLogger("instar.observations")


@dataclass(frozen=True)
class EncodingsDiffer:
    """A shadow read found a datum that the two encodings of a part disagree on."""

    table: str
    difference: Difference

    def __str__(self) -> str:
        d = self.difference
        return (
            f"{self.table}: {d.part}, row {d.row}, column {d.column!r}: "
            f"codec {d.codec_value}, structured {d.structured_value}."
        )


@dataclass(frozen=True)
class ShadowFailed:
    """A shadow read could not read the structured columns of a part."""

    table: str
    part: str
    reason: str

    def __str__(self) -> str:
        return f"{self.table}: the structured columns of {self.part} can't be read: {self.reason}"


@dataclass(frozen=True)
class WronglySkipped:
    """A soft read found that skipping a part would have changed the answer."""

    table: str
    where: str
    part: str
    row: str
    """The first row that is in one answer and not in the other, as JSON."""

    def __str__(self) -> str:
        return f"{self.table}: {self.where!r} would skip {self.part} and change the answer by {self.row}."


Observation = EncodingsDiffer | ShadowFailed | WronglySkipped
Observer = Callable[[Observation], None]


def log_observation(observation: Observation) -> None:
    logger.warning("%s", observation)
