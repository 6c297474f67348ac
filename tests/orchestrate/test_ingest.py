from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from instar.orchestrate.ingest import InvalidInterval, NoInterval, NotStarted, generation, interval_start

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
