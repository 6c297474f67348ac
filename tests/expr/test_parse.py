import pytest

from instar.errors import InstarError
from instar.expr.compare import TypeMismatch
from instar.expr.literals import BadLiteral
from instar.expr.nodes import And, ColumnRef, Compare, IsNull, Literal, Not, Op, Or, columns_of, conjuncts
from instar.expr.parse import FilterSyntax, UnsupportedFilter, parse_filter
from instar.model.schema import TableSchema, UnknownColumn
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP, TIMESTAMP_NS

_NAMES = {
    "flag": "bool",
    "n": "int64",
    "x": "float64",
    "state": "string",
    "blob": "bytes",
    "time": "timestamp",
    "at": "timestamp_ns",
    "Load": "int64",
}
_ids = iter(range(1, 100))
SCHEMA = TableSchema.create("weather.t", _NAMES, ids=lambda: next(_ids))
FLAG, N, X, STATE, BLOB, TIME, AT, LOAD = (ColumnRef(c.id, c.type) for c in SCHEMA.columns)
NEW_YEAR = 1_767_225_600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 1", Compare(Op.EQ, N, Literal(INT64, 1))),
        ("N != -1", Compare(Op.NE, N, Literal(INT64, -1))),
        ("1 < n", Compare(Op.GT, N, Literal(INT64, 1))),
        ("n >= x", Compare(Op.GE, N, X)),
        ("n = '7'", Compare(Op.EQ, N, Literal(INT64, 7))),
        ("n < 1.5", Compare(Op.LE, N, Literal(INT64, 1))),
        ("n <= -1.5", Compare(Op.LE, N, Literal(INT64, -2))),
        ("n > 2.0", Compare(Op.GT, N, Literal(INT64, 2))),
        ("x = 1", Compare(Op.EQ, X, Literal(FLOAT64, 1.0))),
        ("x = '1e3'", Compare(Op.EQ, X, Literal(FLOAT64, 1000.0))),
        ("x = -'Infinity'::float8", Compare(Op.EQ, X, Literal(FLOAT64, float("-inf")))),
        ("state = 'CA' -- comment", Compare(Op.EQ, STATE, Literal(STRING, "CA"))),
        (r"blob = '\x00fF'::bytea", Compare(Op.EQ, BLOB, Literal(BYTES, b"\x00\xff"))),
        (r"blob = '\x00ff'", Compare(Op.EQ, BLOB, Literal(BYTES, b"\x00\xff"))),
        ("blob = X'00ff'", Compare(Op.EQ, BLOB, Literal(BYTES, b"\x00\xff"))),
        ("time >= timestamp '2026-01-01'", Compare(Op.GE, TIME, Literal(TIMESTAMP, NEW_YEAR * 10**6))),
        ("time >= '2026-01-01T00:00:01'", Compare(Op.GE, TIME, Literal(TIMESTAMP, (NEW_YEAR + 1) * 10**6))),
        ("at > '2026-01-01 00:00:00.000000001'", Compare(Op.GT, AT, Literal(TIMESTAMP_NS, NEW_YEAR * 10**9 + 1))),
        ("load > 3", Compare(Op.GT, LOAD, Literal(INT64, 3))),
        ('"LOAD" > 3', Compare(Op.GT, LOAD, Literal(INT64, 3))),
        ("n = NULL", Compare(Op.EQ, N, Literal(INT64, None))),
        ("flag", FLAG),
        ("flag = 'yes'", Compare(Op.EQ, FLAG, Literal(BOOL, True))),
        ("TRUE", Literal(BOOL, True)),
        ("NULL", Literal(BOOL, None)),
        ("'f'", Literal(BOOL, False)),
        ("n IS NULL", IsNull(N)),
        ("n IS NOT NULL", Not(IsNull(N))),
        ("n NOTNULL", Not(IsNull(N))),
        ("NOT n IS NULL", Not(IsNull(N))),
        ("flag IS UNKNOWN", IsNull(FLAG)),
        ("flag IS TRUE", And((FLAG, Not(IsNull(FLAG))))),
        ("flag IS NOT FALSE", Not(And((Not(FLAG), Not(IsNull(FLAG)))))),
        ("n = 1 IS NULL", IsNull(Compare(Op.EQ, N, Literal(INT64, 1)))),
        ("5 IS NULL", Literal(BOOL, False)),
        ("NULL IS NULL", Literal(BOOL, True)),
        ("1.2 < 1.3", Literal(BOOL, True)),
        ("'NaN'::float8 > 1e308", Literal(BOOL, True)),
        ("'b' < 'a'", Literal(BOOL, False)),
        ("1 = NULL", Literal(BOOL, None)),
        (
            "NOT flag = TRUE AND n = 1",
            And((Not(Compare(Op.EQ, FLAG, Literal(BOOL, True))), Compare(Op.EQ, N, Literal(INT64, 1)))),
        ),
    ],
)
def test_text_becomes_the_tree_that_postgresql_would_mean(text: str, expected: object) -> None:
    assert parse_filter(text, SCHEMA) == expected


