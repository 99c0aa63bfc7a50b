"""Graphs of a few facts: counts, true sensitivities and bounds that a hand can check.

Among them is the graph on which the broken analysis fails: it says 6 whatever the graph, while one
fact moves the count by as many solutions as anybody wants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sparql.graphs import (
    EXAMPLE,
    Graph,
    count,
    example,
    frequencies,
    graph,
    local_sensitivity,
    most_frequent,
    policy_of,
    sparql_of,
)
from celosia.lab.sparql.original_analysis import compat_sensitivity, patterns
from celosia.lab.tolerance import Tolerance
from celosia.queries.bounds.elastic_sensitivity import ElasticSensitivity, elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.stability import Rule
from celosia.queries.rdf.store_loader import check_parser
from celosia.queries.sparql import compile as compiled

compare_equal, _ = comparing("program")

STAFF = graph(
    "emp1 given Heidi",
    "emp1 family Smith",
    "emp1 title CEO",
    "emp1 hired 2015-01-13",
    "emp1 oriented 2015-01-30",
    "emp2 given John",
    "emp2 family Smith",
    "emp2 hired 2015-01-28",
    "emp2 title Engineer",
    "emp2 oriented 2015-01-30 2015-03-15",
    "emp3 given Francis",
    "emp3 family Jones",
    "emp3 hired 2015-02-13",
    "emp3 title Vice-President",
    "emp4 given Jane",
    "emp4 family Berger",
    "emp4 hired 2015-03-10",
    "emp4 title Sales",
)
FRIENDS = graph(
    "u1 knows u2 u3",
    "u2 knows u3",
    "u4 knows u3",
    "u1 likes p1",
    "u2 likes p1",
    "u3 likes p1 p2",
    "u4 likes p2",
    "p1 tag t1",
    "p2 tag t1 t2",
    "u1 city c1",
    "u2 city c1",
    "u3 city c2",
    "u4 city c1",
)
SIZES = (5, 10, 20, 50)
"""Of the graph on which the broken analysis fails."""
COUNTER_EXAMPLE = "?x p a . ?x q ?y . ?y r ?z"


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern over a graph, and what is known of it."""

    pattern: str
    facts: Graph
    count: int
    local: int
    """The true sensitivity: one fact added or removed."""
    bounds: tuple[int, ...]
    """Corrected, at distances 0, 1, ..."""
    broken: tuple[int, int] | None
    """By the broken analysis at distances 0 and 1; None where it has no answer."""


CASES = (
    Case("?x family Smith", STAFF, 2, 1, (1, 1, 1), None),
    Case("?x given ?g . ?x family ?f . ?x oriented ?d", STAFF, 3, 2, (2, 6, 12), (10, 23)),
    Case("?a family ?f . ?b family ?f", STAFF, 6, 5, (5, 7), (5, 7)),
    Case("?u likes ?p . ?p tag ?t", FRIENDS, 7, 3, (3, 4, 5), (6, 8)),
    Case("?u knows ?w . ?w likes ?p . ?p tag ?t", FRIENDS, 10, 6, (9, 16, 25), (18, 36)),
    Case("?u likes ?p . ?u city ?c . ?u knows ?w", FRIENDS, 4, 2, (4, 9, 16), (14, 28)),
    Case("?u likes p1 . ?u city c1", FRIENDS, 2, 1, (1, 1, 1), (3, 5)),
    Case(
        "?u city ?c . ?u likes ?p . ?p tag ?t . ?w likes ?p",
        *(FRIENDS, 17, 10, (22, 69, 156), (48, 150)),
    ),
    Case("?u knows ?w . ?w knows ?z", FRIENDS, 1, 5, (6, 8, 10), (6, 8)),
    Case("?a knows ?b . ?b knows ?c . ?a knows ?c", FRIENDS, 1, 4, (22, 41, 66), (18, 36)),
    Case("?u city c1 . ?u likes ?p . ?p tag ?t", FRIENDS, 4, 3, (4, 9, 16), (12, 28)),
)
"""What the broken analysis says of the third was computed for this study."""


def rows(progress: Progress) -> list[Row]:
    """All cases, the graph on which the broken analysis fails, and the query for frequencies."""
    found: list[Row] = []
    for done, case in enumerate(CASES):
        progress(Step(Message("lab.sparql.trying_out_small_graphs"), done, len(CASES)))
        found += _one(case)
    return [*found, *_counter_example(), *_most_frequent()]


