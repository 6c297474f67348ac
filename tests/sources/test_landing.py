"""The landing folder."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from instar.sources.landing import AmbiguousInterval, landing_files, landing_prefix
from instar.storage.local import LocalStore

START = datetime(2026, 1, 31, 23, 0, tzinfo=UTC)


def test_the_prefix_is_the_start_of_the_interval_in_utc() -> None:
    assert landing_prefix(START) == "20260131T230000Z/"
    assert landing_prefix(START.astimezone(timezone(timedelta(hours=5)))) == "20260131T230000Z/"


@pytest.mark.parametrize("start", [START.replace(tzinfo=None), START.replace(microsecond=1)])
def test_a_start_that_names_no_single_folder_is_refused(start: datetime) -> None:
    with pytest.raises(AmbiguousInterval, match="not a whole second in a time zone"):
        landing_prefix(start)


def test_the_files_of_an_interval_are_its_finished_line_protocol_in_order() -> None:
    keys = [
        "20260131T230000Z/b.lp",
        "20260131T230000Z/a.lp",
        "20260131T230000Z/a.csv",
        "20260131T230000Z/.c.lp",
        "20260131T230000Z/deep/d.lp",
        "20260201T000000Z/e.lp",
        "f.lp",
    ]
    assert landing_files(keys, START) == ("20260131T230000Z/a.lp", "20260131T230000Z/b.lp")


def test_the_listing_of_a_store_gives_the_files_of_an_interval(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for name in ("late.lp", "early.lp"):
        store.put(landing_prefix(START) + name, b"m f=1 1")
    store.put(landing_prefix(START + timedelta(hours=1)) + "next.lp", b"m f=1 1")
    listed = (found.key for found in store.list(landing_prefix(START)))
    assert landing_files(listed, START) == ("20260131T230000Z/early.lp", "20260131T230000Z/late.lp")
