"""The tables of a graph policy as views of the facts in its store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp, parse_one

from celosia.queries.catalogue import Executor
from celosia.queries.emission.relations import replace_capped
from celosia.queries.policy.values import (
    ANY_PREDICATE,
    ANY_PRIVATE,
    ANY_PUBLIC,
    ENTITIES,
    FACT_COLUMNS,
    Policy,
    closure_table,
    graph_table,
)
from celosia.queries.rdf.terms import address_text, term_number

_STORED = {"subject": "s", "object": "o", "predicate": "p"}
"""Columns that have another name in the store."""


def make_views(policy: Policy) -> Mapping[str, exp.Select]:
    """The SELECT that each table of a policy stands for.

    A predicate without any fact has an empty view: whether there are facts is not told.
    """
    graph = policy.graph
    assert graph is not None, "a policy with a graph"
    numbers = {name: term_number(address_text(each)) for each, name in graph.predicates}
    private = [table.name for table in policy.tables if not table.public]
    found = _views_of_graph(policy, numbers, private, _DEFAULT if graph.graphs else "")
    for address, short in graph.graphs:
        inside = _NAMED.format(number=term_number(address_text(address)))
        for name, view in _views_of_graph(policy, numbers, private, inside).items():
            steps = name.removesuffix(closure_table(""))
            found[graph_table(steps, short) + name.removeprefix(steps)] = view
    if policy.table(ENTITIES) is not None:
        owned = [number for name, number in numbers.items() if name in private]
        found[ENTITIES] = _facts(["subject"], owned).distinct(copy=False)
    return found


_SAME = "x.s = triples.s AND x.p = triples.p AND x.o = triples.o"
_DEFAULT = f"NOT EXISTS (SELECT 1 FROM elsewhere AS x WHERE {_SAME})"  # noqa: S608
"""Of facts of the default graph, in a store that keeps graphs apart."""
_NAMED = f"EXISTS (SELECT 1 FROM named AS x WHERE x.g = {{number}} AND {_SAME})"  # noqa: S608


def _views_of_graph(
    policy: Policy, numbers: Mapping[str, int], private: list[str], inside: str
) -> dict[str, exp.Select]:
    """The views of predicates, closures and all facts, for the facts of one graph."""
    columns = [name for name, _ in FACT_COLUMNS]
    found = {name: _facts(columns, [number], inside) for name, number in numbers.items()}
    for name, number in numbers.items():
        if policy.table(closure_table(name)) is not None:
            found[closure_table(name)] = _closure(columns, number, inside)
    if policy.table(ANY_PREDICATE) is not None:
        found[ANY_PREDICATE] = _facts([*columns, "predicate"], numbers.values(), inside)
    for name, is_public in ((ANY_PRIVATE, False), (ANY_PUBLIC, True)):
        if policy.table(name) is not None:
            among = [number for word, number in numbers.items() if (word in private) != is_public]
            found[name] = _facts([*columns, "predicate"], among, inside)
    return found


def make_cap_remover(policy: Policy, execute: Executor) -> Callable[[exp.Expr], exp.Expr]:
    """Rewrites queries so that caps are left out to which the facts keep anyway.

    No fact would be left out, so every answer is the same, only sooner: a cap takes a second and a
    third look at all facts of its predicate. How often subjects and objects repeat was counted when
    the graph was loaded. It depends on the data, so it decides about time, and about nothing else.
    """
    graph = policy.graph
    assert graph is not None, "a policy with a graph"
    words = ("p", "most_of_subject", "most_of_object")
    counted = exp.Select(
        expressions=[exp.column(word, quoted=True) for word in words],
        from_=exp.From(this=exp.Table(this=exp.to_identifier("statistics", quoted=True))),
    )
    most = {int(number): (int(one), int(other)) for number, one, other in execute(counted)}
    kept = set()
    for iri, name in graph.predicates:
        table = policy.table(name)
        assert table is not None
        columns = [table.column(word) for word in ("subject", "object")]
        caps = [each.most if each is not None else None for each in columns]
        others = [each for each in table.columns if each.most is not None and each not in columns]
        found = most.get(term_number(address_text(iri)), (0, 0))
        if not others and all(
            cap is None or number <= cap for cap, number in zip(caps, found, strict=True)
        ):
            kept.add(table.name)  # a graph holds no more of them
            kept |= {graph_table(table.name, short) for _, short in graph.graphs}

    def plain(table: str, alias: str) -> exp.Expr | None:
        if table not in kept:
            return None
        named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
        return exp.Table(this=exp.to_identifier(table, quoted=True), alias=named)

    return lambda query: replace_capped(query, plain)


def _facts(columns: Iterable[str], predicates: Iterable[int], inside: str = "") -> exp.Select:
    shown: list[exp.Expr] = [
        exp.alias_(exp.column(_STORED.get(word, word), quoted=True), word, quoted=True)
        for word in columns
    ]
    listed: list[exp.Expr] = [exp.Literal.number(number) for number in predicates]
    predicate = exp.column("p", quoted=True)
    if not listed:  # a graph whose predicates are all public has no private entity
        condition: exp.Expr = exp.false()
    elif len(listed) == 1:
        condition = exp.EQ(this=predicate, expression=listed[0])
    else:
        condition = exp.In(this=predicate, expressions=listed)
    if inside:
        condition = exp.and_(condition, parse_one(inside, read="duckdb"))
    triples = exp.Table(this=exp.to_identifier("triples", quoted=True))
    return exp.Select(
        expressions=shown, from_=exp.From(this=triples), where=exp.Where(this=condition)
    )


def _closure(columns: Iterable[str], predicate: int, inside: str = "") -> exp.Select:
    """Pairs that one fact or more lead between, each once, with what is kept of their objects."""
    shown = ", ".join(
        f'{"reached" if word in _STORED else "objects"}."{_STORED.get(word, word)}" AS "{word}"'
        for word in columns
    )
    kept = ", ".join(f'"{word}"' for word in columns if word not in _STORED)
    facts = f"triples WHERE p = {predicate}{f' AND {inside}' if inside else ''}"
    text = f"""WITH RECURSIVE reached AS (
        SELECT s, o FROM {facts} UNION
        SELECT reached.s, step.o FROM reached
        JOIN (SELECT s, o FROM {facts}) AS step ON reached.o = step.s)
    SELECT {shown} FROM reached
    JOIN (SELECT DISTINCT o, {kept} FROM {facts}) AS objects ON objects.o = reached.o"""  # noqa: S608
    made = parse_one(text, read="duckdb")
    assert isinstance(made, exp.Select)
    return made
