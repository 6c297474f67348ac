"""Filters from SQL text, in PostgreSQL's dialect."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import expressions as sql
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from instar.errors import InstarError
from instar.expr.compare import TypeMismatch, compare
from instar.expr.literals import Written, number, typed
from instar.expr.nodes import And, ColumnRef, Expr, IsNull, Literal, Not, Op, Or
from instar.model.schema import TableSchema, UnknownColumn
from instar.model.types import BOOL, BYTES, FLOAT64, INT64, STRING, TIMESTAMP_NS, DataType

_OPS: dict[type[sql.Expr], Op] = {
    sql.EQ: Op.EQ,
    sql.NEQ: Op.NE,
    sql.LT: Op.LT,
    sql.LTE: Op.LE,
    sql.GT: Op.GT,
    sql.GTE: Op.GE,
}
_CASTS: dict[sql.DType, DataType] = {
    sql.DType.BOOLEAN: BOOL,
    sql.DType.BIGINT: INT64,
    sql.DType.DOUBLE: FLOAT64,
    sql.DType.TEXT: STRING,
    sql.DType.VARCHAR: STRING,
    sql.DType.VARBINARY: BYTES,
    sql.DType.TIMESTAMP: TIMESTAMP_NS,
}
_LANGUAGE = "A filter holds columns, literals, = <> < <= > >=, AND, OR, NOT and IS [NOT] NULL, TRUE or FALSE."
_SNIPPET = 60


class FilterSyntax(InstarError):
    """Filter text that is not SQL."""


class UnsupportedFilter(InstarError):
    """SQL that a filter can't hold."""


def parse_filter(text: str, schema: TableSchema) -> Expr:
    """Return the condition that `text` states about rows of `schema`.

    The result reads columns of the schema and nothing else; whatever the nodes can't say is refused, with its place.
    """
    try:
        text.encode()
        return _Reader(text, schema).condition(sqlglot.parse_one(text, into=sql.Condition, dialect="postgres"))
    except UnicodeEncodeError as error:
        raise FilterSyntax(f"The filter holds no valid character {_place(text, error.start)}.") from None
    except ParseError as error:
        raise _syntax_error(text, error) from None
    except TokenError as error:
        raise FilterSyntax(f"The filter does not parse: {error.__cause__ or error}.", help=_LANGUAGE) from None
    except RecursionError:
        raise FilterSyntax("The filter is nested too deeply.", help="Use fewer parentheses.") from None


def _syntax_error(text: str, error: ParseError) -> FilterSyntax:
    if not text.strip() or not error.errors:
        return FilterSyntax("The filter is empty.", help=_LANGUAGE)
    first = error.errors[0]
    token = first.get("highlight") or ""
    # The column that sqlglot reports is where the token ends.
    place = f"at line {first.get('line')}, column {(first.get('col') or 1) - max(len(token) - 1, 0)}"
    return FilterSyntax(f"The filter does not parse {place}, near {token!r}.", help=_LANGUAGE)


def _place(text: str, offset: int) -> str:
    before = text[:offset]
    return f"at line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))}"


