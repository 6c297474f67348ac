import pytest

from instar.flags import Flags
from instar.rollout.stages import TRANSITIONS, Stage, Transition, UnknownStage, is_behind, reason_to_skip

START = Flags()


def after(stage: Stage) -> Flags:
    """Return the flags of a table that has passed all stages up to `stage`, from the start."""
    flags = START
    for passed in Stage:
        if passed <= stage:
            flags = Flags.parse({**TRANSITIONS[passed].enter, **TRANSITIONS[passed].leave}, flags)
    return flags


def test_stages_are_known_by_their_labels_in_order() -> None:
    labels = [stage.label for stage in Stage]
    assert labels[0] == "dual_write"
    assert labels[-1] == "orphan_gc"
    assert [Stage.named(label) for label in labels] == sorted(Stage)


def test_an_unknown_stage_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownStage, match=r"no stage 'dual'.*dual_write, shadow_validation"):
        Stage.named("dual")


def test_the_stages_lead_from_codec_to_structured() -> None:
    assert after(Stage.DUAL_WRITE).to_json() == {"write_format": "dual", "read_format": "codec", "pushdown": "off"}
    assert after(Stage.SHADOW_VALIDATION).to_json() == {
        "write_format": "dual",
        "read_format": "shadow",
        "pushdown": "soft",
    }
    assert after(Stage.READ_SWITCHOVER).to_json() == {
        "write_format": "dual",
        "read_format": "structured",
        "pushdown": "on",
    }
    assert after(Stage.ORPHAN_GC) == after(Stage.COMPACTION)
    assert after(Stage.ORPHAN_GC).write_format == "structured"


def test_readers_see_nothing_new_before_a_gate_has_passed() -> None:
    for transition in TRANSITIONS.values():
        assert set(transition.enter) <= {"write_format"}


@pytest.mark.parametrize("stage", list(Stage)[:3])
def test_a_stage_is_behind_once_a_later_one_has_left_its_mark(stage: Stage) -> None:
    assert not is_behind(stage, START)
    assert not is_behind(stage, after(stage))
    assert is_behind(stage, after(Stage(stage + 1)))
    assert is_behind(stage, after(Stage.ORPHAN_GC))


@pytest.mark.parametrize("stage", list(Stage)[3:])
def test_what_has_no_flags_to_tell_by_is_done_again(stage: Stage) -> None:
    assert not is_behind(stage, after(Stage.ORPHAN_GC))


def test_a_new_table_goes_through_every_stage_up_to_the_last_one_asked_for() -> None:
    taken = [stage for stage in Stage if reason_to_skip(stage, Stage.READ_SWITCHOVER, START) is None]
    assert taken == [Stage.DUAL_WRITE, Stage.SHADOW_VALIDATION, Stage.READ_SWITCHOVER]
    assert reason_to_skip(Stage.COMPACTION, Stage.READ_SWITCHOVER, START) == "The run ends with read_switchover."


def test_a_table_goes_on_where_it_stands() -> None:
    flags = after(Stage.SHADOW_VALIDATION)
    taken = [stage for stage in Stage if reason_to_skip(stage, Stage.ORPHAN_GC, flags) is None]
    assert taken == list(Stage)[1:]
    assert reason_to_skip(Stage.DUAL_WRITE, Stage.ORPHAN_GC, flags) == "The table is past dual_write."


def test_undoing_a_stage_restores_what_entering_it_changed_and_nothing_else() -> None:
    before = Flags.parse({"write_format": "dual", "read_format": "structured", "pushdown": "on"})
    assert TRANSITIONS[Stage.COMPACTION].undo(before) == {"write_format": "dual"}
    assert TRANSITIONS[Stage.SHADOW_VALIDATION].undo(before) == {}
    assert Transition().undo(before) == {}
