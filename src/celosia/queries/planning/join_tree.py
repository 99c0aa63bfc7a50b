"""Public tables as one table: joined and aggregated by the columns that others speak of.

A table that shares columns with one other table only is an ear (Graham 1979; Yannakakis 1981): it
is aggregated by these columns before it is joined. So a chain of joins takes as many rows as its
tables have, whatever the number of rows that it stands for.

Why: weights multiply in a join and add up in a group, and multiplication distributes over addition.
Columns of an ear that no other table needs can therefore be summed out first, one ear after the
other (sum-product over a join tree: Abo Khamis, Ngo & Rudra, FAQ, PODS 2016). A join graph with a
cycle has a core without an ear, which is joined at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from celosia.queries.algebra import Column, Filter, Relation, aliases
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import Target, syntax
from celosia.queries.emission.relations import select, write_expression
from celosia.queries.planning.join_blocks import (
    JoinBlock,
    Pairs,
    columns_in,
    conjunction,
    rebuild_joins,
    relations_in,
    replace_columns,
)

WEIGHT = "weight"
"""The column that says how many rows a row stands for."""
Names = dict[Column, str]
"""Columns of a question, with their names in a query of ours."""


def aggregation_query(
    part: list[Relation], block: JoinBlock, names: Names, target: Target
) -> exp.Select:
    """The rows of some members by the columns that are spoken of, with how many each stands for."""
    together = rebuild_joins(JoinBlock(part, block.pairs, [], []), {})
    crossing: list[exp.Expr] = [
        write_expression(each, together, target=target)
        for each in block.conditions
        if len(_members(each, part)) > 1
    ]
    nodes = [_make_node(each, block, names, crossing, target) for each in part]
    pairs = list(block.pairs)
    while len(nodes) > 1:
        ear = _find_ear(nodes, pairs, crossing)
        if ear is None:
            return _final_query(_merge_nodes(nodes, pairs, crossing, names), names, target)
        leaf, parent = ear
        between = [each for each in pairs if _links(each, leaf, parent)]
        pairs = [each for each in pairs if each not in between]
        nodes = [each for each in nodes if each not in (leaf, parent)]
        needed = set(names) | {each for pair in pairs for each in pair}
        needed |= {each for tree in crossing for each in columns_in(tree)}
        nodes.append(_merge_nodes([parent, leaf], between, [], needed))
    return _final_query(nodes[0], names, target)


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """Members that were put together: a query with a column for each that is still needed."""

    query: exp.Select
    names: Names
    alias: str

    def column(self, each: Column) -> exp.Column:
        return syntax.column(self.names[each], self.alias)

    def holds(self, each: Column) -> bool:
        return each in self.names


def _make_node(
    member: Relation, block: JoinBlock, names: Names, crossing: list[exp.Expr], target: Target
) -> _Node:
    mine = aliases(member)
    needed = {each for each in names if each.relation in mine}
    needed |= {each for pair in block.pairs for each in pair if each.relation in mine}
    needed |= {each for tree in crossing for each in columns_in(tree) if each.relation in mine}
    own = [each for each in block.conditions if relations_in(each) <= mine]
    rows: Relation = Filter(member, conjunction(own)) if own else member
    words = {each: f"part_{place}" for place, each in enumerate(sorted(needed, key=str), start=1)}
    inner = select(
        rows,
        [syntax.as_alias(column_expression(each), word) for each, word in words.items()]
        or [syntax.as_alias(syntax.integer_literal(1), "one")],
        target=target,
    )
    counted = syntax.as_alias(target.cast(exp.Count(this=exp.Star()), "wide"), WEIGHT)
    query = syntax.group_by(
        syntax.select_from(inner, [*map(syntax.column, words.values()), counted]),
        list(words.values()),
    )
    return _Node(query, words, min(mine))


def _find_ear(
    nodes: list[_Node], pairs: Pairs, crossing: list[exp.Expr]
) -> tuple[_Node, _Node] | None:
    """A node that shares columns with one other only, and that other; None if there is none."""
    for node in nodes:
        if any(node.holds(each) for tree in crossing for each in columns_in(tree)):
            continue
        near = [
            other
            for other in nodes
            if other is not node and any(_links(each, node, other) for each in pairs)
        ]
        if len(near) == 1:
            return node, near[0]
    return None


def _links(pair: tuple[Column, Column], one: _Node, other: _Node) -> bool:
    first, second = pair
    return (one.holds(first) and other.holds(second)) or (one.holds(second) and other.holds(first))


def _merge_nodes(
    nodes: list[_Node],
    pairs: Pairs,
    crossing: list[exp.Expr],
    needed: Iterable[Column],
) -> _Node:
    """Some nodes as one, by the columns that are still needed."""
    home = {each: node for node in nodes for each in node.names}
    kept = [each for each in home if each in set(needed)]
    words = {each: f"part_{place}" for place, each in enumerate(sorted(kept, key=str), start=1)}
    columns: list[exp.Expr] = [
        syntax.as_alias(home[each].column(each), word) for each, word in words.items()
    ]
    weights: list[exp.Expr] = [syntax.column(WEIGHT, each.alias) for each in nodes]
    weight = reduce(lambda one, other: exp.Mul(this=one, expression=other), weights)
    rows = exp.Select(
        expressions=[*columns, syntax.as_alias(weight, WEIGHT)],
        from_=exp.From(this=_source(nodes[0])),
        joins=[exp.Join(this=_source(each)) for each in nodes[1:]],
    )
    tests: list[exp.Expr] = [
        exp.EQ(this=home[one].column(one), expression=home[other].column(other))
        for one, other in pairs
    ]
    tests += [
        replace_columns(each, {mine: home[mine].column(mine) for mine in columns_in(each)})
        for each in crossing
    ]
    if tests:
        rows.set("where", exp.Where(this=exp.and_(*tests, copy=False)))
    summed = syntax.as_alias(exp.Sum(this=syntax.column(WEIGHT)), WEIGHT)
    query = syntax.group_by(
        syntax.select_from(rows, [*map(syntax.column, words.values()), summed]),
        list(words.values()),
    )
    return _Node(query, words, nodes[0].alias)


def _final_query(node: _Node, names: Names, target: Target) -> exp.Select:
    """By the visible columns only, under their names."""
    words = [node.names[each] for each in names]
    summed = syntax.as_alias(target.cast(exp.Sum(this=syntax.column(WEIGHT)), "whole"), WEIGHT)
    columns: list[exp.Expr] = [
        syntax.as_alias(syntax.column(word), shown)
        for word, shown in zip(words, names.values(), strict=True)
    ]
    return syntax.group_by(syntax.select_from(node.query, [*columns, summed]), words)


def _source(node: _Node) -> exp.Subquery:
    return exp.Subquery(this=node.query, alias=exp.TableAlias(this=syntax.identifier(node.alias)))


def facts_query(query: exp.Select, words: list[str]) -> exp.Select:
    """The number of rows, the largest weight, and how often a value of each column repeats."""
    most = exp.func("COALESCE", exp.Max(this=syntax.column(WEIGHT)), syntax.integer_literal(0))
    table = exp.From(this=exp.Table(this=syntax.identifier("celosia_public")))
    numbers: list[exp.Expr] = [
        syntax.as_alias(exp.Count(this=exp.Star()), "size"),
        syntax.as_alias(most, "most"),
    ]
    for place, word in enumerate(words, start=1):
        filled = exp.Not(this=exp.Is(this=syntax.column(word), expression=exp.Null()))
        rows = exp.Select(
            expressions=[syntax.column(word), syntax.as_alias(exp.Count(this=exp.Star()), "n")],
            from_=table.copy(),
            where=exp.Where(this=filled),
        )
        often = exp.func("COALESCE", exp.Max(this=syntax.column("n")), syntax.integer_literal(0))
        inner = syntax.select_from(syntax.group_by(rows, [word]), [syntax.as_alias(often, "n")])
        numbers.append(syntax.as_alias(exp.Subquery(this=inner), f"often_{place}"))
    made = exp.Select(expressions=numbers, from_=table)
    return made.with_(syntax.identifier("celosia_public"), as_=query.copy(), copy=False)


def _members(tree: exp.Expr, part: list[Relation]) -> list[Relation]:
    return [each for each in part if relations_in(tree) & aliases(each)]
