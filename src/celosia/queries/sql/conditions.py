"""Row-wise expressions: every part is on the allow-list, of a kind that fits, and total.

`1 / (salary - 4200)` fails, or not, by whether somebody earns 4200. After this rewrite every
expression has a value on every row, NULL where it would have failed:

- a divisor `b` becomes `NULLIF(b, 0)`: division by zero is NULL (DuckDB alone says infinity);
- `CAST` becomes `TRY_CAST`, except of a written date or timestamp, which has been checked;
- arithmetic, which may overflow, is put in `TRY(...)`, once around the whole of it.

DuckDB has all three. An engine that lacks TRY or TRY_CAST has to put something in
their place that never fails.

An expression is read from the query and built anew. Nothing is carried over that was not looked
at: no comment, no flag of the parser, no node of a type that has no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.sql import functions, operators
from celosia.queries.sql.names import TRUTHS, Scope, TypedExpression, require_kind, typed_field
from celosia.queries.sql.refusals import refusal, refuse_forbidden

DIVISIONS = (exp.Div, exp.IntDiv, exp.Mod)

FALLIBLE = (
    *DIVISIONS,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
    exp.Abs,
    exp.Round,
    exp.Ceil,
    exp.Floor,
    exp.Extract,
    exp.TimestampTrunc,
)
"""Operations that can overflow or leave the calendar. As each keeps NULL, one TRY covers a nest."""


def make_total(tree: exp.Expression) -> exp.Expression:
    """Rewrite an expression so that it has a value on every row.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("1 / (x - 1) > CAST(y AS INT)", read="duckdb")
    >>> print(make_total(tree).sql("duckdb"))
    TRY(1 / NULLIF((x - 1), 0)) > TRY_CAST(y AS INT)
    """
    return _total(tree, is_covered=False)


def _total(node: exp.Expr, *, is_covered: bool) -> exp.Expression:
    """A copy that is total; `is_covered` where a TRY around it catches what fails."""
    is_fallible = isinstance(node, FALLIBLE) and not _is_written(node)
    covers = is_fallible or isinstance(node, exp.Try) or (is_covered and _is_passage(node))
    copy = _rebuilt(node, is_covered=covers)
    if isinstance(copy, DIVISIONS) and not _is_safe_divisor(copy.expression):
        copy.set("expression", exp.Nullif(this=copy.expression, expression=exp.Literal.number(0)))
    if type(copy) is exp.Cast and not _is_written_moment(copy):
        copy = exp.TryCast(this=copy.this, to=copy.args["to"])
    return exp.Try(this=copy) if is_fallible and not is_covered else copy


def _rebuilt(node: exp.Expr, *, is_covered: bool) -> exp.Expression:
    def again(value: object) -> object:
        if isinstance(value, list):
            return [again(each) for each in value]
        return _total(value, is_covered=is_covered) if isinstance(value, exp.Expr) else value

    made = type(node)(**{name: again(value) for name, value in node.args.items()})
    assert isinstance(made, exp.Expression)
    return made


def _is_passage(node: exp.Expr) -> bool:
    """Whether a NULL inside makes a NULL outside, so that the TRY around is enough."""
    if isinstance(node, exp.Nullif):
        return isinstance(node.expression, exp.Literal)
    return isinstance(node, exp.Paren)


def _is_safe_divisor(divisor: exp.Expr) -> bool:
    if isinstance(divisor, exp.Nullif):
        return bool(divisor.expression == exp.Literal.number(0))
    return isinstance(divisor, exp.Literal) and float(divisor.name) != 0


def _is_written_moment(node: exp.Cast) -> bool:
    kinds = (exp.DType.DATE, exp.DType.TIMESTAMP)
    return isinstance(node.this, exp.Literal) and node.args["to"].this in kinds


def _is_written(node: exp.Expr) -> bool:
    """Whether it is a written number below zero, which cannot fail."""
    return isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)


MOST_READ = 10_000
"""The most parts of an expression: CASE x WHEN ... repeats x, and nested ones double at each."""

Special = Callable[[exp.Expr], TypedExpression | None]
"""Names that an expression may use beside columns: the answers, in HAVING."""


def read_expression(
    node: exp.Expr, scope: Scope, *, special: Special | None = None
) -> TypedExpression:
    """A row-wise expression of the query, with its columns found and total on every row.

    Raises:
        QueryRefused: CEL-Q022 to CEL-Q042, CEL-Q043, CEL-Q047 to CEL-Q050, CEL-Q054.
    """
    typed = _ExpressionReader(scope, special).read(node)
    return TypedExpression(make_total(typed.tree), typed.kind, typed.is_plain)


def read_condition(
    node: exp.Expr, scope: Scope, *, special: Special | None = None
) -> exp.Expression:
    """A row-wise expression that is true, false or NULL."""
    return require_kind(
        read_expression(node, scope, special=special), TRUTHS, at=node, use="condition"
    ).tree


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND puts together, without brackets around them."""
    rest = [node] if node is not None else []
    while rest:
        last = rest.pop().unnest()
        if isinstance(last, exp.And):
            rest += [last.expression, last.this]
        else:
            yield last


def conjunction(trees: list[exp.Expression]) -> exp.Expression | None:
    """One condition that is true where all are; None for none."""
    whole: exp.Expression | None = None
    for tree in trees:
        whole = tree if whole is None else operators.conjoin(whole, tree)
    return whole


def mentioned_aliases(tree: exp.Expression) -> frozenset[str]:
    """The aliases whose columns an expression refers to."""
    return frozenset(column.table for column in tree.find_all(exp.Column))


@dataclass(slots=True)
class _ExpressionReader:
    """Reads one expression, part by part."""

    scope: Scope
    special: Special | None
    parts: int = 0

    def read(self, node: exp.Expr) -> TypedExpression:
        self.parts += 1
        if self.parts > MOST_READ:
            raise refusal("CEL-Q023.expression_too_long", most_parts=MOST_READ)
        node = node.unnest() if isinstance(node, exp.Paren) else node
        if self.special is not None and (known := self.special(node)) is not None:
            return known
        refuse_forbidden(node)
        if isinstance(node, exp.Column):
            return typed_field(self.scope.find(node))
        rule = operators.RULES.get(type(node)) or functions.RULES.get(type(node))
        if rule is None:
            raise functions.unknown_function(node)
        return rule(node, self.read)
