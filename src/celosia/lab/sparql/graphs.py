"""Small graphs of words: solutions, true sensitivities by trying out, and policies to bound them.

Nothing here knows of bounds, so what is counted here can tell a bound that is too low.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from celosia.datasets.watdiv.schema import PREFIXES
from celosia.lab.sparql.original_analysis import Frequency, Pattern
from celosia.queries.policy import Policy, read_policy

Triple = tuple[str, str, str]
Graph = frozenset[Triple]
EXAMPLE = "http://example.org/"


def graph(*facts: str) -> Graph:
    """Facts such as `u1 likes p1 p2`: a subject, a predicate, and objects."""
    found = set()
    for fact in facts:
        subject, predicate, *objects = fact.split()
        found |= {(subject, predicate, each) for each in objects}
    return frozenset(found)


def solutions(given: Sequence[Pattern], facts: Iterable[Triple]) -> Iterator[dict[str, str]]:
    """Every way to replace the variables so that all patterns are facts."""
    by_predicate: dict[str, list[Triple]] = {}
    for fact in facts:
        by_predicate.setdefault(fact[1], []).append(fact)
    yield from _solved(given, by_predicate, {})


def _solved(
    given: Sequence[Pattern], facts: Mapping[str, list[Triple]], bound: dict[str, str]
) -> Iterator[dict[str, str]]:
    if not given:
        yield bound
        return
    (subject, predicate, value), *others = given
    first = bound.get(subject) if subject[0] == "?" else subject  # None where all will do
    last = bound.get(value) if value[0] == "?" else value
    for one, _, other in facts.get(predicate, ()):
        if first not in (None, one) or last not in (None, other):
            continue
        if subject != value or one == other:
            found = dict(bound)
            if first is None:
                found[subject] = one
            if last is None:
                found[value] = other
            yield from _solved(others, facts, found)


def count(given: Sequence[Pattern], facts: Iterable[Triple]) -> int:
    """How many solutions there are."""
    return sum(1 for _ in solutions(given, facts))


def local_sensitivity(given: Sequence[Pattern], facts: Graph) -> int:
    """How far one fact more or less moves the count, over all terms of the graph and new ones."""
    terms = {term for subject, _, value in facts for term in (subject, value)} | {"new", "other"}
    used = {predicate for _, predicate, _ in given}
    here = count(given, facts)
    without = [facts - {each} for each in facts if each[1] in used]
    added = [
        facts | {(subject, predicate, value)}
        for predicate in used
        for subject in terms
        for value in terms
    ]
    return max(abs(count(given, each) - here) for each in (*without, *added))


def most_frequent(facts: Iterable[Triple]) -> Frequency:
    """True frequencies of terms in the facts that fit a pattern."""
    kept = list(facts)

    def frequency(pattern: Pattern, term: str) -> int:
        subject, _, value = pattern
        if term not in (subject, value):
            return 0
        found = Counter(each.get(term, term) for each in solutions([pattern], kept))
        return max(found.values(), default=0)

    return frequency


def frequencies(facts: Iterable[Triple]) -> dict[tuple[str, str], int]:
    """The most facts that share a value, by table and column of a policy."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for subject, predicate, value in facts:
        counted[f"ex:{predicate}", "subject", subject] += 1
        counted[f"ex:{predicate}", "object", value] += 1
    found: dict[tuple[str, str], int] = {}
    for (table, column, _), number in counted.items():
        found[table, column] = max(number, found.get((table, column), 0))
    return found


def policy_of(predicates: Iterable[str], *, unit: str = "triple") -> Policy:
    """A policy that allows measured frequencies and declares nothing of its predicates."""
    names = list(predicates)
    starts = {"ex": EXAMPLE, **PREFIXES}
    lines = [
        'name = "lab"',
        "elastic = true",
        "budget = { epsilon = 1, delta = 1e-6 }",
        f'unit = {{ name = "{unit}" }}',
        '[graph]\nstore = "lab.graph"',
        "[graph.prefixes]",
        *(f'{name} = "{address}"' for name, address in starts.items()),
        "[graph.classes.Thing]",
        f"predicates = {json.dumps(names)}",
    ]
    return read_policy("\n".join(lines))


def sparql_of(pattern: str, counted: str = "*") -> str:
    """A count over a pattern with short names."""
    return f"SELECT (COUNT({counted}) AS ?n) WHERE {{ {pattern} }}"


def example(pattern: str) -> str:
    """A pattern of words as one of addresses, all under the prefix of examples.

    >>> example("?u likes ?p . ?p tag t1")
    '?u ex:likes ?p . ?p ex:tag ex:t1'
    """
    words = pattern.split()
    return " ".join(each if each[0] in "?." else f"ex:{each}" for each in words)
