"""The sample source."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa

from instar.plan.merge import newest_versions
from instar.sources.line_protocol import infer_schema, parse
from instar.sources.sample import sample_lines, sample_schema
from tests.sources.strategies import numbered

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = sample_schema(numbered())


def hour(number: int = 0, *, seed: int = 1, bad_lines: int = 0) -> bytes:
    start = START + timedelta(hours=number)
    return sample_lines(start, start + timedelta(hours=1), seed=seed, stations=8, step_seconds=30, bad_lines=bad_lines)


def test_the_same_seed_gives_the_same_lines_and_another_gives_others() -> None:
    assert hour() == hour()
    assert hour() != hour(seed=2)


def test_each_interval_has_readings_of_its_own() -> None:
    first, second = (parse(hour(number), SCHEMA).rows["surface_degrees"] for number in (0, 1))
    assert first != second


def test_every_good_line_fits_the_table_of_the_sample() -> None:
    parsed = parse(hour(), SCHEMA)
    assert parsed.rejects.num_rows == parsed.other == 0
    assert parsed.rows.num_rows == hour().count(b"\n")


def test_the_inferred_schema_is_the_declared_one() -> None:
    assert infer_schema(hour(), "weather", "h2o_temperature", numbered()) == SCHEMA


def test_lines_are_sorted_by_time_inside_the_interval() -> None:
    times = parse(hour(3), SCHEMA).rows["time"].cast(pa.int64()).to_pylist()
    assert times == sorted(times)
    assert times[0] == int((START + timedelta(hours=3)).timestamp()) * 10**9
    assert times[-1] < int((START + timedelta(hours=4)).timestamp()) * 10**9


def test_stations_have_one_key_per_step_and_some_are_corrected() -> None:
    rows = parse(hour(), SCHEMA).rows
    resolved = newest_versions(rows, SCHEMA)
    assert resolved.num_rows == 8 * 120
    assert rows.num_rows > resolved.num_rows
    assert resolved["readings"].null_count == 0


def test_some_fields_are_missing() -> None:
    resolved = newest_versions(parse(hour(), SCHEMA).rows, SCHEMA)
    assert 0 < resolved["bottom_degrees"].null_count < resolved.num_rows / 10
    assert 0 < resolved["note"].null_count < resolved.num_rows


def test_bad_lines_are_as_many_as_asked_and_leave_the_good_ones_alone() -> None:
    parsed = parse(hour(bad_lines=20), SCHEMA)
    assert parsed.rejects.num_rows == 20
    assert len(set(parsed.rejects["reason"].to_pylist())) == 9
    assert parsed.rows == parse(hour(), SCHEMA).rows
