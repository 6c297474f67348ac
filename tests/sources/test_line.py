"""One line of line protocol."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.sources.line import FieldValue, Line, MalformedLine, parse_line, parse_measurement, render_line
from tests.sources.strategies import lines, name_text, string_text, times, values_of

fields = st.dictionaries(name_text, st.one_of(*values_of.values()), min_size=1, max_size=4)


@settings(deadline=None)
@given(lines())
def test_a_line_that_was_written_reads_back_as_it_was(line: Line) -> None:
    assert parse_line(render_line(line)) == line


@settings(deadline=None)
@given(name_text, name_text, fields, times)
def test_any_names_read_back(measurement: str, tag: str, drawn: dict[str, FieldValue], time: int) -> None:
    line = Line(measurement, {tag: "v"} if tag not in drawn else {}, drawn, time)
    assert parse_line(render_line(line)) == line
    assert parse_measurement(render_line(line)) == measurement


@settings(deadline=None)
@given(st.one_of(st.text(max_size=30), st.text('m,a=1 "\\i.', max_size=12).map("m f={} 1".format)))
def test_any_text_is_refused_or_read_as_what_can_be_written(text: str) -> None:
    with contextlib.suppress(MalformedLine):
        assert parse_line(render_line(parse_line(text))) == parse_line(text)


@settings(deadline=None)
@given(string_text)
def test_a_string_field_keeps_every_character(text: str) -> None:
    assert parse_line(render_line(Line("m", {}, {"s": text}, 0))).fields == {"s": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1", 1.0),
        ("-.5", -0.5),
        ("2.", 2.0),
        ("5i", 5),
        ("-5i", -5),
        ("9223372036854775807i", 2**63 - 1),
        ("-9223372036854775808i", -(2**63)),
        ("000000000000000000000000000007i", 7),
        *[(word, True) for word in ("t", "T", "true", "True", "TRUE")],
        *[(word, False) for word in ("f", "F", "false", "False", "FALSE")],
        ('""', ""),
        ('"a b,c=d"', "a b,c=d"),
        (r'"say \"hi\" \\ bye"', r'say "hi" \ bye'),
    ],
)
def test_each_spelling_of_a_field_has_its_type(text: str, value: FieldValue) -> None:
    found = parse_line(f"m f={text} 1").fields["f"]
    assert found == value
    assert type(found) is type(value)


def test_simple_escapes_stand_for_their_characters_in_names_and_tags() -> None:
    line = parse_line(r"my\ m\,x,t\=1=a\ b\,c\=d f\ 1=1 7")
    assert line == Line("my m,x", {"t=1": "a b,c=d"}, {"f 1": 1.0}, 7)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The line ends where a measurement should be."),
        (",a=b f=1 1", "Character 1 is ',' where a measurement should be."),
        ("m", "The line ends where ' ' should be."),
        ("m 1", "The line ends where '=' should be."),
        ("m,a f=1 1", "Character 4 is ' ' where '=' should be."),
        ("m,a= f=1 1", "Character 5 is ' ' where the value of a tag should be."),
        ("m,a=b=c f=1 1", "Character 6 is '=' where ' ' should be."),
        ("m,a=1,a=2 f=1 1", "The name 'a' occurs twice."),
        ("m f=1,f=2 1", "The name 'f' occurs twice."),
        ("m,a=1 a=2 1", "The name 'a' occurs twice."),
        ("m  f=1 1", "Character 3 is ' ' where the name of a field should be."),
        ("m f=1", "There is no timestamp."),
        ("m f=1 ", "'' is not a timestamp."),
        ("m f=1 12s", "'12s' is not a timestamp."),
        ("m f=1 1.5", "'1.5' is not a timestamp."),
        ("m f=1 \u0661", "'\u0661' is not a timestamp."),
        ("m f=1 1 ", "'1 ' is not a timestamp."),
        ("m f=1 9223372036854775807", "The number 9223372036854775807 is too large for a timestamp in nanoseconds."),
        ("m f=5u 1", "The unsigned integer 5u is not supported."),
        ("m f=nan 1", "'nan' is not a value."),
        ("m f=NaN 1", "'NaN' is not a value."),
        ("m f=inf 1", "'inf' is not a value."),
        ("m f=1_0 1", "'1_0' is not a value."),
        ("m f=0x1F 1", "'0x1F' is not a value."),
        ("m f= 1", "'' is not a value."),
        ("m f=1e400 1", "The number 1e400 is too large for a float."),
        ("m f=9223372036854775808i 1", "The number 9223372036854775808 is too large for a 64-bit integer."),
        ('m f="open 1', "The line ends where '\"' should be."),
        ('m f="a"b 1', "Character 8 is 'b' where ' ' should be."),
        (r"m\x f=1 1", r"The escape '\\x' at character 2 is not supported."),
        (r"m,a=b\n f=1 1", r"The escape '\\n' at character 6 is not supported."),
        (r'm f="a\n" 1', r"The escape '\\n' at character 7 is not supported."),
        ("m f=1\\", "'1\\\\' is not a value."),
    ],
)
def test_whatever_is_outside_the_common_shape_is_refused_saying_why(text: str, reason: str) -> None:
    with pytest.raises(MalformedLine) as refused:
        parse_line(text)
    assert refused.value.fact == reason


def test_thousands_of_digits_are_too_large_rather_than_a_crash() -> None:
    for text in (f"m f={'9' * 5000}i 1", f"m f=1 {'9' * 5000}"):
        with pytest.raises(MalformedLine, match="too large"):
            parse_line(text)
