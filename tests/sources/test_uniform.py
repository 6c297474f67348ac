"""Lines of one shape, read all at once."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.sources.line import Line, MalformedLine, parse_line, render_line
from instar.sources.series import SeriesTable
from instar.sources.uniform import as_text, read_shape, shape_of
from tests.sources.strategies import lines, table

TABLE = SeriesTable.of(table())
COMMON = Line("m", {"tag": "a"}, {"f": 1.5, "i": 5, "b": True, "s": "x, y=z"}, 1_600_000_000_000_000_000)

fragments = st.sampled_from([" ", ",", "=", '"', "\\", "i", "t", "1", ".", "e", "-", "9" * 19, "é", "\r", "tag", "f"])
edits = st.tuples(st.integers(0, 99), fragments)
"""Small edits of good lines find the borders of the grammar."""


def read(line: Line, text: str) -> list[dict[str, object]]:
    shape = shape_of(line, TABLE)
    assert shape is not None
    _, rows = read_shape(shape, pa.array([text]), TABLE)
    return [{name: value for name, value in row.items() if value is not None} for row in in_numbers(rows).to_pylist()]


def in_numbers(rows: pa.Table) -> pa.Table:
    """Show times as numbers: datetime has no nanoseconds."""
    place = rows.schema.get_field_index("time")
    return rows.set_column(place, "time", rows["time"].cast(pa.int64()))


def test_the_common_line_is_read_by_its_shape() -> None:
    assert read(COMMON, render_line(COMMON)) == [TABLE.fit(COMMON)]


def test_a_line_with_a_carriage_return_has_the_shape_too() -> None:
    assert read(COMMON, render_line(COMMON) + "\r") == [TABLE.fit(COMMON)]


@pytest.mark.parametrize("word", ["t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"])
def test_booleans_of_all_spellings_have_the_shape(word: str) -> None:
    line = Line("m", {"tag": "a"}, {"b": True}, 1)
    assert read(line, f"m,tag=a b={word} 1") == [{"tag": "a", "b": word[0] in "tT", "time": 1}]


@pytest.mark.parametrize(
    "text",
    [
        'm,tag=a f=1.5,i=5i,b=true,s="x" 9223372036854775807',
        'm,tag=a f=1e400,i=5i,b=true,s="x" 1',
        'm,tag=a f=1.5,i=5,b=true,s="x" 1',
        'm,tag=a f=1.5,i=9223372036854775808i,b=true,s="x" 1',
        'm,tag=a f=1.5,i=5i,b=true,s="x\\"" 1',
        'm,tag=a f=1.5,i=5i,b=true,s="x\\q" 1',
        'm,tag=a=b f=1.5,i=5i,b=true,s="x" 1',
        'm,tag=a\\q f=1.5,i=5i,b=true,s="x" 1',
        'm,tag=a,tag=b f=1.5,i=5i,b=true,s="x" 1',
        'm,tag=a i=5i,f=1.5,b=true,s="x" 1',
        'x\nm,tag=a f=1.5,i=5i,b=true,s="x" 1',
    ],
)
def test_a_line_that_is_not_surely_of_the_shape_is_left_to_care(text: str) -> None:
    assert read(COMMON, text) == []


def test_names_that_need_escapes_have_no_shape() -> None:
    assert shape_of(Line("m", {"tag": "a"}, {"odd, name=x": 1.0}, 1), TABLE) is None


def test_lines_that_are_not_utf8_are_null_and_the_others_text() -> None:
    assert as_text([b"a", b"\xff", "é".encode()]).to_pylist() == ["a", None, "é"]


@settings(deadline=None)
@given(lines().filter(lambda line: shape_of(line, TABLE) is not None), st.lists(edits, max_size=2))
def test_what_a_shape_reads_is_what_care_reads(line: Line, drawn: list[tuple[int, str]]) -> None:
    text = render_line(line)
    for place, fragment in drawn:
        text = text[: place % len(text)] + fragment + text[place % len(text) + 1 :]
    for row in read(line, text):
        try:
            careful = TABLE.fit(parse_line(text.removesuffix("\r")))
        except MalformedLine as malformed:
            pytest.fail(f"{text!r} was read, though: {malformed}")
        assert row == careful
