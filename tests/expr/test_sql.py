from hypothesis import given, settings

from instar.expr.nodes import And, Compare, Expr, IsNull, Literal, Not, Or
from instar.expr.parse import parse_filter
from instar.expr.sql import to_sql
from instar.model.types import TIMESTAMP
from tests.expr.strategies import INT64_MIN, SCHEMA, expressions


def _flat(expr: Expr) -> Expr:
    """Merge AND into AND and OR into OR, as the parser does, and fold what it folds."""
    match expr:
        case And() | Or():
            kind = type(expr)
            operands = [_flat(operand) for operand in expr.operands]
            return kind(
                tuple(
                    o for x in operands for o in (x.operands if isinstance(x, And | Or) and type(x) is kind else (x,))
                )
            )
        case Not():
            return Not(_flat(expr.operand))
        case IsNull(Literal() as literal):
            return Literal(literal.type, literal.value is None)
        case IsNull():
            return IsNull(_flat(expr.operand))
        case _:
            return expr


@settings(max_examples=300, deadline=None)
@given(expressions())
def test_printed_filters_read_back_as_themselves(expr: Expr) -> None:
    assert parse_filter(to_sql(expr, SCHEMA), SCHEMA) == _flat(expr)


def test_a_filter_prints_as_sql() -> None:
    text = "a_string = 'it''s' and not (a_int64 < 1.5 or 3 >= b_int64) and a_timestamp is not null"
    assert to_sql(parse_filter(text, SCHEMA), SCHEMA) == (
        """"a_string" = 'it''s' AND NOT ("a_int64" <= 1 OR "b_int64" <= 3) AND "a_timestamp" IS NOT NULL"""
    )


def test_the_ends_of_the_microsecond_range_print_as_infinities() -> None:
    expr = parse_filter("a_timestamp > '-infinity'", SCHEMA)
    assert isinstance(expr, Compare)
    assert expr.other == Literal(TIMESTAMP, INT64_MIN)
    assert to_sql(expr, SCHEMA) == """"a_timestamp" > timestamp '-infinity'"""