@dataclass(frozen=True)
class _Reader:
    text: str
    schema: TableSchema

    def condition(self, node: sql.Expr) -> Expr:  # noqa: PLR0911  # one per node
        node = node.unnest()
        match node:
            case sql.And():
                return And(tuple(self.condition(operand) for operand in _flatten(node, sql.And)))
            case sql.Or():
                return Or(tuple(self.condition(operand) for operand in _flatten(node, sql.Or)))
            case sql.Not():
                return Not(self.condition(node.this))
            case sql.Is():
                return self.test(node)
            case _ if type(node) in _OPS:
                return self.comparison(node)
        value = self.value(node)
        if isinstance(value, Written):
            value = typed(value, BOOL)
            if value.type == BOOL:
                return Literal(BOOL, None if value.value is None else bool(value.value))
        elif value.type == BOOL:
            return value
        raise TypeMismatch(f"A condition is expected {self.where(node)}, not a {value.type}.", help=_LANGUAGE)

    def comparison(self, node: sql.Expr) -> Expr:
        self.require_only(node, "this", "expression")
        return compare(_OPS[type(node)], self.value(node.this), self.value(node.expression), self.where(node))

    def test(self, node: sql.Is) -> Expr:
        """Read IS [NOT] NULL, TRUE or FALSE; the last two are never NULL."""
        self.require_only(node, "this", "expression", "negate")
        match node.expression:
            case sql.Null():
                tested = self.null_test(node.this.unnest())
            case sql.Boolean(this=truth):
                operand = self.condition(node.this)
                tested = And((operand if truth else Not(operand), Not(IsNull(operand))))
            case _:
                raise self.refusal(node)
        return Not(tested) if node.args.get("negate") else tested

    def null_test(self, node: sql.Expr) -> Expr:
        if isinstance(node, sql.Column):
            return IsNull(self.column(node))
        if isinstance(node, (sql.And, sql.Or, sql.Not, sql.Is, *_OPS)):
            return IsNull(self.condition(node))
        value = self.value(node)
        return Literal(BOOL, isinstance(value, Written) and value.value is None)

    def value(self, node: sql.Expr) -> ColumnRef | Written:  # noqa: PLR0911  # one per node
        node = node.unnest()
        match node:
            case sql.Column():
                return self.column(node)
            case sql.Null():
                return Written(None, None, "")
            case sql.Boolean():
                return Written(bool(node.this), BOOL, "")
            case sql.Literal():
                where = self.where(node)
                return Written(node.this, None, where) if node.is_string else number(node.this, where)
            case sql.HexString() if self.text[_start(node) or 0] in "xX":
                return typed(Written(f"\\x{node.this}", None, self.where(node)), BYTES)
            case sql.Neg():
                return self.negated(node)
            case sql.Cast() if type(node) is sql.Cast:
                return self.cast(node)
        raise self.refusal(node)

    def negated(self, node: sql.Neg) -> Written:
        value = self.value(node.this)
        if isinstance(value, Written) and value.type in (INT64, FLOAT64) and value.value is not None:
            return Written(-value.value, value.type, value.where)  # type: ignore[operator]  # a number, by its type
        raise self.refusal(node)

    def cast(self, node: sql.Cast) -> Written:
        self.require_only(node, "this", "to")
        self.require_only(node.to, "this")
        text = node.this.unnest()
        data_type = _CASTS.get(node.to.this)
        if data_type is None or not (isinstance(text, sql.Literal) and text.is_string):
            raise self.refusal(node)
        return typed(Written(text.this, None, self.where(node)), data_type)

    def column(self, node: sql.Column) -> ColumnRef:
        self.require_only(node, "this")
        if not isinstance(node.this, sql.Identifier):
            raise self.refusal(node)
        try:
            column = self.schema.column(node.name)
        except UnknownColumn as error:
            names = {column.name.lower(): column.name for column in self.schema.columns}
            near = [repr(names[name]) for name in difflib.get_close_matches(node.name.lower(), names)]
            raise UnknownColumn(
                f"{self.schema.name} has no column {node.name!r} ({self.where(node)}).",
                help=f"Did you mean {' or '.join(near)}?" if near else error.help,
            ) from None
        return ColumnRef(column.id, column.type)

    def require_only(self, node: sql.Expr, *names: str) -> None:
        if any(value for name, value in node.args.items() if name not in names):
            raise self.refusal(node)

    def refusal(self, node: sql.Expr) -> UnsupportedFilter:
        written = node.sql(dialect="postgres", unsupported_level=ErrorLevel.IGNORE)
        snippet = written if len(written) <= _SNIPPET else f"{written[:_SNIPPET]}…"
        return UnsupportedFilter(f"A filter can't hold {snippet} ({self.where(node)}).", help=_LANGUAGE)

    def where(self, node: sql.Expr) -> str:
        around: sql.Expr | None = node
        while around is not None and (start := _start(around)) is None:
            around = around.parent
        return _place(self.text, 0 if around is None else start or 0)


def _start(node: sql.Expr) -> int | None:
    return min((part.meta["start"] for part in node.walk() if "start" in part.meta), default=None)


def _flatten(node: sql.Expr, kind: type[sql.Connector]) -> Iterator[sql.Expr]:
    """Yield the operands of a chain, without recursion: chains of thousands are real."""
    pending = [node]
    while pending:
        top = pending.pop().unnest()
        if isinstance(top, kind):
            pending += [top.expression, top.this]
        else:
            yield top
