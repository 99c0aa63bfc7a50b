"""Entities of graphs: no change of one of them moves a count by more than the bound of stars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from math import sqrt
from random import Random
from typing import Any

import pytest
from sqlglot import exp
from tests.effort import examples
from tests.queries.bounds import graphs
from tests.queries.bounds.graphs import Graph, Triple, count, graph, triples, universe
from tests.queries.sparql.graphs import EX, Both

from celosia.core.errors import QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries.algebra import Key
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.star_schema import find_required_links, star_bound
from celosia.queries.emission import Target
from celosia.queries.planning.aggregates import find_required_totals
from celosia.queries.planning.plan import StepContext
from celosia.queries.planning.star_schema import StarSchemaStep, most_linked_query
from celosia.queries.policy.values import Policy

TERMS = ("a", "b", "c")
PREDICATES = ("p", "q", "r")
EVERYTHING = universe(TERMS, PREDICATES)
POLICY = graphs.policy(PREDICATES, entity=True)
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
APART = {"A": ("p",), "B": ("q",), "C": ("r",)}
"""Classes of one predicate each."""


def classed(policy: Policy, classes: Mapping[str, Iterable[str]]) -> Policy:
    assert policy.graph is not None
    named = tuple((name, tuple(f"ex:{each}" for each in some)) for name, some in classes.items())
    return replace(policy, graph=replace(policy.graph, classes=named))


def linked(pattern: str, facts: Iterable[Triple]) -> dict[str, int]:
    """For each pattern, the most entities of its star that it links to one value, by counting."""
    parts, given = triples(pattern), list(facts)
    found = {}
    for number, part in enumerate(parts, start=1):
        star = [each for each in parts if each[0] == part[0]]
        entities: dict[str, set[str]] = {}
        for subject, _, value in _matching(part, given):
            if all(any(s == subject for s, _, _ in _matching(each, given)) for each in star):
                entities.setdefault(value, set()).add(subject)
        found[f"t{number}"] = max(map(len, entities.values()), default=0)
    return found


def _matching(part: Triple, facts: Iterable[Triple]) -> Iterator[Triple]:
    for fact in facts:
        seen: dict[str, str] = {}
        pairs = zip(part, fact, strict=True)
        if all((seen.setdefault(t, v) if t[0] == "?" else t) == v for t, v in pairs):
            yield fact


def bound(
    pattern: str,
    facts: Graph,
    *,
    counted: str = "DISTINCT ?x",
    policy: Policy = POLICY,
    one_class_each: bool = False,
) -> Growth:
    question = graphs.question(pattern, policy, counted)
    return star_bound(
        question, policy=policy, measured=linked(pattern, facts), one_class_each=one_class_each
    )


def changed(facts: Graph, stars: Mapping[str, Sequence[frozenset[Triple]]]) -> Iterator[Graph]:
    """Every graph in which one entity has other facts, out of some."""
    for entity, offered in stars.items():
        others = frozenset(each for each in facts if each[0] != entity)
        yield from (others | star for star in offered if others | star != facts)


def extremes(private: Iterable[Triple]) -> dict[str, list[frozenset[Triple]]]:
    """No facts, or all: a count grows with the facts, so no other change moves it more."""
    given = list(private)
    return {
        term: [frozenset(), frozenset(each for each in given if each[0] == term)] for term in TERMS
    }


def local(pattern: str, facts: Graph, others: Iterable[Graph], distinct: str | None = "?x") -> int:
    here = count(pattern, facts, distinct)
    return max((abs(here - count(pattern, each, distinct)) for each in others), default=0)


def drawn(random: Random, everything: Sequence[Triple] = EVERYTHING) -> Graph:
    return frozenset(random.sample(everything, random.randrange(1, len(everything) // 2)))


def of_one_class(random: Random) -> Graph:
    """A graph in which each entity has facts of one predicate only."""
    classes = {term: random.choice(PREDICATES) for term in TERMS}
    return frozenset(each for each in drawn(random) if each[1] == classes[each[0]])


CLASSED = classed(POLICY, APART)
CHAINS = {"?x p ?y . ?y q ?z": ("t1",), "?x p ?y . ?y q ?z . ?z r ?w": ("t1", "t2")}


@pytest.mark.parametrize("pattern", CHAINS)
def test_a_chain_of_classes_has_the_product_of_its_links(pattern: str) -> None:
    everybody = {
        term: [
            frozenset(),
            *(frozenset((term, predicate, each) for each in TERMS) for predicate in PREDICATES),
        ]
        for term in TERMS
    }
    reached = 0
    for seed in range(250):
        facts = of_one_class(Random(seed))
        found = bound(pattern, facts, policy=CLASSED, one_class_each=True)
        mp = linked(pattern, facts)
        for k in (1, 2, 9):
            expected = 1
            for link in CHAINS[pattern]:
                expected *= mp[link] + k
            assert found.at(k) == expected
        others = list(changed(facts, everybody))
        assert local(pattern, facts, others) <= found.at(0), seed
        reached += local(pattern, facts, others) == found.at(0)
        if seed < 40:
            nearby = (local(pattern, each, changed(each, everybody)) for each in others)
            assert max(nearby) <= found.at(1), seed
    assert reached > 0  # attained, so that no smaller bound would do


def test_an_entity_in_two_stars_moves_what_both_of_them_move() -> None:
    """Classes that nothing enforces are not relied upon: `b` is both a root and linked to."""
    facts = graph("a p b", "b p b", "b q a")
    pattern = "?x p ?y . ?y q ?z"
    others = list(changed(facts, extremes(EVERYTHING)))
    assert (
        local(
            pattern, graph("a p b", "c p b"), changed(graph("a p b", "c p b"), extremes(EVERYTHING))
        )
        == 3
    )
    found = bound(pattern, facts)
    assert local(pattern, facts, others) <= found.at(0) == 3
    assert bound(pattern, graph("a p b", "c p b")).at(0) == 3
    largest_alone = bound(pattern, graph("a p b", "c p b"), policy=CLASSED, one_class_each=True)
    assert largest_alone.at(0) == 2


TREES = (
    "?x p ?y . ?y q ?z",
    "?x p ?y . ?y p ?z",
    "?x p ?y . ?x q ?w . ?w r ?v",
    "?x p ?y . ?y q ?z . ?y r ?w",
    "?x p ?y . ?y q ?z . ?z r ?w",
    "?x p ?y . ?y q ?x",
    "?x p ?y . ?x q ?y . ?y r ?z",
    "?x p ?y . ?y q ?z . ?x r ?z",
    "?x p a . ?x q ?y . ?y r b",
    "?x p ?x . ?x q ?y",
    "?x p a . ?x q ?y . a r ?y",
    "?x p ?y . ?x q ?z . ?y r ?w . ?z r ?w",
    "?x ?s ?y . ?y q ?z",
    "?x p ?y . ?y ?s ?z",
)


def random_pattern(random: Random) -> str:
    places = ["?x", "?y", "?z", "?x", "?y", "a"]
    return " . ".join(
        f"{random.choice(places)} {random.choice([*PREDICATES, '?s'])} {random.choice(places)}"
        for _ in range(random.choice([1, 2, 3, 3, 4]))
    )


def test_no_change_of_an_entity_moves_a_count_of_roots_by_more_than_the_bound() -> None:
    tried = reached = 0
    everybody = extremes(EVERYTHING)
    wanted = examples(1400)
    for seed in range(wanted):
        random = Random(seed)
        pattern = random.choice(TREES) if seed % 2 else random_pattern(random)
        facts = drawn(random)
        try:
            found = bound(pattern, facts)
        except QueryRefused:
            continue
        others = list(changed(facts, everybody))
        true = local(pattern, facts, others)
        assert true <= found.at(0), (seed, pattern)
        tried += 1
        reached += true == found.at(0)
        if seed < 120:
            nearby = (local(pattern, each, changed(each, everybody)) for each in others)
            assert max(nearby, default=0) <= found.at(1), (seed, pattern)
    assert tried > wanted / 2
    assert reached > wanted / 14


@pytest.mark.parametrize("public", PREDICATES)
def test_public_facts_belong_to_nobody(public: str) -> None:
    policy = graphs.policy(PREDICATES, entity=True, public=(public,))
    private = [each for each in EVERYTHING if each[1] != public]
    tried = 0
    for seed in range(600):
        random = Random(seed)
        pattern, facts = random.choice(TREES[:12]), drawn(random)
        try:
            found = bound(pattern, facts, policy=policy)
        except QueryRefused:
            continue
        kept = frozenset(each for each in facts if each[1] == public)
        others = [each | kept for each in changed(facts - kept, extremes(private))]
        assert local(pattern, facts, others) <= found.at(0), (seed, pattern)
        tried += 1
    assert tried > 300


def test_a_public_star_may_lead_to_what_is_counted() -> None:
    """`a` is no entity whose facts could leave, so it only says which roots are counted."""
    policy = graphs.policy(PREDICATES, entity=True, public=("r",))
    found = bound("?x p ?y . a r ?x", graph("b p c", "a r b"), policy=policy)
    assert found.limit == 1


CAPS = {"p": 2, "q": 1, "r": 1}


def legal_stars(term: str) -> list[frozenset[Triple]]:
    """All facts that an entity may have under the caps."""
    each = [
        [
            frozenset((term, predicate, value) for value in some)
            for some in chain.from_iterable(combinations(TERMS, n) for n in range(most + 1))
        ]
        for predicate, most in CAPS.items()
    ]
    return [frozenset().union(*some) for some in product(*each)]


@pytest.mark.parametrize(
    ("counted", "variable"), [("*", None), ("DISTINCT ?y", "?y"), ("DISTINCT ?x", "?x")]
)
def test_caps_on_the_facts_of_a_subject_bound_every_count(
    counted: str, variable: str | None
) -> None:
    policy = graphs.capped(POLICY, CAPS)
    stars = {term: legal_stars(term) for term in TERMS}
    tried = 0
    for seed in range(120):
        random = Random(seed)
        pattern = random.choice([each for each in TREES if "?s" not in each and "?y" in each])
        facts = frozenset().union(*(random.choice(stars[term]) for term in TERMS))
        found = bound(pattern, facts, policy=policy, counted=counted)
        true = local(pattern, facts, changed(facts, stars), variable)
        assert true <= found.at(0), (seed, pattern)
        tried += 1
    assert tried == 120


REFUSED = {
    "CEL-Q072": [
        ("?x p ?y . ?y q ?z", "DISTINCT ?y"),
        ("?x p ?y . ?z q ?y", "DISTINCT ?x"),
        ("?y p ?x . ?x q ?z", "DISTINCT ?x"),
        ("a p ?x . ?x q ?z", "DISTINCT ?x"),
        ("?x p ?y", "DISTINCT ?y"),
    ],
    "CEL-Q073": [("?x p ?y . ?y q ?z", "*"), ("?x p ?y", "*")],
}


@pytest.mark.parametrize(
    ("code", "pattern", "counted"),
    [(code, *each) for code, some in REFUSED.items() for each in some],
)
def test_what_has_no_bound_is_refused(code: str, pattern: str, counted: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        bound(pattern, graph("a p b", "b q c"), counted=counted)
    assert refused.value.code == code


def test_a_count_that_is_not_of_roots_is_as_sensitive_as_an_entity_has_links() -> None:
    facts = graph("a p a b c")
    assert local("?x p ?y", facts, changed(facts, extremes(EVERYTHING)), "?y") == 3


def test_groups_sums_and_other_policies_are_refused() -> None:
    question = graphs.question("?x p ?y", POLICY, "DISTINCT ?x")
    for given, policy, code in (
        (replace(question, keys=(Key("y", exp.column("object", table="t1")),)), POLICY, "CEL-Q070"),
        (
            replace(question, aggregates=(replace(question.aggregates[0], kind="sum"),)),
            POLICY,
            "CEL-Q070",
        ),
        (question, graphs.policy(PREDICATES), "CEL-Q070"),
    ):
        with pytest.raises(QueryRefused) as refused:
            star_bound(given, policy=policy, measured={})
        assert refused.value.code == code


def test_a_star_of_two_classes_is_refused_where_entities_keep_to_one() -> None:
    with pytest.raises(QueryRefused) as refused:
        bound("?x p ?y . ?x q ?z", graph("a p b"), policy=CLASSED, one_class_each=True)
    assert refused.value.key == "CEL-Q070.no_class"


def test_a_cap_on_objects_is_refused() -> None:
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, most=3) if each.name == "object" else each for each in table.columns
            ),
        )
        for table in POLICY.tables
    )
    with pytest.raises(QueryRefused) as refused:
        bound("?x p ?y", graph("a p b"), policy=replace(POLICY, tables=tables))
    assert refused.value.key == "CEL-Q070.cap"


def test_one_star_has_sensitivity_1_at_every_distance() -> None:
    assert bound("?x p ?y . ?x q ?z . ?x r a", graph("a p b")).limit == 1


def stored(facts: Iterable[Triple], policy: Policy = POLICY) -> Both:
    return Both([tuple(f"<{EX}{term}>" for term in each) for each in facts], policy)


def test_the_engine_measures_links_as_they_are_counted() -> None:
    target = Target(policy=POLICY)
    for seed in range(30):
        random = Random(seed)
        pattern, facts = random.choice(TREES), drawn(random)
        question = graphs.question(pattern, POLICY, "DISTINCT ?x")
        stars, links = find_required_links(question, policy=POLICY)
        database, expected = stored(facts).duckdb, linked(pattern, facts)
        for link in links:
            query = target.text(most_linked_query(stars, link, target=target))
            assert database.execute(query).fetchall() == [(expected[link.name],)], (seed, pattern)


def test_a_step_asks_once_and_adds_noise_of_the_smooth_bound() -> None:
    pattern = "?x p ?y . ?y q ?z"
    facts = graph("a p b", "c p b", "b q a", "a q c")
    question = graphs.question(pattern, POLICY, "DISTINCT ?x")
    target = Target(policy=POLICY)
    step = StarSchemaStep(
        context=StepContext(question=question, target=target),
        totals=tuple(find_required_totals(question, target).totals),
        epsilon=EPSILON,
        delta=DELTA,
    )
    asked: list[Any] = []
    step.measure(
        lambda query: asked.append(query) or [(0, 0)],  # type: ignore[func-returns-value]
        group_keys=None,
        rng=Seeded(1),
    )
    (query,) = asked
    answer = stored(facts).duckdb.execute(target.text(query)).fetchall()
    assert answer == [(count(pattern, facts, "?x"), linked(pattern, facts)["t1"])]

    size = smooth(bound(pattern, facts), beta=choose_beta(EPSILON, DELTA)).bound
    rng = Seeded(5)
    errors = [
        step.measure(lambda _: answer, group_keys=None, rng=rng)[0].values[0] - answer[0][0]
        for _ in range(1600)
    ]
    # The size of Laplace noise of scale b has the standard deviation b. Four of those of the mean
    # tell the truth from 0.8 and 1.25 of it, which takes 4 (1 + 1.25) / sqrt(n) < 0.25: n > 1296.
    mean = sum(map(abs, errors)) / len(errors)
    tolerance = 4 / sqrt(len(errors))
    for wrong, accepted in ((1.0, True), (0.8, False), (1.25, False)):
        scale = wrong * float(2 * size / EPSILON)
        assert (abs(mean / scale - 1) < tolerance) is accepted, wrong
