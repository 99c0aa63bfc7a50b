"""Facts of graphs: tables checked by hand, and small graphs tried out completely."""

from __future__ import annotations

from itertools import pairwise

import duckdb
import pytest
from tests.queries.bounds import graphs
from tests.queries.bounds.graphs import Graph, Triple, bound, graph, local

from celosia.core.errors import QueryRefused
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.emission import Target
from celosia.queries.planning.elastic import _frequency_query
from celosia.queries.policy.values import ANY_PREDICATE

VCARD = graph(
    "emp1 given Heidi",
    "emp1 family Smith",
    "emp1 title CEO",
    "emp1 hired d1",
    "emp1 oriented d2",
    "emp2 given John",
    "emp2 family Smith",
    "emp2 hired d3",
    "emp2 title Engineer",
    "emp2 oriented d2 d4",
    "emp3 given Francis",
    "emp3 family Jones",
    "emp3 hired d5",
    "emp3 title VP",
    "emp4 given Jane",
    "emp4 family Berger",
    "emp4 hired d6",
    "emp4 title Sales",
)
SOCIAL = graph(
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


def nearby(facts: Graph) -> list[Triple]:
    """All triples over the terms of a graph, each predicate with terms of its own kinds and new."""
    subjects: dict[str, set[str]] = {}
    objects: dict[str, set[str]] = {}
    for subject, predicate, value in facts:
        subjects.setdefault(predicate, {"new"}).add(subject)
        objects.setdefault(predicate, {"new", "other"}).add(value)
    everybody = set().union(*subjects.values(), *objects.values())
    return [(s, p, o) for p in subjects for s in everybody for o in everybody]


# Columns: count, local sensitivity (one fact added or removed), S at distances 0, 1 and 2.
BY_HAND: dict[str, tuple[Graph, int, int, tuple[int, ...]]] = {
    "?x family Smith": (VCARD, 2, 1, (1, 1, 1)),
    "?x given ?g . ?x family ?f . ?x oriented ?d": (VCARD, 3, 2, (2, 6, 12)),
    "?a family ?f . ?b family ?f": (VCARD, 6, 5, (5, 7)),
    "?u likes ?p . ?p tag ?t": (SOCIAL, 7, 3, (3, 4, 5)),
    "?u knows ?w . ?w likes ?p . ?p tag ?t": (SOCIAL, 10, 6, (9, 16, 25)),
    "?u likes ?p . ?u city ?c . ?u knows ?w": (SOCIAL, 4, 2, (4, 9, 16)),
    "?u likes p1 . ?u city c1": (SOCIAL, 2, 1, (1, 1, 1)),
    "?u city ?c . ?u likes ?p . ?p tag ?t . ?w likes ?p": (SOCIAL, 17, 10, (22, 69, 156)),
    "?u knows ?w . ?w knows ?z": (SOCIAL, 1, 5, (6, 8, 10)),
    "?a knows ?b . ?b knows ?c . ?a knows ?c": (SOCIAL, 1, 4, (22, 41, 66)),
    "?u city c1 . ?u likes ?p . ?p tag ?t": (SOCIAL, 4, 3, (4, 9, 16)),
}


@pytest.mark.parametrize("pattern", BY_HAND)
def test_the_graphs_that_were_checked_by_hand(pattern: str) -> None:
    facts, solutions, sensitivity, expected = BY_HAND[pattern]
    assert graphs.count(pattern, facts) == solutions
    assert local(pattern, facts, nearby(facts)) == sensitivity
    written = bound(pattern, facts, rule="elastic")
    assert tuple(written.at(k) for k in range(len(expected))) == expected
    tight = bound(pattern, facts)
    assert sensitivity <= tight.at(0)
    assert all(tight.at(k) <= printed for k, printed in enumerate(expected))


@pytest.mark.parametrize("size", [5, 10, 20, 50])
def test_the_graph_on_which_the_first_analysis_failed(size: int) -> None:
    """One fact more brings `size` solutions; the analysis that came first says 6 for every size."""
    facts = graph(
        "y0 r z1", *(f"x{i} p a" for i in range(size)), *(f"x{i} q y0" for i in range(size))
    )
    pattern = "?x p a . ?x q ?y . ?y r ?z"
    assert graphs.count(pattern, facts | {("y0", "r", "z0")}) - graphs.count(pattern, facts) == size
    for rule in ("elastic", "tight"):
        assert bound(pattern, facts, rule=rule).at(0) == size
    assert bound(pattern, facts, rule="elastic").at(1) == size + 1


def test_one_pattern_has_sensitivity_1_at_every_distance() -> None:
    for pattern in ("?x family ?f", "?x family Smith", "?x ?p ?o", "?x family ?x", "emp1 ?p ?o"):
        assert bound(pattern, VCARD).limit == 1, pattern


def test_a_star_of_functional_properties_has_sensitivity_1_at_every_distance() -> None:
    names = ("family", "given", "title")
    functional = graphs.capped(graphs.policy(names), dict.fromkeys(names, 1))
    pattern = "?x given ?g . ?x family ?f . ?x title ?t"
    assert bound(pattern, VCARD, given=functional, predicates=names).limit == 1


def test_public_facts_alone_have_sensitivity_0() -> None:
    names = ("likes", "tag")
    public = graphs.policy(names, public=names)
    found = bound("?u likes ?p . ?p tag ?t", SOCIAL, given=public, predicates=names)
    assert found.is_public


def test_a_public_predicate_does_not_move_and_its_frequency_does_not_grow() -> None:
    names = ("likes", "tag")
    public = graphs.policy(names, public=("tag",))
    found = bound("?u likes ?p . ?p tag ?t", SOCIAL, given=public, predicates=names)
    assert [found.at(k) for k in (0, 1, 9)] == [2, 2, 2]


def test_a_fact_is_also_one_of_the_variable_predicate() -> None:
    """`b p b` comes as `?x p ?y`, as `?y ?q ?z`, and as both: a bound for each alone is too low."""
    facts = graph("a p b", "b q a")
    everything = [(s, p, o) for s in "ab" for p in "pq" for o in "ab"]
    assert local("?x p ?y . ?y ?q ?z", facts, everything) == 3
    assert bound("?x p ?y . ?y ?q ?z", facts).at(0) == 3
    assert bound("?x p ?y . ?y q ?z", facts).at(0) == 1


def test_a_cycle_is_closed_by_facts_that_are_known_from_both_ends() -> None:
    """With two of three facts of a triangle the third is there or not: no frequency is needed."""
    pattern = "?a knows ?b . ?b likes ?c . ?a tag ?c"
    found = bound(pattern, SOCIAL, predicates=("knows", "likes", "tag"))
    assert found.growth.degree == 1
    assert (
        bound(pattern, SOCIAL, predicates=("knows", "likes", "tag"), rule="elastic").growth.degree
        == 2
    )


def test_shared_values_tie_all_patterns_of_a_star_to_each_other() -> None:
    """From the second pattern to the third, though the query was joined by way of the first."""
    names = ("p", "q", "r")
    functional = graphs.capped(graphs.policy(names), {"q": 1, "r": 1})
    found = bound(
        "?x p ?a . ?x q ?b . ?x r ?c",
        graph("a p b c", "a q b", "a r b"),
        given=functional,
        predicates=names,
    )
    assert [found.at(k) for k in (0, 3)] == [2, 5]


def test_the_bound_grows_with_the_distance_and_falls_with_epsilon_and_delta() -> None:
    for pattern, (facts, *_) in BY_HAND.items():
        found = bound(pattern, facts)
        values = [found.at(k) for k in range(40)]
        assert values == sorted(values)
        sizes = [
            smooth(found.growth, beta=choose_beta(each, 1e-6)).bound for each in (0.1, 0.5, 1, 2)
        ]
        assert sizes == sorted(sizes, reverse=True)
        scales = [2 * size / each for size, each in zip(sizes, (0.1, 0.5, 1, 2), strict=True)]
        assert all(more > less for more, less in pairwise(scales))
        likely = [
            smooth(found.growth, beta=choose_beta(1, each)).bound for each in (1e-9, 1e-6, 1e-3)
        ]
        assert likely == sorted(likely, reverse=True)


def test_the_measured_frequency_is_the_largest_and_not_that_of_the_last_term() -> None:
    facts = graph("a p 1", "b p 1 2", "c p 1 2 3")
    database = duckdb.connect()
    database.execute('CREATE TABLE "ex:p" (subject VARCHAR, object VARCHAR)')
    database.executemany('INSERT INTO "ex:p" VALUES (?, ?)', [(s, o) for s, _, o in facts])
    target = Target(policy=graphs.policy(("p",)))
    for column in ("subject", "object"):
        query = target.text(_frequency_query("ex:p", column))
        assert database.execute(query).fetchall() == [(3,)]
    assert graphs.frequencies(facts, ("p",))["ex:p", "subject"] == 3


def test_a_variable_predicate_without_a_frequency_is_refused() -> None:
    declared = graphs.policy(("p", "q"))
    asked = graphs.question("?x p ?y . ?y ?q ?z", declared)
    known = graphs.facts_of(declared, graph("a p b"), ("p", "q"))
    without = {place: n for place, n in known.measured.items() if place[0] != ANY_PREDICATE}
    with pytest.raises(QueryRefused) as refused:
        elastic_sensitivity(asked, asked.aggregates[0], facts=DeclaredFacts(declared, without))
    assert refused.value.code == "CEL-Q060"
