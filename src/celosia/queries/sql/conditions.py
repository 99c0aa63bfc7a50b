"""Row-wise expressions: every part is on the allow-list, of a kind that fits, and total.

An expression is read from the query and built anew. Nothing is carried over that was not looked
at: no comment, no flag of the parser, no node of a type that has no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.sql import functions, operators
from celosia.queries.sql.forbidden_parts import refuse_forbidden
from celosia.queries.sql.kinds import TRUTHS, TypedExpression, require_kind, typed_field
from celosia.queries.sql.names import Scope
from celosia.queries.sql.refusals import refusal
from celosia.queries.sql.total_functions import make_total

MOST_READ = 10_000
"""The most parts of an expression: CASE x WHEN ... repeats x, and nested ones double at each."""

Special = Callable[[exp.Expr], TypedExpression | None]
"""Names that an expression may use beside columns: the answers, in HAVING."""


def read_expression(
    node: exp.Expr, scope: Scope, *, special: Special | None = None
) -> TypedExpression:
    """A row-wise expression of the query, with its columns found and total on every row.

    Raises:
        QueryRefused: CEL-Q024 to CEL-Q031, CEL-Q042, CEL-Q044, CEL-Q047 to CEL-Q050, CEL-Q053.
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
