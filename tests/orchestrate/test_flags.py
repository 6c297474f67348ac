import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog.actions import SetFlags
from instar.catalog.snapshot import TableState
from instar.clock import random_id
from instar.flags import Flags
from instar.lake import Lake
from instar.model.schema import TableName, TableSchema
from instar.orchestrate.flags import (
    FlagsChanged,
    FlagTexts,
    InvalidVariable,
    VariablesBehind,
    VariableShadowed,
    VersionNotRaised,
    WantedFlags,
    bring_in,
    change,
    plan_change,
    read_texts,
    to_commit,
    variable_name,
    wanted_flags,
)
from instar.storage.config import StoreConfig

NAME = TableName("weather", "water")
KEY = "instar_flags__weather__water"
SCHEMA = TableSchema.create(str(NAME), {"a": "int64"}, ids=random_id)
DUAL, SHADOW = Flags.parse({"write_format": "dual"}), Flags.parse({"write_format": "dual", "read_format": "shadow"})


class Shelf:
    """Variables in memory, with what a test wants to happen before a write."""

    def __init__(self, **texts: Any) -> None:
        self.texts = {key: json.dumps(value) for key, value in texts.items()}
        self.writes = 0

    def variable(self, key: str) -> str | None:
        return self.texts.get(key)

    def set_variable(self, key: str, text: str) -> None:
        self.writes += 1
        self.texts[key] = text

    def loaded(self, key: str = KEY) -> Any:
        return json.loads(self.texts[key])


def texts(shared: Any = None, table: Any = None) -> FlagTexts:
    return FlagTexts(*(None if value is None else json.dumps(value) for value in (shared, table)))


