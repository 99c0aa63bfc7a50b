"""Eight defects of earlier SPARQL code (engineering notes, section 3), and that we have none."""

from __future__ import annotations

from fractions import Fraction
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.randomness import Seeded
from celosia.lab.sparql.defects import chosen_at_1, discounted_once_more, joined_as_coded
from celosia.lab.sparql.graphs import (
    example,
    graph,
    local_sensitivity,
    policy_of,
    sparql_of,
)
from celosia.lab.sparql.original_analysis import patterns
from celosia.lab.sparql.small_graphs import bound
from celosia.queries.bounds.growth import Leaf, largest, product
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.star_schema import star_bound
from celosia.queries.planning import make_plan
from celosia.queries.request import QueryRequest
from celosia.queries.sparql import compile as compiled

SIZES = st.integers(0, 50)


@given(SIZES, SIZES, SIZES, SIZES)
def test_1_the_larger_of_two_polynomials_is_taken_at_every_distance(
    a: int, b: int, c: int, d: int
) -> None:
    parts = [Leaf(a * b, grows=True), product([Leaf(c, grows=True), Leaf(d, grows=True)])]
    both = largest(parts)
    for distance in (0, 1, 2, 10, 100):
        assert both.at(distance) == max(each.at(distance) for each in parts)


def test_1_one_polynomial_for_both_is_too_low() -> None:
    parts = [Leaf(1000, grows=True), product([Leaf(1, grows=True)] * 3)]
    rate = choose_beta(0.1, 1e-8)
    kept, whole = smooth(chosen_at_1(parts), beta=rate), smooth(largest(parts), beta=rate)
    assert whole.bound > 1000 * kept.bound


def test_2_a_bound_is_discounted_for_its_own_distance() -> None:
    found = smooth(Leaf(44), beta=choose_beta(8, 1e-6)).bound
    assert found == 44
    assert discounted_once_more(Leaf(44), epsilon=8, delta=1e-6) < 0.8 * float(found)
    growth = Leaf(250, grows=True)
    assert isclose(float(smooth(growth, beta=choose_beta(0.1, 1e-8)).bound), 270.459, rel_tol=1e-5)


@pytest.mark.parametrize(("left", "right"), [(2, 3), (4, 5)])
def test_3_the_frequency_after_a_join_is_a_product(left: int, right: int) -> None:
    many = [f"b{n} r c{m}" for n in range(left) for m in range(right)]
    facts = graph("x p a", "x q " + " ".join(f"b{n}" for n in range(left)), *many)
    pattern = "?x p ?a . ?x q ?b . ?b r ?c"
    assert local_sensitivity(patterns(pattern), facts) == left * right
    assert bound(pattern, facts, rule="tight").at(0) == left * right
    assert joined_as_coded(left, right) < left * right


def test_4_a_join_of_a_predicate_with_itself_has_a_term_of_its_own() -> None:
    facts, pattern = graph("a knows c", "b knows c", "c knows d"), "?x knows ?y . ?y knows ?z"
    true = local_sensitivity(patterns(pattern), facts)
    assert joined_as_coded(2, 1) < true == bound(pattern, facts, rule="tight").at(0)


def test_5_every_epsilon_has_its_own_beta() -> None:
    policy = policy_of(["ex:p", "ex:q"])
    query = sparql_of(example("?x p ?y . ?x q ?z"))
    betas = {
        epsilon: make_plan(
            QueryRequest(query, epsilon=epsilon, delta=1e-8, method="elastic"), policy
        ).steps[0]
        for epsilon in (0.1, 1)
    }
    found = {epsilon: step.beta for epsilon, step in betas.items()}  # type: ignore[attr-defined]
    assert found == {epsilon: choose_beta(epsilon, 1e-8) for epsilon in (0.1, 1)}


def test_6_only_different_centres_of_a_star_have_sensitivity_1() -> None:
    policy = policy_of(["ex:p", "ex:q"], unit="entity")
    pattern = example("?x p ?y . ?x q ?z")
    roots = compiled(sparql_of(pattern, "DISTINCT ?x"), policy)
    assert star_bound(roots, policy=policy, measured={}).limit == 1
    for counted in ("*", "?x", "DISTINCT ?y"):
        plan = make_plan(QueryRequest(sparql_of(pattern, counted), epsilon=1), policy)
        assert "counts once" not in str(plan.parts[0].bound)
    (part,) = make_plan(QueryRequest(sparql_of(pattern, "DISTINCT ?x"), epsilon=1), policy).parts
    assert part.bound == "each entity counts once"


def test_7_noise_of_any_scale_is_whole_and_beyond_doubles() -> None:
    noise = smooth_noise(Fraction(10**30, 7), epsilon=1, size=50, rng=Seeded(1))
    assert all(type(each) is int for each in noise)
    # Of whole numbers near 10^30 one in 2^47 is a double: none of fifty.
    assert not any(float(each) == each for each in noise)
    assert {each % 2 for each in noise} == {0, 1}


def test_8_delta_is_what_is_asked_for_and_no_plan_sees_the_graph() -> None:
    """A plan is made without a store: there is no size of the graph to take delta from."""
    policy = policy_of(["ex:p", "ex:q"])
    query = sparql_of(example("?x p ?y . ?x q ?z"))
    for delta in (1e-6, 1e-9):
        plan = make_plan(QueryRequest(query, epsilon=1, delta=delta), policy)
        assert plan.method == "elastic"
        assert float(plan.delta) == delta
