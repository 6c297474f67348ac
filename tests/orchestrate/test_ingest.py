import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from instar.orchestrate.ingest import (
    AmbiguousSources,
    InvalidInterval,
    InvalidSource,
    NoInterval,
    NotStarted,
    Source,
    generation,
    interval_start,
    run_sources,
)

NO_PARAMS = {"table": "", "source": "", "landing": "", "writer": "", "interval_start": None, "most_rejects": 0.05}
BUOYS = {"table": "weather.temperature", "source": "buoys"}
HOUR = datetime(2026, 1, 1, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Run:
    data_interval_start: datetime | None = HOUR
    start_date: datetime | None = datetime(2026, 1, 1, 6, 0, 1, tzinfo=UTC)
    clear_number: int | None = 0


def test_a_scheduled_run_takes_its_data_interval() -> None:
    assert interval_start(None, Run()) == HOUR
    assert interval_start("", Run()) == HOUR


def test_a_start_that_was_given_wins_and_is_told_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    found = interval_start(datetime(2025, 6, 1, 2, tzinfo=east).isoformat(), Run())
    assert found.isoformat() == "2025-06-01T00:00:00+00:00"
    assert interval_start("2025-06-01T00:00:00Z", Run(data_interval_start=None)) == found


def test_a_run_started_by_hand_must_be_told_its_interval() -> None:
    with pytest.raises(NoInterval, match="Give interval_start"):
        interval_start(None, Run(data_interval_start=None))


@pytest.mark.parametrize("given", ["2026-01-01T00:00:00", "yesterday", "2026-13-01T00:00:00Z"])
def test_a_start_without_a_zone_or_a_meaning_is_refused(given: str) -> None:
    with pytest.raises(InvalidInterval, match="no time in a zone"):
        interval_start(given, Run())


def test_a_generation_grows_with_a_later_start_and_with_a_clearing_in_between() -> None:
    first = Run()
    cleared = replace(first, clear_number=1)
    again = replace(first, start_date=HOUR + timedelta(hours=2), clear_number=1)
    another = Run(start_date=HOUR + timedelta(hours=3), clear_number=None)
    assert generation(first) < generation(cleared) < generation(again) < generation(another)
    assert generation(first) == generation(Run())


def test_generations_are_exact_to_the_microsecond() -> None:
    start = datetime(2026, 1, 1, 6, 0, 1, 123457, tzinfo=UTC)
    assert generation(Run(start_date=start)) == 1767247201123457


def test_a_run_that_has_not_started_has_no_generation() -> None:
    with pytest.raises(NotStarted):
        generation(Run(start_date=None))


def test_a_run_ingests_the_sources_of_the_variable_in_their_order() -> None:
    ships = {"table": "weather.wind", "source": "ships", "landing": "s3://bucket/ships", "writer": "fleet"}
    assert run_sources(NO_PARAMS, json.dumps([ships, BUOYS])) == [
        Source("weather.wind", "ships", "s3://bucket/ships", "fleet"),
        Source("weather.temperature", "buoys"),
    ]


@pytest.mark.parametrize("text", [None, "[]"])
def test_a_run_without_sources_has_nothing_to_ingest(text: str | None) -> None:
    assert list(run_sources(NO_PARAMS, text)) == []


def test_a_run_that_was_started_with_a_table_ingests_that_one_whatever_the_variable_says() -> None:
    params = {**NO_PARAMS, "table": "a.b", "source": "hand", "landing": "file:///in"}
    assert run_sources(params, json.dumps([BUOYS])) == [Source("a.b", "hand", "file:///in")]
    assert run_sources(params, "not JSON") == [Source("a.b", "hand", "file:///in")]


@pytest.mark.parametrize("given", [{"source": "hand"}, {"table": "a.b"}, {"landing": "file:///in"}])
def test_a_run_that_was_started_with_half_a_source_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidSource, match=r"The parameters of the run: there is no (table|source)"):
        run_sources({**NO_PARAMS, **given}, json.dumps([BUOYS]))


@pytest.mark.parametrize("text", ["", "buoys", '{"table": "a.b", "source": "c"}', "null", "3"])
def test_a_variable_that_is_no_list_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidSource, match=r'instar_sources is not a JSON list.*\[{"table": '):
        run_sources(NO_PARAMS, text)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("buoys", "source 2: 'buoys' is not a JSON object"),
        ({**BUOYS, "folder": "x"}, "source 2 has an entry 'folder'. Use table, source, landing, writer"),
        ({**BUOYS, "writer": 7}, "source 2: writer is 7, which is not text"),
        ({**BUOYS, "landing": None}, "source 2: landing is None, which is not text"),
        ({"table": "a.b"}, "source 2: there is no source"),
        ({"source": "c", "table": ""}, "source 2: there is no table"),
        ({**BUOYS, "table": "temperature"}, "source 2: 'temperature.' is not the name of a table"),
        ({**BUOYS, "landing": "/data/in"}, "source 2: the landing '/data/in' is not the URI of a folder"),
    ],
)
def test_an_entry_that_is_no_source_is_refused_by_its_number(entry: Any, message: str) -> None:
    with pytest.raises(InvalidSource) as caught:
        run_sources(NO_PARAMS, json.dumps([{"table": "a.b", "source": "c"}, entry]))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("source", "buoys"), ("landing", ""), ("landing", "file:///in"), ("landing", "file:///in/")]
)
def test_two_sources_of_a_table_share_neither_name_nor_landing(name: str, value: str) -> None:
    first = {**BUOYS, "landing": "file:///in"} if value else BUOYS
    second = {**BUOYS, "source": "ships", "landing": "file:///other", name: value}
    with pytest.raises(AmbiguousSources, match=f"two sources of weather.temperature with the {name}"):
        run_sources(NO_PARAMS, json.dumps([first, second]))
    assert len(run_sources(NO_PARAMS, json.dumps([first, {**second, "table": "weather.wind"}]))) == 2
