"""Relations of FROM as a tree of equijoins, however the equalities are written.

Inner joins commute, so ON, USING and WHERE all give the same pool of conditions. Relations are
joined from left to right as the query has them, each as soon as an equality ties it to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.algebra import Column, Join, Keys, Relation
from celosia.queries.sql.conditions import (
    conjunction,
    mentioned_aliases,
    read_condition,
    read_expression,
)
from celosia.queries.sql.kinds import TypedExpression, unify_kinds
from celosia.queries.sql.names import FromItem, Scope
from celosia.queries.sql.refusals import refusal


@dataclass(frozen=True, slots=True)
class JoinCondition:
    """One of the conditions that AND puts together."""

    node: exp.Expr
    """As it is written."""
    tree: exp.Expression
    mentions: frozenset[str]
    pair: tuple[Column, Column] | None
    """The columns of tables that it says are equal; None for any other condition."""
    joins: str | None
    """The alias of the relation whose ON or USING it is from; None for WHERE."""


def analyse_condition(node: exp.Expr, scope: Scope, *, joins: str | None = None) -> JoinCondition:
    """A condition with what a join needs to know of it."""
    tree = read_condition(node, scope)
    pair = None
    if isinstance(node, exp.EQ):
        left, right = read_expression(node.this, scope), read_expression(node.expression, scope)
        if left.is_plain and right.is_plain:
            pair = (_column(left.tree), _column(right.tree))
    return JoinCondition(node, tree, mentioned_aliases(tree), pair, joins)


def make_equality(
    left: TypedExpression, right: TypedExpression, *, at: exp.Expr, joins: str | None = None
) -> JoinCondition:
    """The condition of USING and of IN: two columns are equal."""
    unify_kinds([left, right], at=at, use="join")
    tree = exp.EQ(this=left.tree, expression=right.tree)
    made = JoinCondition(tree, tree, mentioned_aliases(tree), None, joins)
    if not (left.is_plain and right.is_plain):
        raise not_an_equijoin(made, Message("queries.sql.other_side"), at=at)
    return replace(made, node=at, pair=(_column(left.tree), _column(right.tree)))


def _column(tree: exp.Expression) -> Column:
    assert isinstance(tree, exp.Column)
    return Column(tree.table, tree.name)


def find_join_keys(
    conditions: Sequence[JoinCondition], left: frozenset[str], right: frozenset[str]
) -> tuple[Keys, list[JoinCondition]]:
    """The pairs that tie two sides, each once and the left one first; and their conditions."""
    keys: dict[tuple[Column, Column], None] = {}
    used = []
    for each in conditions:
        if each.pair is None:
            continue
        first, second = each.pair
        if first.relation in right and second.relation in left:
            first, second = second, first
        if first.relation in left and second.relation in right:
            keys[(first, second)] = None
            used.append(each)
    return tuple(keys), used


def join_items(
    items: Sequence[FromItem], conditions: Sequence[JoinCondition]
) -> tuple[Relation, list[JoinCondition]]:
    """One relation of all items, and the conditions of WHERE that it did not need.

    Raises:
        QueryRefused: CEL-Q035 and CEL-Q037 to CEL-Q041, where nothing ties an item to the others.
    """
    first, *waiting = items
    relation, done = first.relation, frozenset({first.alias})
    rest = list(conditions)
    while waiting:
        for item in waiting:
            keys, used = find_join_keys(rest, done, frozenset({item.alias}))
            if keys:
                break
        else:
            raise _no_join_key(waiting[0], done, rest)
        waiting.remove(item)
        done |= {item.alias}
        rest = [each for each in rest if each not in used]
        extra = [each for each in rest if each.joins is not None and each.mentions <= done]
        rest = [each for each in rest if each not in extra]
        relation = Join(relation, item.relation, keys, conjunction([each.tree for each in extra]))
    return relation, rest


def _no_join_key(
    item: FromItem, done: frozenset[str], conditions: Sequence[JoinCondition]
) -> CelosiaError:
    """Say which condition was meant to join, and why it does not."""
    own = [each for each in conditions if each.joins == item.alias]
    across = [each for each in conditions if item.alias in each.mentions and each.mentions & done]
    for each in across or own:
        return not_an_equijoin(each, f"'{item.name}'")
    return refusal("CEL-Q035.not_tied", relation=item.name)


def not_an_equijoin(given: JoinCondition, side: str, *, at: exp.Expr | None = None) -> CelosiaError:
    """The refusal of a condition that ties a relation, but not by an equality of two columns.

    Args:
        given: the condition.
        side: what it ties, in words.
        at: the part of the query that is meant, if it is not the condition.
    """
    node, columns = given.node, list(given.tree.find_all(exp.Column))
    place = node if at is None else at
    if isinstance(node, exp.Or):
        return refusal("CEL-Q038", side=side, at=place)
    if not columns:
        return refusal("CEL-Q040", side=side, at=place)
    if isinstance(node, exp.EQ) and len(given.mentions) > 1:
        return refusal("CEL-Q039", at=place)
    if len(given.mentions) == 1:
        return refusal("CEL-Q041", side=side, at=place)
    return refusal("CEL-Q037", side=side, at=place)
