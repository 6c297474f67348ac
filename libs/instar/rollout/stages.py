"""The six stages, in order, and what each does to a table's flags."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from instar.errors import InstarError
from instar.flags import Flags, ReadFormat, WriteFormat


class UnknownStage(InstarError):
    """A name that no stage has."""


class Stage(enum.IntEnum):
    DUAL_WRITE = 1
    SHADOW_VALIDATION = 2
    READ_SWITCHOVER = 3
    COMPACTION = 4
    CATALOG_CHECKPOINT = 5
    ORPHAN_GC = 6

    @property
    def label(self) -> str:
        return self.name.lower()

    @classmethod
    def named(cls, label: str) -> "Stage":
        for stage in cls:
            if stage.label == label:
                return stage
        raise UnknownStage(f"There is no stage {label!r}.", help=f"Use one of: {', '.join(s.label for s in cls)}.")


@dataclass(frozen=True)
class Transition:
    """What a stage does to flags: before its work, so that no new part undoes it, and once its gate has passed."""

    enter: Mapping[str, str] = field(default_factory=dict)
    leave: Mapping[str, str] = field(default_factory=dict)

    def undo(self, before: Flags) -> dict[str, str]:
        """Return what takes back the flags of `enter`, where they were `before`; others may have changed since."""
        return {flag: value for flag, value in before.to_json().items() if flag in self.enter}


TRANSITIONS: Mapping[Stage, Transition] = {
    Stage.DUAL_WRITE: Transition(enter={"write_format": "dual"}),
    Stage.SHADOW_VALIDATION: Transition(leave={"read_format": "shadow", "pushdown": "soft"}),
    Stage.READ_SWITCHOVER: Transition(leave={"read_format": "structured", "pushdown": "on"}),
    Stage.COMPACTION: Transition(enter={"write_format": "structured"}),
    Stage.CATALOG_CHECKPOINT: Transition(),
    Stage.ORPHAN_GC: Transition(),
}


def is_behind(stage: Stage, flags: Flags) -> bool:
    """Tell whether a table is past `stage`: a later one has left its mark on the flags, so this one is not repeated.

    Anything short of that is done again, for a run may have ended between the work and its gate.
    """
    match stage:
        case Stage.DUAL_WRITE:
            return flags.read_format is not ReadFormat.CODEC
        case Stage.SHADOW_VALIDATION:
            return flags.read_format is ReadFormat.STRUCTURED
        case Stage.READ_SWITCHOVER:
            return flags.write_format is WriteFormat.STRUCTURED
        case _:
            return False


def reason_to_skip(stage: Stage, up_to: Stage, flags: Flags) -> str | None:
    """Say why a run that goes up to a stage leaves `stage` out for a table with these flags, None where it does not."""
    if stage > up_to:
        return f"The run ends with {up_to.label}."
    if is_behind(stage, flags):
        return f"The table is past {stage.label}."
    return None
