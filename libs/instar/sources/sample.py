"""A sample source: water temperatures of stations along the coast, the same for the same seed."""

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from instar.clock import IdSource
from instar.model.schema import MergeMode, TableSchema
from instar.sources.line import FieldValue, Line, render_line

_NANOSECONDS = 1_000_000_000
SAMPLE_TABLE = "weather.h2o_temperature"
_MEASUREMENT = "h2o_temperature"
_PLACES = (
    ("santa_monica", "CA"),
    ("coyote_creek", "CA"),
    ("puget_sound", "WA"),
    ("cannon_beach", "OR"),
    ("kachemak_bay", "AK"),
    ("hilo_bay", "HI"),
)
_CORRECTED = 0.02
"""The share of readings that a later line corrects."""
_WITHOUT_BOTTOM = 0.03
_CALIBRATED = 0.95
_NOTED = 0.1
_NOTES = ("calm", "kelp, drifting", 'buoy "7" replaced')
_BAD_LINES = (
    b"h2o_temperature,location=santa_monica,state=CA surface_degrees=61.5",
    b"h2o_temperature,location=santa_monica,state=CA readings=12u %d",
    b"h2o_temperature,location=santa_monica,state=CA surface_degrees=NaN %d",
    b"h2o_temperature,location=santa_monica,state=CA surface_degrees=1.0,surface_degrees=2.0 %d",
    b"h2o_temperature,location=santa\\_monica,state=CA surface_degrees=61.5 %d",
    b'h2o_temperature,location=santa_monica,state=CA surface_degrees="warm" %d',
    b"h2o_temperature,location=santa_monica,state=CA salinity=3.1 %d",
    b"h2o_temperature,location=santa_monica,state=CA readings=9223372036854775808i %d",
    b"h2o_temperature,location=\xff,state=CA surface_degrees=61.5 %d",
)


def sample_schema(ids: IdSource) -> TableSchema:
    """Define the table of the sample, with an id drawn for each column."""
    return TableSchema.create(
        SAMPLE_TABLE,
        {
            "location": "string",
            "state": "string",
            "time": "timestamp_ns",
            "surface_degrees": "float64",
            "bottom_degrees": "float64",
            "readings": "int64",
            "calibrated": "bool",
            "note": "string",
        },
        ids=ids,
        key=("location", "state", "time"),
        merge_mode=MergeMode.UPSERT,
    )


def sample_lines(
    interval_start: datetime, interval_end: datetime, *, seed: int, stations: int, step_seconds: int, bad_lines: int = 0
) -> bytes:
    """Write line protocol for an interval, sorted by time: a line per station and step, and some corrections.

    A correction repeats the key of a line before it, with another surface temperature alone. Some lines lack a field.
    `bad_lines` malformed lines are spread among the good ones.
    """
    start, end = (int(moment.timestamp()) for moment in (interval_start, interval_end))
    random = np.random.default_rng([seed, start])
    lines = [
        render_line(reading).encode()
        for second in range(start, end, step_seconds)
        for station in range(stations)
        for reading in _readings(station, second, random)
    ]
    for number in range(bad_lines):
        place = (number + 1) * len(lines) // (bad_lines + 1)
        bad = _BAD_LINES[number % len(_BAD_LINES)]
        lines.insert(place, bad % (start * _NANOSECONDS) if b"%d" in bad else bad)
    return b"".join(line + b"\n" for line in lines)


def _readings(station: int, second: int, random: np.random.Generator) -> Iterator[Line]:
    """Yield the line of a station at a second, and the correction where there is one."""
    place, state = _PLACES[station % len(_PLACES)]
    tags = {"location": f"{place}_{station // len(_PLACES)}" if station >= len(_PLACES) else place, "state": state}
    surface = round(float(random.normal(60 - station % len(_PLACES), 4)), 2)
    fields: dict[str, FieldValue] = {"surface_degrees": surface}
    if random.random() >= _WITHOUT_BOTTOM:
        fields["bottom_degrees"] = round(surface - float(random.uniform(2, 15)), 2)
    fields["readings"] = int(random.integers(1, 60))
    fields["calibrated"] = bool(random.random() < _CALIBRATED)
    if random.random() < _NOTED:
        fields["note"] = _NOTES[int(random.integers(len(_NOTES)))]
    yield Line(_MEASUREMENT, tags, fields, second * _NANOSECONDS)
    if random.random() < _CORRECTED:
        yield Line(_MEASUREMENT, tags, {"surface_degrees": round(surface + 0.5, 2)}, second * _NANOSECONDS)