@pytest.mark.parametrize(
    ("text", "error", "place"),
    [
        ("n + 1 = 2", UnsupportedFilter, "line 1, column 1"),
        ("flag AND n IN (1, 2)", UnsupportedFilter, "line 1, column 10"),
        ("n BETWEEN 1 AND 2", UnsupportedFilter, "line 1, column 1"),
        ("flag\n  OR state LIKE 'a%'", UnsupportedFilter, "line 2, column 6"),
        ("lower(state) = 'a'", UnsupportedFilter, "line 1, column 1"),
        ("time > now()", UnsupportedFilter, "line 1, column 8"),
        ("n = (SELECT 1)", UnsupportedFilter, "line 1, column 13"),
        ("n = 1; DROP TABLE t", FilterSyntax, "line 1, column 8"),
        ("flag; flag", UnsupportedFilter, "line 1, column 1"),
        ("t.n = 1", UnsupportedFilter, "line 1, column 1"),
        ("n = $1", UnsupportedFilter, "line 1, column 6"),
        ("n = :p", UnsupportedFilter, "line 1, column 1"),
        ("n::text = '1'", UnsupportedFilter, "line 1, column 1"),
        ("time = timestamptz '2026-01-01'", UnsupportedFilter, "line 1, column 20"),
        ("time = timestamp(3) '2026-01-01'", UnsupportedFilter, "line 1, column"),
        ("n < 1 < 2", UnsupportedFilter, "line 1, column 1"),
        ("(n IS NULL) = flag", UnsupportedFilter, "line 1, column 2"),
        ("blob = 0x1F", UnsupportedFilter, "line 1, column 8"),
        ("n IS DISTINCT FROM 1", UnsupportedFilter, "line 1, column 1"),
        ("n = -state", UnsupportedFilter, "line 1, column 6"),
        ("n = state", TypeMismatch, "line 1, column 1"),
        ("flag OR state = 5", TypeMismatch, "line 1, column 9"),
        ("time = 5", TypeMismatch, "line 1, column 1"),
        ("n = TRUE", TypeMismatch, "line 1, column 1"),
        ("n", TypeMismatch, "line 1, column 1"),
        ("NOT 'a'::text", TypeMismatch, "line 1, column 5"),
        ("n = 'x'", BadLiteral, "line 1, column 5"),
        ("n = '1.5'", BadLiteral, "line 1, column 5"),
        ("n = '9223372036854775808'", BadLiteral, "line 1, column 5"),
        ("n = 1e999999999", BadLiteral, "line 1, column 5"),
        ("x = 1e400", BadLiteral, "line 1, column 5"),
        ("x = 1e-400", BadLiteral, "line 1, column 5"),
        ("x = 'one'", BadLiteral, "line 1, column 5"),
        ("flag = 'maybe'", BadLiteral, "line 1, column 8"),
        (r"blob = '\x0'", BadLiteral, "line 1, column 8"),
        ("blob = 'abc'", BadLiteral, "line 1, column 8"),
        ("time = '2026-02-30'", BadLiteral, "line 1, column 8"),
        ("time = '2026-01-01 00:00:00+02'", BadLiteral, "line 1, column 8"),
        ("time = '2026-01-01 24:00:00'", BadLiteral, "line 1, column 8"),
        ("time = '2026-01-01 00:00:00.1234567891'", BadLiteral, "line 1, column 8"),
        ("n = ", FilterSyntax, "line 1, column 3"),
        ("n = 1 flag", FilterSyntax, "line 1, column 7"),
        ("state = 'CA", FilterSyntax, "1:8"),
        ("state = '\udce9'", FilterSyntax, "line 1, column 10"),
    ],
)
def test_everything_else_is_refused_with_its_place(text: str, error: type[InstarError], place: str) -> None:
    with pytest.raises(error) as caught:
        parse_filter(text, SCHEMA)
    assert place in caught.value.fact
    assert type(caught.value) is error


def test_an_unknown_column_is_named_with_its_place_and_near_names() -> None:
    with pytest.raises(UnknownColumn, match=r"no column 'stat' \(at line 1, column 10\)\. Did you mean 'state'"):
        parse_filter("flag AND stat = 'CA'", SCHEMA)


def test_an_unknown_column_like_no_other_lists_them_all() -> None:
    with pytest.raises(UnknownColumn, match=r"It has: flag, n, x, state"):
        parse_filter("zzzzzz = 1", SCHEMA)


@pytest.mark.parametrize("text", ["", "  ", "-- nothing"])
def test_an_empty_filter_is_refused(text: str) -> None:
    with pytest.raises(FilterSyntax, match="empty"):
        parse_filter(text, SCHEMA)


@pytest.mark.parametrize("text", ["(" * 5000 + "flag" + ")" * 5000, "NOT " * 5000 + "flag"])
def test_deep_nesting_is_refused_and_does_not_crash(text: str) -> None:
    with pytest.raises(FilterSyntax, match="nested too deeply"):
        parse_filter(text, SCHEMA)


def test_long_chains_are_read_flat() -> None:
    expr = parse_filter(" OR ".join(f"n = {i}" for i in range(2000)), SCHEMA)
    assert isinstance(expr, Or)
    assert expr.operands == tuple(Compare(Op.EQ, N, Literal(INT64, i)) for i in range(2000))


def test_conjuncts_and_columns_are_found_through_parentheses() -> None:
    expr = parse_filter("(n = 1 AND (flag AND x < n)) AND (state = 'a' OR at IS NULL)", SCHEMA)
    assert [columns_of(part) for part in conjuncts(expr)] == [{N.id}, {FLAG.id}, {X.id, N.id}, {STATE.id, AT.id}]
