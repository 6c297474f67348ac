"""Feature flags: how a table is written and read. Each flag's values are listed in the order of the rollout."""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from instar.errors import InstarError


class InvalidFlags(InstarError):
    """A flag or a value that does not exist."""


class WriteFormat(enum.StrEnum):
    """The part format that new parts get."""

    CODEC = "codec"
    DUAL = "dual"
    STRUCTURED = "structured"


class ReadFormat(enum.StrEnum):
    """Which encoding of a dual part is read."""

    CODEC = "codec"
    SHADOW = "shadow"
    """Read both, answer from the codec, report differences."""
    STRUCTURED = "structured"


class Pushdown(enum.StrEnum):
    """Whether parts are skipped by their statistics."""

    OFF = "off"
    SOFT = "soft"
    """Read all, and report what skipping would have changed."""
    ON = "on"


_FLAGS: dict[str, type[enum.StrEnum]] = {
    "write_format": WriteFormat,
    "read_format": ReadFormat,
    "pushdown": Pushdown,
}


@dataclass(frozen=True)
class Flags:
    """The flags of one table."""

    write_format: WriteFormat = WriteFormat.CODEC
    read_format: ReadFormat = ReadFormat.CODEC
    pushdown: Pushdown = Pushdown.OFF

    @classmethod
    def parse(cls, values: Mapping[str, Any], base: "Flags | None" = None) -> "Flags":
        """Return `base` (the defaults unless given) with `values` laid over it."""
        parsed: dict[str, Any] = {}
        for flag, value in values.items():
            allowed = _FLAGS.get(flag)
            if allowed is None:
                raise InvalidFlags(f"There is no flag {flag!r}.", help=f"Use one of: {', '.join(_FLAGS)}.")
            if value not in list(allowed):
                raise InvalidFlags(f"{flag} can't be {value!r}.", help=f"Use one of: {', '.join(allowed)}.")
            parsed[flag] = allowed(value)
        return replace(base or cls(), **parsed)

    def to_json(self) -> dict[str, str]:
        return {field.name: str(getattr(self, field.name)) for field in fields(self)}


def least(several: Iterable[Flags]) -> Flags:
    """Return, flag by flag, the value that comes first in the rollout: what all of `several` have reached."""
    candidates = list(several)
    return Flags.parse(
        {
            flag: min((getattr(flags, flag) for flags in candidates), key=list(values).index)
            for flag, values in _FLAGS.items()
        }
    )
