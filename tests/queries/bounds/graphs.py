"""Small graphs as sets of triples of words, and what a pattern counts in them, by trying out.

A pattern is a text such as `?u likes ?p . ?p tag t1`; words that begin with `?` are variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import Any

from tests.queries.sparql.graphs import EX, policy_of

from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.neighbours import Relation as Notion
from celosia.queries.algebra import Question
from celosia.queries.bounds.elastic_sensitivity import ElasticSensitivity, elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.stability import Rule
from celosia.queries.policy.values import ANY_PREDICATE, Policy
from celosia.queries.sparql import compile

Triple = tuple[str, str, str]
Graph = frozenset[Triple]
Binding = dict[str, str]


def graph(*facts: str) -> Graph:
    """Facts such as `u1 likes p1 p2`: a subject, a predicate, and objects."""
    found = set()
    for fact in facts:
        subject, predicate, *objects = fact.split()
        found |= {(subject, predicate, each) for each in objects}
    return frozenset(found)


@cache
def triples(pattern: str) -> tuple[Triple, ...]:
    """The triple patterns of a text."""
    found = []
    for part in pattern.split(" . "):
        subject, predicate, value = part.split()
        found.append((subject, predicate, value))
    return tuple(found)


def solutions(pattern: str, facts: Iterable[Triple]) -> Iterator[Binding]:
    """Every way to replace the variables so that all triple patterns are facts."""
    given = list(facts)
    offered = {
        part: [each for each in given if part[1] == each[1] or part[1][0] == "?"]
        for part in triples(pattern)
    }
    yield from _solved(triples(pattern), offered, {})


def _solved(
    parts: Sequence[Triple], offered: Mapping[Triple, Sequence[Triple]], bound: Binding
) -> Iterator[Binding]:
    if not parts:
        yield bound
        return
    first, *rest = parts
    # None where all will do.
    one, two, three = (bound.get(term) if term[0] == "?" else term for term in first)
    for fact in offered[first]:
        subject, predicate, value = fact
        if one not in (None, subject) or two not in (None, predicate) or three not in (None, value):
            continue
        found = dict(bound)
        for term, there in zip(first, fact, strict=True):
            if term[0] == "?" and found.setdefault(term, there) != there:
                break
        else:
            yield from _solved(rest, offered, found)


def count(pattern: str, facts: Iterable[Triple], distinct: str | None = None) -> int:
    """How many solutions there are, or how many different values of a variable."""
    found = list(solutions(pattern, facts))
    return len(found) if distinct is None else len({each[distinct] for each in found})


def universe(terms: Sequence[str], predicates: Sequence[str]) -> list[Triple]:
    """All triples over some terms."""
    return list(product(terms, predicates, terms))


def steps(facts: Graph, everything: Iterable[Triple], notion: Notion) -> Iterator[Graph]:
    """Every graph with one fact more, less or in the place of another."""
    added = [each for each in everything if each not in facts]
    if notion is Notion.ADD_REMOVE:
        yield from (facts - {each} for each in facts)
        yield from (facts | {each} for each in added)
    else:
        yield from (facts - {old} | {new} for old in facts for new in added)


def local(
    pattern: str,
    facts: Graph,
    everything: Sequence[Triple],
    notion: Notion = Notion.ADD_REMOVE,
    distinct: str | None = None,
) -> int:
    """The true local sensitivity of a count."""
    here = count(pattern, facts, distinct)
    others = steps(facts, everything, notion)
    return max((abs(here - count(pattern, each, distinct)) for each in others), default=0)


def frequencies(facts: Iterable[Triple], predicates: Iterable[str]) -> dict[tuple[str, str], int]:
    """The most facts that share a value, for each predicate and for all of them."""
    given = list(facts)
    tables = {f"ex:{each}": [fact for fact in given if fact[1] == each] for each in predicates}
    tables[ANY_PREDICATE] = given
    columns = ("subject", "predicate", "object")
    return {
        (table, column): max(Counter(fact[place] for fact in there).values(), default=0)
        for table, there in tables.items()
        for place, column in enumerate(columns)
        if column != "predicate" or table == ANY_PREDICATE
    }


@cache
def policy(
    predicates: tuple[str, ...], *, public: tuple[str, ...] = (), entity: bool = False
) -> Policy:
    """A policy over predicates, with measured frequencies allowed."""
    made = policy_of(
        [f"ex:{each}" for each in predicates],
        public=[f"ex:{each}" for each in public],
        entity=entity,
    )
    return replace(made, elastic=True)


def capped(given: Policy, most: Mapping[str, int]) -> Policy:
    """The same policy with `most_per_subject` of some predicates, kept by the database itself."""
    return replace(
        given,
        tables=tuple(
            replace(
                table,
                columns=tuple(
                    replace(
                        each,
                        most=most[name] if most[name] > 1 else None,
                        unique=most[name] == 1,
                    )
                    if each.name == "subject"
                    else each
                    for each in table.columns
                ),
            )
            if (name := table.name.removeprefix("ex:")) in most
            else table
            for table in given.tables
        ),
    )


def facts_of(given: Policy, facts: Iterable[Triple], predicates: Iterable[str]) -> DeclaredFacts:
    """What is declared, and what is measured on a graph."""
    return DeclaredFacts(given, frequencies(facts, predicates))


@cache
def question(pattern: str, given: Policy, counted: str = "*") -> Question:
    """The pattern in the algebra, by way of SPARQL."""
    body = " . ".join(" ".join(map(_written, each)) for each in triples(pattern))
    return compile(f"PREFIX ex: <{EX}> SELECT (COUNT({counted}) AS ?n) WHERE {{ {body} }}", given)


def _written(term: str) -> Any:
    return term if term[0] == "?" else f"ex:{term}"


@lru_cache(maxsize=64)
def bound(
    pattern: str,
    facts: Graph,
    *,
    given: Policy | None = None,
    neighbours: Neighbours = ADD_REMOVE,
    rule: Rule = "tight",
    counted: str = "*",
    predicates: tuple[str, ...] | None = None,
) -> ElasticSensitivity:
    """The elastic sensitivity of a count, with what is measured on a graph."""
    names = predicates or tuple(sorted({predicate for _, predicate, _ in facts}))
    declared = given or policy(names)
    asked = question(pattern, declared, counted)
    known = facts_of(declared, facts, names)
    return elastic_sensitivity(
        asked, asked.aggregates[0], facts=known, neighbours=neighbours, rule=rule
    )