def _one(case: Case) -> Iterator[Row]:
    run, given = Message("lab.sparql.by_hand", pattern=case.pattern), patterns(case.pattern)
    yield compare_equal(run, "lab.sparql.count", case.count, count(given, case.facts))
    yield compare_equal(
        run, "lab.sparql.true_sensitivity", case.local, local_sensitivity(given, case.facts)
    )
    for distance, number in enumerate(case.bounds):
        found = int(bound(case.pattern, case.facts).at(distance))
        yield compare_equal(
            run, Message("lab.sparql.corrected_bound_at_distance", distance=distance), number, found
        )
    ours = int(bound(case.pattern, case.facts, rule="tight").at(0))
    why = Message("lab.tolerance.true_to_published_bound")
    limits = Tolerance(least=case.local, most=case.bounds[0], why=why)
    cell = Message("lab.sparql.our_bound_over_all_orders")
    yield compare(run, cell, case.bounds[0], ours, limits, kind="program")
    for distance, number in enumerate(case.broken or ()):
        known = compat_sensitivity(given, most_frequent(case.facts), distance=distance)
        yield compare_equal(
            run, Message("lab.sparql.broken_analysis_at_distance", distance=distance), number, known
        )


def hub(size: int) -> Graph:
    """Many facts that meet in one value: one more fact of it brings as many solutions."""
    many = [fact for number in range(size) for fact in (f"x{number} p a", f"x{number} q y0")]
    return graph("y0 r z1", *many)


def _counter_example() -> Iterator[Row]:
    given = patterns(COUNTER_EXAMPLE)
    for size in SIZES:
        run, facts = Message("lab.sparql.counter_example_of_size", size=size), hub(size)
        more = count(given, facts | {("y0", "r", "z0")}) - count(given, facts)
        yield compare_equal(run, "lab.sparql.solutions_that_one_fact_adds", size, more)
        for distance, number in enumerate((6, 17)):
            broken = compat_sensitivity(given, most_frequent(facts), distance=distance)
            yield compare_equal(
                run,
                Message("lab.sparql.broken_analysis_at_distance", distance=distance),
                number,
                broken,
            )
        found = bound(COUNTER_EXAMPLE, facts)
        yield compare_equal(run, "lab.sparql.corrected_bound_at_distance_0", size, int(found.at(0)))
        yield compare_equal(
            run, "lab.sparql.corrected_bound_at_distance_1", size + 1, int(found.at(1))
        )


def _most_frequent() -> Iterator[Row]:
    """The query that measured frequencies sorted by value first, so it found the first value's."""
    facts = graph("a p 1", "b p 1 2", "c p 1 2 3")
    run = Message("lab.sparql.query_for_the_largest_frequency")
    yield compare_equal(
        run, "lab.sparql.sorted_by_value_as_published", 1, asked_frequency(facts, "?v DESC(?count)")
    )
    yield compare_equal(
        run, "lab.sparql.sorted_by_count", 3, asked_frequency(facts, "DESC(?count)")
    )


def asked_frequency(facts: Graph, order: str) -> int:
    """What a SPARQL engine says to the query for the most frequent subject of p."""
    check_parser()
    import pyoxigraph  # a store, for this alone

    store = pyoxigraph.Store()
    lines = [" ".join(f"<{EXAMPLE}{term}>" for term in fact) for fact in facts]
    store.load("".join(f"{each} .\n" for each in lines), format=pyoxigraph.RdfFormat.N_TRIPLES)
    found: object = store.query(
        f"SELECT (COUNT(*) AS ?count) WHERE {{ ?v <{EXAMPLE}p> ?o }} "
        f"GROUP BY ?v ORDER BY {order} LIMIT 1"
    )
    assert isinstance(found, pyoxigraph.QuerySolutions)
    (row,) = found
    assert isinstance(row[0], pyoxigraph.Literal)
    return int(row[0].value)


def bound(pattern: str, facts: Graph, *, rule: Rule = "elastic") -> ElasticSensitivity:
    """The corrected bound for one fact, in the order of the text or over all orders."""
    policy = policy_of(sorted({f"ex:{predicate}" for _, predicate, _ in facts}))
    question = compiled(sparql_of(example(pattern)), policy)
    known = DeclaredFacts(policy, frequencies(facts))
    return elastic_sensitivity(question, question.aggregates[0], facts=known, rule=rule)
