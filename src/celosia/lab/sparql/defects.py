"""Eight defects of the SPARQL code that followed the thesis: what it does, and what is right.

Each is shown by numbers that anybody can check: the arithmetic of that code, written down as it
was read, beside ours. Reference: the public companion code of Buil-Aranda, Lobo & Olmedo 2024,
"Differential privacy and SPARQL", Semantic Web 15(3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, log

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sparql import graphs
from celosia.lab.sparql.original_analysis import patterns
from celosia.lab.sparql.small_graphs import bound
from celosia.lab.tolerance import at_least
from celosia.queries.bounds.growth import Growth, Leaf, largest, product
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.star_schema import star_bound
from celosia.queries.planning import make_plan
from celosia.queries.request import QueryRequest
from celosia.queries.sparql import compile as compiled

compare_equal, compare_printed = comparing("program")

EPSILON, DELTA = 0.1, 1e-8
STAR = graphs.graph("e p a b c", "e q a b c d")
"""One entity with three facts of one predicate and four of another."""


def rows(progress: Progress) -> list[Row]:
    """The eight, one after the other."""
    return [
        *_one_of_two(),
        *_shifted(),
        *_one_side(),
        *_self_joins(),
        *_one_beta(),
        *_stars(),
        *_floats(),
        *_delta(),
    ]


def _polynomial(*frequencies: int) -> Growth:
    return product([Leaf(each, grows=True) for each in frequencies])


def chosen_at_1(parts: Sequence[Growth]) -> Growth:
    """The defect: of two polynomials that which is larger at 1 stands for both."""
    return max(parts, key=lambda each: each.at(1))


def _one_of_two() -> Iterator[Row]:
    run = Message("lab.sparql.1_one_of_two_polynomials_is")
    parts = [Leaf(1000, grows=True), _polynomial(1, 1, 1)]
    kept = smooth(chosen_at_1(parts), beta=choose_beta(EPSILON, DELTA))
    whole = smooth(largest(parts), beta=choose_beta(EPSILON, DELTA))
    yield compare_equal(
        run, "lab.sparql.the_one_that_is_larger_at", "1000 + k", _format_growth(chosen_at_1(parts))
    )
    yield compare_equal(run, "lab.sparql.its_smooth_bound", 1000, int(kept.bound))
    ratio = float(whole.bound / kept.bound)
    cell = Message("lab.sparql.true_smooth_bound_over_it")
    yield compare(run, cell, 1000, ratio, at_least(1000), kind="program")


def _format_growth(growth: Growth) -> str:
    return f"{growth.at(0)} + k" if growth.at(1) == growth.at(0) + 1 else str(growth)


def discounted_once_more(growth: Growth, *, epsilon: float, delta: float) -> float:
    """The defect: the bound at distance i is discounted for distance i + 1."""
    rate = epsilon / (2 * log(2 / delta))
    top = int(growth.degree / rate) + 2
    return max(exp(-rate * (i + 1)) * growth.at(i) for i in range(top))


def _shifted() -> Iterator[Row]:
    run = Message("lab.sparql.2_the_discount_is_one_distance")
    growth = Leaf(44)
    found = discounted_once_more(growth, epsilon=8, delta=1e-6)
    yield compare_equal(
        run, "lab.sparql.a_sensitivity_of_44_that_never", 44, _smooth(growth, 8, 1e-6)
    )
    yield compare_printed(run, "lab.sparql.the_same_discounted_ahead_too_little", "33.4", found)


def _smooth(growth: Growth, epsilon: float, delta: float) -> int:
    return int(smooth(growth, beta=choose_beta(epsilon, delta)).bound)


def joined_as_coded(left: int, right: int) -> int:
    """The defects: after a join one side stands for the product; a self-join is as any other."""
    return max(left, right)


def _one_side() -> Iterator[Row]:
    """Three patterns in a row: x has two q, each of these has three r."""
    run = Message("lab.sparql.3_the_frequency_after_a_join")
    facts = graphs.graph("x p a", "x q b1 b2", *(f"b{n} r c{m}" for n in (1, 2) for m in (1, 2, 3)))
    pattern = "?x p ?a . ?x q ?b . ?b r ?c"
    one_more = graphs.count(patterns(pattern), facts | {("x", "p", "new")}) - graphs.count(
        patterns(pattern), facts
    )
    yield compare_equal(run, "lab.sparql.solutions_that_one_fact_adds", 6, one_more)
    yield compare_equal(run, "lab.sparql.frequency_of_a_as_coded", 3, joined_as_coded(2, 3))
    ours = int(bound(pattern, facts, rule="tight").at(0))
    yield compare_equal(run, "lab.sparql.our_bound", 6, ours)


def _self_joins() -> Iterator[Row]:
    run = Message("lab.sparql.4_joins_of_a_predicate_with")
    facts = graphs.graph("a knows c", "b knows c", "c knows d")
    pattern = "?x knows ?y . ?y knows ?z"
    yield compare_equal(
        run, "lab.sparql.true_sensitivity", 4, graphs.local_sensitivity(patterns(pattern), facts)
    )
    yield compare_equal(run, "lab.sparql.bound_as_coded", 2, joined_as_coded(2, 1))
    yield compare_equal(
        run, "lab.sparql.our_bound", 4, int(bound(pattern, facts, rule="tight").at(0))
    )


def _one_beta() -> Iterator[Row]:
    run = Message("lab.sparql.5_one_beta_for_all_epsilons")
    growth = _polynomial(5, 5)
    at_one = smooth(growth, beta=choose_beta(1, DELTA)).bound
    at_tenth = smooth(growth, beta=choose_beta(EPSILON, DELTA)).bound
    ratio = float(at_tenth / at_one)
    cell = Message("lab.sparql.bound_at_0_1_over_that")
    yield compare(run, cell, 50, ratio, at_least(50), kind="program")


def _stars() -> Iterator[Row]:
    """Right only for the number of different centres."""
    run = Message("lab.sparql.6_every_star_has_sensitivity_1")
    pattern = "?x p ?y . ?x q ?z"
    lost = graphs.count(patterns(pattern), STAR) - graphs.count(patterns(pattern), graphs.graph())
    yield compare_equal(run, "lab.sparql.solutions_that_leave_with_one_entity", 12, lost)
    policy = graphs.policy_of(["ex:p", "ex:q"], unit="entity")
    roots = compiled(graphs.sparql_of(graphs.example(pattern), "DISTINCT ?x"), policy)
    yield compare_equal(
        run,
        "lab.sparql.different_centres_bound",
        1,
        star_bound(roots, policy=policy, measured={}).at(9),
    )
    plan = make_plan(QueryRequest(graphs.sparql_of(graphs.example(pattern)), epsilon=1), policy)
    yield compare_equal(
        run, "lab.sparql.all_solutions_not_by_that_bound", "chosen-cap", plan.method
    )


def _floats() -> Iterator[Row]:
    """Noise in doubles has gaps that depend on the answer; ours is a whole number for any scale."""
    run = Message("lab.sparql.7_noise_by_the_inverse_of")
    noise = smooth_noise(Fraction(10**30, 7), epsilon=1, size=50, rng=Seeded(1))
    kinds = ", ".join(sorted({type(each).__name__ for each in noise}))
    yield compare_equal(run, "lab.sparql.what_our_noise_is_made_of", "int", kinds)
    gaps = sum(float(each) != each for each in noise)
    cell = Message("lab.sparql.draws_of_ours_that_no_double")
    yield compare(run, cell, 45, gaps, at_least(45), kind="program")


def _delta() -> Iterator[Row]:
    run = Message("lab.sparql.8_delta_from_the_size_of")
    sizes = (1000, 1001)
    betas = [float(choose_beta(EPSILON, Fraction(1, size**2))) for size in sizes]
    yield compare_equal(
        run, "lab.sparql.neighbours_get_the_same_beta_as", "no", _yes(betas[0] == betas[1])
    )
    policy = graphs.policy_of(["ex:p", "ex:q"])
    query = graphs.sparql_of(graphs.example("?x p ?y . ?x q ?z"))
    plans = [make_plan(QueryRequest(query, epsilon=1, delta=DELTA), policy) for _ in sizes]
    deltas = {float(plan.delta) for plan in plans}
    yield compare_equal(
        run, "lab.sparql.our_delta_what_is_asked_for", "1e-08", f"{max(deltas):.0e}"
    )


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