def state(flags: Flags, version: int) -> TableState:
    return TableState(SCHEMA, flags=flags, flags_version=version)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose table two writers hold."""
    lake = Lake(StoreConfig(tmp_path.as_uri()))
    lake.create_table(SCHEMA)
    Lake(lake.config, writer="other").table(NAME).join()
    return lake


def held(lake: Lake) -> list[tuple[Flags, int]]:
    """Return the flags and their version in each timeline, as a process sees them that has just begun."""
    timelines = Lake(lake.config).table(NAME).state().timelines
    assert list(timelines) == ["main", "other"]
    return [(of.flags, of.flags_version) for of in timelines.values()]


def revisions(lake: Lake) -> list[int]:
    return [revision for _, revision in Lake(lake.config).table(NAME).view().vector]


# What the Variables want


def test_without_variables_a_table_has_the_defaults_in_version_0() -> None:
    assert wanted_flags(NAME, FlagTexts()) == WantedFlags(Flags(), 0, 0)


def test_a_database_overrides_the_defaults_and_a_table_overrides_both() -> None:
    shared = {
        "version": 3,
        "defaults": {"write_format": "dual", "read_format": "shadow", "pushdown": "soft"},
        "databases": {"weather": {"read_format": "codec", "pushdown": "on"}, "sea": {"write_format": "codec"}},
    }
    wanted = wanted_flags(NAME, texts(shared, {"version": 4, "pushdown": "off"}))
    assert wanted.flags.to_json() == {"write_format": "dual", "read_format": "codec", "pushdown": "off"}
    assert (wanted.version, wanted.table_version) == (7, 4)


@pytest.mark.parametrize(
    ("shared", "table", "message"),
    [
        ({"version": 1, "defaults": {"reed": "codec"}}, None, r"instar_flags: There is no flag 'reed'.*write_format"),
        ({"version": 1, "databases": {"weather": {"pushdown": "maybe"}}}, None, r"pushdown can't be.*off, soft, on"),
        (
            None,
            {"version": 1, "write_format": "dval"},
            rf"{KEY}: write_format can't be 'dval'.*codec, dual, structured",
        ),
        ({"version": 1, "default": {}}, None, r"entry 'default'.*version, defaults, databases"),
        ({"version": 1, "defaults": []}, None, r"'defaults' in Variable instar_flags is not a JSON object"),
        ({"version": 1, "databases": {"weather": "dual"}}, None, r"'weather' in Variable instar_flags is not"),
        ({"defaults": {}}, None, r"instar_flags is not a JSON object with a whole number"),
        (None, {"write_format": "dual"}, rf"{KEY} is not a JSON object with a whole number"),
        (None, {"version": "2"}, "whole number"),
        (None, {"version": True}, "whole number"),
        (None, {"version": -1}, "whole number"),
        (None, [1], "not a JSON object"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named_with_what_is_allowed(shared: Any, table: Any, message: str) -> None:
    with pytest.raises(InvalidVariable, match=message):
        wanted_flags(NAME, texts(shared, table))


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidVariable, match=KEY):
        wanted_flags(NAME, FlagTexts(table="write_format=dual"))


def test_a_mistake_for_another_database_stops_no_table_here() -> None:
    shared = {"version": 1, "databases": {"sea": {"nonsense": 1}}}
    assert wanted_flags(NAME, texts(shared)).flags == Flags()


@given(st.text("a_", min_size=4, max_size=12))
def test_tables_whose_names_run_into_each_other_have_variables_of_their_own(text: str) -> None:
    """a__b.c and a.b__c, if their names were only joined, would share one."""
    splits = [at for at in range(1, len(text) - 2) if text[at : at + 2] == "__"]
    names = {variable_name(TableName(text[:at], text[at + 2 :])) for at in splits}
    assert len(names) == len(splits)


def test_an_escape_in_a_variables_name_is_no_other_tables_name() -> None:
    assert variable_name(TableName("a_", "b")) == "instar_flags__a%5F__b"
    assert variable_name(TableName("a%5F", "b")) == "instar_flags__a%255F__b"


def test_a_plain_name_is_kept_in_its_variable() -> None:
    assert variable_name(TableName("my_weather", "h2o_temperature")) == "instar_flags__my_weather__h2o_temperature"


# What goes into the catalog


def test_new_flags_of_a_higher_version_go_into_the_catalog() -> None:
    assert to_commit(NAME, WantedFlags(DUAL, 5, 1), state(Flags(), 4)) == SetFlags("water", DUAL, 5)


@pytest.mark.parametrize("version", [0, 4, 9])
def test_equal_flags_are_left_alone_whatever_the_version(version: int) -> None:
    assert to_commit(NAME, WantedFlags(DUAL, 4, 1), state(DUAL, version)) is None


def test_an_edit_that_did_not_raise_the_version_is_refused_and_said_so() -> None:
    with pytest.raises(VersionNotRaised, match=r"in version 4.*Raise the version"):
        to_commit(NAME, WantedFlags(DUAL, 4, 1), state(SHADOW, 4))


def test_variables_that_were_set_back_are_refused_with_the_way_to_keep_the_catalogs() -> None:
    with pytest.raises(
        VariablesBehind, match=r"flags set weather.water write_format=dual read_format=shadow pushdown=off"
    ):
        to_commit(NAME, WantedFlags(Flags(), 1, 0), state(SHADOW, 4))


def test_flags_come_into_every_timeline_once(lake: Lake) -> None:
    wanted = texts({"version": 2, "defaults": {"write_format": "dual"}})
    before = revisions(lake)
    for _ in range(3):
        assert bring_in(lake, NAME, wanted) == WantedFlags(DUAL, 2, 0)
    assert held(lake) == [(DUAL, 2), (DUAL, 2)]
    assert [after - start for start, after in zip(before, revisions(lake), strict=True)] == [1, 1]


def test_what_was_brought_into_one_timeline_only_is_completed(lake: Lake) -> None:
    """A task may die between two timelines; until the next one, a reader sees the lesser flags."""
    from instar.catalog.commit import Change, commit

    timeline = lake.catalog.timeline("main", "weather")
    commit(timeline, Change(lake.uuids(), (SetFlags("water", DUAL, 2),)), clock=lake.clock)
    assert Lake(lake.config).table(NAME).flags == Flags()
    bring_in(lake, NAME, texts({"version": 2, "defaults": {"write_format": "dual"}}))
    assert held(lake) == [(DUAL, 2), (DUAL, 2)]


def test_nothing_is_committed_where_one_timeline_contradicts(lake: Lake) -> None:
    from instar.catalog.commit import Change, commit

    timeline = lake.catalog.timeline("other", "weather")
    commit(timeline, Change(lake.uuids(), (SetFlags("water", SHADOW, 2),)), clock=lake.clock)
    with pytest.raises(VersionNotRaised):
        bring_in(lake, NAME, texts({"version": 2, "defaults": {"write_format": "dual"}}))
    assert held(lake) == [(Flags(), 0), (SHADOW, 2)]


def test_flags_that_meet_a_commit_of_somebody_else_go_on_top_of_it(lake: Lake) -> None:
    stale = Lake(lake.config)
    stale.table(NAME).state()
    bring_in(lake, NAME, texts({"version": 2, "defaults": {"write_format": "dual"}}))
    newer = {"version": 3, "defaults": {"write_format": "dual", "read_format": "shadow"}}
    bring_in(stale, NAME, texts(newer))
    assert held(lake) == [(SHADOW, 3), (SHADOW, 3)]


# Changes


def test_a_change_keeps_what_else_the_variable_says_and_raises_its_version() -> None:
    planned = plan_change(NAME, texts({"version": 3}, {"version": 4, "pushdown": "soft"}), [], {"write_format": "dual"})
    assert json.loads(planned.text or "") == {"version": 5, "pushdown": "soft", "write_format": "dual"}
    assert planned.before.flags.to_json()["write_format"] == "codec"
    assert planned.after.to_json() == {"write_format": "dual", "read_format": "codec", "pushdown": "soft"}


def test_what_is_so_already_is_not_written_even_if_the_version_is_another() -> None:
    assert (
        plan_change(NAME, texts(None, {"version": 4, "write_format": "dual"}), [], {"write_format": "dual"}, 3).text
        is None
    )


def test_a_change_decided_on_an_older_version_is_refused() -> None:
    with pytest.raises(FlagsChanged, match="from version 3 to 4"):
        plan_change(NAME, texts(None, {"version": 4}), [], {"write_format": "dual"}, expected=3)
    assert plan_change(NAME, texts(None, {"version": 4}), [], {"write_format": "dual"}, expected=4).text


def test_an_edit_of_the_shared_variable_does_not_void_a_decision_about_a_table() -> None:
    assert plan_change(NAME, texts({"version": 99}, {"version": 4}), [], {"write_format": "dual"}, expected=4).text


def test_where_variables_and_catalog_contradict_only_a_complete_change_is_taken() -> None:
    ahead = [state(SHADOW, 9)]
    with pytest.raises(VariablesBehind):
        plan_change(NAME, texts({"version": 2}), ahead, {"pushdown": "on"})
    planned = plan_change(NAME, texts({"version": 2}), ahead, SHADOW.to_json())
    assert json.loads(planned.text or "") == {**SHADOW.to_json(), "version": 8}
    assert wanted_flags(NAME, FlagTexts('{"version": 2}', planned.text)).version == 10


def test_a_complete_change_to_what_the_variables_say_still_raises_the_version_over_the_catalogs() -> None:
    planned = plan_change(NAME, texts({"version": 2}), [state(SHADOW, 9)], Flags().to_json())
    assert json.loads(planned.text or "")["version"] == 8


@given(
    shared=st.integers(0, 20),
    own=st.integers(0, 20),
    catalog=st.lists(st.integers(0, 40), max_size=3),
    values=st.fixed_dictionaries({"write_format": st.sampled_from(["codec", "dual", "structured"])}),
)
def test_a_written_change_is_always_newer_than_every_timeline(
    shared: int, own: int, catalog: list[int], values: dict[str, str]
) -> None:
    states = [state(Flags.parse({"pushdown": "on"}), version) for version in catalog]
    every = {**Flags().to_json(), **values}
    before = texts({"version": shared}, {"version": own})
    planned = plan_change(NAME, before, states, every)
    if planned.text is not None:
        after = wanted_flags(NAME, FlagTexts(before.shared, planned.text))
        assert after.flags == planned.after
        assert after.version > max([shared + own, *catalog])
        assert after.table_version > own


def test_a_change_is_written_and_brought_into_the_catalog(lake: Lake) -> None:
    shelf = Shelf(instar_flags={"version": 1, "defaults": {}, "databases": {}})
    after = change(lake, shelf, NAME, {"write_format": "dual"}, expected=0)
    assert after == WantedFlags(DUAL, 2, 1)
    assert shelf.loaded() == {"version": 1, "write_format": "dual"}
    assert held(lake) == [(DUAL, 2), (DUAL, 2)]


def test_a_change_that_was_interrupted_after_its_write_is_finished_by_a_repetition(lake: Lake) -> None:
    shelf = Shelf(**{KEY: {"version": 1, "write_format": "dual"}})
    assert change(lake, shelf, NAME, {"write_format": "dual"}, expected=0).table_version == 1
    assert shelf.writes == 0
    assert held(lake) == [(DUAL, 1), (DUAL, 1)]


def test_a_variable_that_does_not_show_what_was_written_is_told(lake: Lake) -> None:
    shelf = Shelf()
    shelf.set_variable = lambda key, text: None  # type: ignore[method-assign]
    with pytest.raises(VariableShadowed, match=r"AIRFLOW_VAR_INSTAR_FLAGS__WEATHER__WATER"):
        change(lake, shelf, NAME, {"write_format": "dual"})
    assert held(lake) == [(Flags(), 0), (Flags(), 0)]


def test_of_two_that_write_one_version_at_once_the_catalog_takes_one_and_the_other_hears_of_it(lake: Lake) -> None:
    """Both read version 0 of the Variable before either wrote it: Airflow itself would let the later one win."""
    both_read = threading.Barrier(2)
    outcomes: list[object] = []

    def write(values: dict[str, str]) -> None:
        mine = Lake(lake.config)
        planned = plan_change(NAME, FlagTexts(), mine.table(NAME).state().timelines.values(), values)
        both_read.wait()
        try:
            outcomes.append(bring_in(mine, NAME, FlagTexts(table=planned.text)).flags)
        except VersionNotRaised as error:
            outcomes.append(error)

    changes = [{"write_format": "dual"}, {"write_format": "structured"}]
    threads = [threading.Thread(target=write, args=(values,)) for values in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [outcome for outcome in outcomes if isinstance(outcome, VersionNotRaised)]
    assert len(outcomes) == 2
    assert len(refused) in (1, 2)  # two where each was first in another timeline
    assert {version for _, version in held(lake)} == {1}


def test_a_contradiction_is_mended_by_naming_every_flag(lake: Lake) -> None:
    bring_in(lake, NAME, texts({"version": 7, "defaults": SHADOW.to_json()}))
    shelf = Shelf(instar_flags={"version": 1, "defaults": {}, "databases": {}})
    with pytest.raises(VariablesBehind):
        bring_in(lake, NAME, read_texts(shelf, NAME))
    change(lake, shelf, NAME, SHADOW.to_json())
    assert bring_in(lake, NAME, read_texts(shelf, NAME)).flags == SHADOW
    assert change(lake, shelf, NAME, {"pushdown": "on"}).flags.to_json()["pushdown"] == "on"
