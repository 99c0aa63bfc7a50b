"""Sub-queries in the place of a value, over public tables: each is read once, and written out.

Public tables hold nothing of people, so their numbers may stand in a question as if the analyst had
typed them. The question that is planned, charged and remembered has the number in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import Question
from celosia.queries.policy.values import Policy
from celosia.queries.sql.refusals import refusal

Evaluate = Callable[[Question], list[dict[str, Any]]]
"""The exact rows of a question about public tables."""


def write_out(
    statement: exp.Select | exp.SetOperation,
    policy: Policy,
    *,
    compile_select: Callable[[exp.Select], Question],
    evaluate: Evaluate,
) -> exp.Select | exp.SetOperation:
    """The statement with the values of its public sub-queries in their places.

    Raises:
        QueryRefused: CEL-Q043 one has several rows or columns; all that one may be refused for.
    """
    made = statement.copy()
    for node in list(_values(made)):
        select = node.this
        if not isinstance(select, exp.Select) or not _is_public(select, policy, made):
            continue
        node.replace(_literal(_value(select, compile_select, evaluate)))
    return made


def _value(
    select: exp.Select, compile_select: Callable[[exp.Select], Question], evaluate: Evaluate
) -> Any:
    """The one value of a sub-query: an aggregate, or a column of the one row that it has."""
    counted = _with_count(select)
    question = compile_select(select if counted is None else counted)
    rows = evaluate(question)
    if counted is not None and not rows:
        return None
    if (question.keys and counted is None) or len(rows) != 1:
        raise refusal("CEL-Q043.value_of_several", at=select)
    value, *others = rows[0].values()
    if others != ([] if counted is None else [1]):
        raise refusal("CEL-Q043.value_of_several", at=select)
    return value


def _with_count(select: exp.Select) -> exp.Select | None:
    """A SELECT of one plain column, with the number of rows beside it; None for any other."""
    if len(select.expressions) != 1 or any(map(select.args.get, ("group", "distinct", "having"))):
        return None
    column = select.expressions[0].unalias()
    if not isinstance(column, exp.Column) or column.is_star:
        return None
    made = select.copy()
    made.set(
        "expressions", [column.copy(), exp.alias_(exp.Count(this=exp.Star()), "number_of_rows")]
    )
    made.set("group", exp.Group(expressions=[column.copy()]))
    return made


def _values(statement: exp.Expr) -> Iterator[exp.Subquery]:
    """Sub-queries that stand for a value: not in FROM, IN or EXISTS, nor parts of UNION."""
    for node in statement.find_all(exp.Subquery):
        if not isinstance(
            node.parent, exp.From | exp.Join | exp.In | exp.Exists | exp.SetOperation | exp.CTE
        ):
            yield node


def _is_public(select: exp.Select, policy: Policy, statement: exp.Expr) -> bool:
    """Whether it reads public tables of the policy only, and no CTE."""
    common = {each.alias.lower() for each in statement.find_all(exp.CTE)}
    names = [each.name.lower() for each in select.find_all(exp.Table)]
    tables = [policy.table(each) for each in names]
    return (
        bool(names)
        and not common & set(names)
        and all(each is not None and each.public for each in tables)
    )


def _literal(value: Any) -> exp.Expr:
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        number = exp.Literal.number(repr(abs(value)))
        return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number
    return exp.Literal.string(value)
