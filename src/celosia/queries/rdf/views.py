"""The tables of a graph policy as views of the facts in its store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from celosia.queries.policy.values import ANY_PREDICATE, ENTITIES, FACT_COLUMNS, Policy
from celosia.queries.rdf.terms import address_text, number_of

_STORED = {"subject": "s", "object": "o", "predicate": "p"}
"""Columns that have another name in the store."""


def views_of(policy: Policy) -> Mapping[str, exp.Select]:
    """The SELECT that each table of a policy stands for.

    A predicate without any fact has an empty view: whether there are facts is not told.
    """
    graph = policy.graph
    assert graph is not None, "a policy with a graph"
    numbers = {name: number_of(address_text(each)) for each, name in graph.predicates}
    columns = [name for name, _ in FACT_COLUMNS]
    found = {name: _facts(columns, [number]) for name, number in numbers.items()}
    private = [table.name for table in policy.tables if not table.public]
    if policy.table(ANY_PREDICATE) is not None:
        found[ANY_PREDICATE] = _facts([*columns, "predicate"], numbers.values())
    if policy.table(ENTITIES) is not None:
        owned = [number for name, number in numbers.items() if name in private]
        found[ENTITIES] = _facts(["subject"], owned).distinct(copy=False)
    return found


def _facts(columns: Iterable[str], predicates: Iterable[int]) -> exp.Select:
    shown: list[exp.Expr] = [
        exp.alias_(exp.column(_STORED.get(word, word), quoted=True), word, quoted=True)
        for word in columns
    ]
    listed: list[exp.Expr] = [exp.Literal.number(number) for number in predicates]
    predicate = exp.column("p", quoted=True)
    if len(listed) == 1:
        condition: exp.Expr = exp.EQ(this=predicate, expression=listed[0])
    else:
        condition = exp.In(this=predicate, expressions=listed)
    triples = exp.Table(this=exp.to_identifier("triples", quoted=True))
    return exp.Select(
        expressions=shown, from_=exp.From(this=triples), where=exp.Where(this=condition)
    )
