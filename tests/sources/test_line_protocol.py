"""Line protocol into rows of a table."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.model.schema import InvalidSchema, MergeMode, TableSchema
from instar.sources import line_protocol
from instar.sources.line import Line, parse_line, render_line
from instar.sources.line_protocol import Parsed, SchemaConflict, infer_schema, parse
from instar.sources.series import NotTimeSeries, SeriesTable
from tests.sources.strategies import lines, numbered, table

SCHEMA = table()
GOOD = 'm,tag=a f=1.5,i=5i,b=true,s="x" {}'
BAD_LINES = [
    (b"m,tag=a f=1", "There is no timestamp."),
    (b"m,tag=a f=1u 1", "The unsigned integer 1u is not supported."),
    (b"m,tag=a f=nan 1", "'nan' is not a value."),
    (b"m,tag=a f=1,f=1 1", "The name 'f' occurs twice."),
    (b"m,tag=\\a f=1 1", "The escape '\\\\a' at character 7 is not supported."),
    (b"m,tag=a i=1 1", "The field 'i' is float64, its column int64."),
    (b"m,tag=a z=1 1", "The field 'z' names no column of db.m."),
    (b"m f=1 1", "The required column 'tag' has no value."),
    (b"m,tag=\xff f=1 1", "The line is not UTF-8."),
    (b" m,tag=a f=1 1", "Character 1 is ' ' where a measurement should be."),
]


def contents(rows: pa.Table) -> list[dict[str, object]]:
    """Return rows with times as numbers and without what is null."""
    place = rows.schema.get_field_index("time")
    shown = rows.set_column(place, "time", rows["time"].cast(pa.int64()))
    return [{name: value for name, value in row.items() if value is not None} for row in shown.to_pylist()]


def one_by_one(data: bytes) -> Parsed:
    """Parse each line alone: too few lines for a shape, so all of them are read with care."""
    parsed = [parse(line, SCHEMA) for line in data.split(b"\n")]
    return Parsed(
        pa.concat_tables([p.rows for p in parsed]),
        pa.concat_tables([p.rejects for p in parsed]),
        sum(p.other for p in parsed),
    )


def assert_agrees_with_care(data: bytes) -> None:
    fast, careful = parse(data, SCHEMA), one_by_one(data)
    assert contents(fast.rows) == contents(careful.rows)
    assert fast.rejects.select(["line", "reason"]) == careful.rejects.select(["line", "reason"])
    assert fast.other == careful.other


@settings(deadline=None)
@given(st.lists(lines(), max_size=20))
def test_rows_written_as_lines_read_back_as_the_same_rows(drawn: list[Line]) -> None:
    parsed = parse("\n".join(map(render_line, drawn)).encode(), SCHEMA)
    assert contents(parsed.rows) == [SeriesTable.of(SCHEMA).fit(line) for line in drawn]
    assert parsed.rows.schema.equals(SCHEMA.arrow_schema(), check_metadata=True)
    assert parsed.rejects.num_rows == parsed.other == 0


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.integers(0, 10**18).map(lambda n: GOOD.format(n).encode()),
            lines().map(lambda line: render_line(line).encode()),
            st.sampled_from([bad for bad, _ in BAD_LINES] + [b"", b"# m", b"other f=1 1", b"m,tag=a f=2 3\r"]),
            st.binary(max_size=12).map(lambda noise: noise.replace(b"\n", b"")),
        ),
        max_size=12,
    ),
    st.permutations(range(6)),
)
def test_uniform_lines_among_any_others_are_read_as_with_care(some: list[bytes], order: list[int]) -> None:
    many = [GOOD.format(n).encode() for n in range(40)]
    blocks = [many, some, [b"m,tag=b f=1 %d" % n for n in range(40)], some[:3], [b"other f=1 1"], []]
    assert_agrees_with_care(b"\n".join(line for number in order for line in blocks[number]))


def test_uniform_lines_take_the_path_of_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    care: list[str] = []

    def read_with_care(text: str) -> Line:
        care.append(text)
        return parse_line(text)

    monkeypatch.setattr(line_protocol, "parse_line", read_with_care)
    data = "\n".join(GOOD.format(n) for n in range(1000)).encode()
    assert parse(data, SCHEMA).rows.num_rows == 1000
    assert care == [GOOD.format(0)]


def test_rows_keep_the_order_of_their_lines_across_shapes_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_protocol, "_BATCH_LINES", 100)
    shapes = ["m,tag=a f=1 {}", "m,tag=a i=1i {}", 'm,tag=a s="\\"" {}', "bad {}"]
    data = "\n".join(shapes[n % 4].format(n) for n in range(1001)).encode()
    parsed = parse(data, SCHEMA)
    assert [row["time"] for row in contents(parsed.rows)] == [n for n in range(1001) if n % 4 != 3]
    assert parsed.other == 250


def test_more_shapes_than_are_remembered_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_protocol, "_MOST_SHAPES", 1)
    assert_agrees_with_care(b"\n".join(b"m,tag=a %s 1" % f for f in [b"f=1", b"i=1i", b"b=t"] * 40))


def test_each_odd_line_is_quarantined_with_its_place_and_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_protocol, "_BATCH_LINES", 7)
    good = [GOOD.format(n).encode() for n in range(50)]
    data = b"\n".join([*good, *(line for line, _ in BAD_LINES), *good]) + b"\n"
    parsed = parse(data, SCHEMA, file="a.lp")
    assert parsed.rows.num_rows == 100
    assert parsed.rejects.schema == line_protocol.REJECT_FIELDS
    assert [(r["line"], r["reason"]) for r in parsed.rejects.to_pylist()] == BAD_LINES
    for reject in parsed.rejects.to_pylist():
        assert reject["file"] == "a.lp"
        assert data.split(b"\n")[reject["line_number"] - 1] == reject["line"]
        assert data[reject["offset"] :].startswith(reject["line"] + b"\n")


def test_comments_and_blank_lines_are_skipped_and_other_measurements_counted() -> None:
    parsed = parse(b"# m,tag=a f=1 1\n\n  \nother f=1 1\nm2,tag=a f=nonsense\nm,tag=a f=1 1\r\n", SCHEMA)
    assert (parsed.rows.num_rows, parsed.rejects.num_rows, parsed.other) == (1, 0, 2)


def test_a_line_of_another_table_is_not_quarantined_for_bytes_that_are_not_utf8() -> None:
    parsed = parse(b"other,tag=\xff f=1 1", SCHEMA)
    assert (parsed.rejects.num_rows, parsed.other) == (0, 1)


def test_no_lines_are_no_rows_of_the_schema() -> None:
    parsed = parse(b"", SCHEMA)
    assert parsed.rows == SCHEMA.arrow_schema().empty_table()
    assert parsed.rejects == line_protocol.REJECT_FIELDS.empty_table()


def test_a_table_without_time_is_refused_before_any_line() -> None:
    schema = TableSchema.create("db.m", {"f": "float64"}, ids=numbered())
    with pytest.raises(NotTimeSeries):
        parse(b"", schema)


def test_a_schema_is_inferred_from_tags_and_fields() -> None:
    data = b'm,a=1,b=2 f=1,i=1i 1\n# m,z=1 f=1 1\nother x=1 1\nm,a=1 s="x",b2=t 2\nm,a=1 f=u 3\n'
    schema = infer_schema(data, "db", "m", numbered())
    assert [(c.name, str(c.type), c.nullable) for c in schema.columns] == [
        ("a", "string", False),
        ("b", "string", True),
        ("time", "timestamp_ns", False),
        ("f", "float64", True),
        ("i", "int64", True),
        ("s", "string", True),
        ("b2", "bool", True),
    ]
    assert (str(schema.name), schema.merge_mode) == ("db.m", MergeMode.UPSERT)
    assert [c.name for c in schema.key_columns] == ["a", "b", "time"]
    assert parse(data, schema).rows.num_rows == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"m f=1 1\nm f=1i 2", "The field 'f' is float64 in one line and int64 in another."),
        (b"m,a=1 f=1 1\nm a=1 2", "'a' is both a tag and a field of 'm'."),
        (b"m,time=1 f=1 1", "'m' has a tag or field 'time'."),
        (b"x f=1 1\nm f=1", "No line tells the columns of 'm'."),
    ],
)
def test_lines_that_no_table_can_hold_are_a_conflict(data: bytes, reason: str) -> None:
    with pytest.raises(SchemaConflict) as refused:
        infer_schema(data, "db", "m", numbered())
    assert refused.value.fact == reason


def test_names_that_differ_by_case_alone_are_refused() -> None:
    with pytest.raises(InvalidSchema, match="Two columns are called"):
        infer_schema(b"m,A=1 a=1 1", "db", "m", numbered())
