"""A table as line protocol sees it."""

import pytest

from instar.model.schema import TableSchema
from instar.sources.line import Line, MalformedLine
from instar.sources.series import NotTimeSeries, SeriesTable
from tests.sources.strategies import numbered, table

TABLE = SeriesTable.of(table(raw="bytes", at="timestamp"))


def test_a_line_fits_as_a_row_of_its_tags_fields_and_time() -> None:
    line = Line("m", {"tag": "a"}, {"f": 1.5, "i": 2, "b": False, "s": "x"}, 9)
    assert TABLE.fit(line) == {"tag": "a", "f": 1.5, "i": 2, "b": False, "s": "x", "time": 9}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (Line("m", {"tag": "a"}, {"nope": 1.0}, 1), "The field 'nope' names no column of db.m."),
        (Line("m", {"tag": "a", "TAG": "b"}, {"f": 1.0}, 1), "The tag 'TAG' names no column of db.m."),
        (Line("m", {"tag": "a"}, {"f": 1}, 1), "The field 'f' is int64, its column float64."),
        (Line("m", {"tag": "a"}, {"i": 1.0}, 1), "The field 'i' is float64, its column int64."),
        (Line("m", {"tag": "a"}, {"i": True}, 1), "The field 'i' is bool, its column int64."),
        (Line("m", {"tag": "a"}, {"raw": "x"}, 1), "The field 'raw' is string, its column bytes."),
        (Line("m", {"tag": "a", "f": "1"}, {"i": 1}, 1), "The tag 'f' is string, its column float64."),
        (Line("m", {"tag": "a"}, {"time": 1}, 1), "The field 'time' has the name of the timestamp's column."),
        (Line("m", {}, {"f": 1.0}, 1), "The required column 'tag' has no value."),
    ],
)
def test_a_line_that_does_not_fit_the_table_says_where(line: Line, reason: str) -> None:
    with pytest.raises(MalformedLine) as refused:
        TABLE.fit(line)
    assert refused.value.fact == reason


@pytest.mark.parametrize("columns", [{"a": "string"}, {"time": "timestamp"}, {"Time": "timestamp_ns"}])
def test_a_table_without_nanosecond_time_is_refused(columns: dict[str, str]) -> None:
    with pytest.raises(NotTimeSeries, match="no column 'time' of type timestamp_ns"):
        SeriesTable.of(TableSchema.create("db.m", columns, ids=numbered()))
