"""Lines of line protocol, and tables that hold them."""

from itertools import count

from hypothesis import strategies as st

from instar.clock import IdSource
from instar.model.schema import TableSchema
from instar.sources.line import INT64_BOUNDS, TIME_BOUNDS, FieldValue, Line

NAMES = ("plain", "with space", "with,comma", "with=equals", 'with"quote', "naïve", "a.b*c(", "tab\tbed")
FIELD_TYPES = {"f": "float64", "i": "int64", "b": "bool", "s": "string", "odd, name=x": "float64", 'q"': "string"}

name_text = st.one_of(
    st.sampled_from(NAMES),
    st.text(st.characters(exclude_characters="\\\n\r", exclude_categories=["Cs"]), min_size=1, max_size=6),
)
string_text = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=8)
finite_floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(-999, 999).map(lambda cents: cents / 100)
)
values_of: dict[str, st.SearchStrategy[FieldValue]] = {
    "float64": finite_floats,
    "int64": st.integers(*INT64_BOUNDS),
    "bool": st.booleans(),
    "string": string_text,
}
times = st.one_of(st.integers(*TIME_BOUNDS), st.integers(1_600_000_000, 1_600_000_100).map(lambda s: s * 10**9))


def numbered(first: int = 1) -> IdSource:
    """Return an id source that counts."""
    return count(first).__next__


def table(measurement: str = "m", **extra: str) -> TableSchema:
    """Return a table with two tags, a field of each type and some of awkward names."""
    columns = {"tag": "string", "t g": "string", "time": "timestamp_ns", **FIELD_TYPES, **extra}
    return TableSchema.create(f"db.{measurement}", columns, ids=numbered(), key=("tag", "time"), merge_mode="upsert")


@st.composite
def lines(draw: st.DrawFn, measurement: str = "m") -> Line:
    """Draw a line that fits `table`."""
    tags = {"tag": draw(name_text)}
    if draw(st.booleans()):
        tags["t g"] = draw(name_text)
    names = draw(st.lists(st.sampled_from(sorted(FIELD_TYPES)), min_size=1, unique=True))
    fields: dict[str, FieldValue] = {name: draw(values_of[FIELD_TYPES[name]]) for name in names}
    return Line(measurement, tags, fields, draw(times))
