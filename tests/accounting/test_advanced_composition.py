"""Advanced composition with the numbers of the specification."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.advanced_composition import (
    advanced,
    advanced_corollary,
    advanced_inverse,
    advanced_mixed,
    basic,
    best_composition,
    optimal,
    optimal_delta,
)
from celosia.accounting.losses import ComposedLoss, PureLoss
from celosia.core.errors import InputError


@pytest.mark.parametrize(
    ("count", "epsilon", "slack", "total"),
    [
        (100, 0.1, 1e-5, 5.8502),
        (100, 0.1, 1e-6, 6.3082),
        (1000, 0.01, 1e-6, 1.76276),
        (1000, 0.1, 1e-6, 27.1397),
        (10, 0.1, 1e-6, 1.7674),
    ],
)
def test_the_advanced_theorem_gives_the_known_numbers(
    count: int, epsilon: float, slack: float, total: float
) -> None:
    found = advanced(count, epsilon, slack=slack)
    assert found.epsilon == pytest.approx(total, rel=2e-5)
    assert found.delta == slack


def test_deltas_of_the_mechanisms_are_added_to_the_slack() -> None:
    assert advanced(100, 0.1, slack=1e-6, delta=1e-8).delta == pytest.approx(2e-6)


def test_one_801st_is_too_much_for_ten_thousand_releases_and_one_813th_is_not() -> None:
    slack = exp(-32)
    assert advanced(10_000, 1 / 801, slack=slack).epsilon == pytest.approx(1.0143473, abs=1e-7)
    assert advanced(10_000, 1 / 813, slack=slack).epsilon == pytest.approx(0.99915, abs=1e-5)
    assert advanced(10_000, 1 / 1600, slack=slack).epsilon == pytest.approx(0.5039, abs=1e-4)


def test_the_theorem_is_inverted() -> None:
    found = advanced_inverse(10_000, 1.0, slack=exp(-32))
    assert found == pytest.approx(0.00123104, abs=1e-8)
    assert 1 / found == pytest.approx(812.32, abs=0.01)
    assert advanced(10_000, found, slack=exp(-32)).epsilon <= 1
    assert advanced_corollary(10_000, 1.0, slack=exp(-32)) == pytest.approx(1 / 1600)


@pytest.mark.parametrize(
    ("epsilon", "slack", "count"),
    [
        (0.1, 1e-5, 29),
        (0.1, 1e-6, 35),
        (0.5, 1e-5, 187),
        (0.5, 1e-6, 224),
        (0.01, 1e-5, 24),
        (0.01, 1e-6, 29),
    ],
)
def test_the_advanced_bound_wins_from_a_known_count_on(
    epsilon: float, slack: float, count: int
) -> None:
    assert best_composition(count - 1, epsilon, slack=slack).name == "basic"
    assert best_composition(count, epsilon, slack=slack).name == "advanced"


def test_the_best_of_both_is_named() -> None:
    few, many = best_composition(10, 0.1, slack=1e-6), best_composition(100, 0.1, slack=1e-6)
    assert (few.name, few.epsilon, few.delta) == ("basic", 1.0, 0.0)
    assert (many.name, many.delta) == ("advanced", 1e-6)
    assert few.as_dict()["name"] == "basic"


def test_the_optimal_theorem_is_the_formula_of_its_paper() -> None:
    count, epsilon, failure = 12, 0.3, 1e-4
    for index in range(1, count // 2 + 1):  # Kairouz, Oh & Viswanath 2015, Thm 3.3
        own = (
            sum(
                comb(count, step)
                * (exp((count - step) * epsilon) - exp((count - 2 * index + step) * epsilon))
                for step in range(index)
            )
            / (1 + exp(epsilon)) ** count
        )
        at = (count - 2 * index) * epsilon
        assert optimal_delta(count, epsilon, at=at) == pytest.approx(own, rel=1e-9)
        both = 1 - (1 - failure) ** count * (1 - own)
        assert optimal_delta(count, epsilon, at=at, delta=failure) == pytest.approx(both, rel=1e-9)


def test_the_optimal_theorem_is_the_sum_over_all_answers() -> None:
    count, epsilon, at = 6, 0.5, 0.8
    likely = exp(epsilon) / (1 + exp(epsilon))
    total = 0.0
    for answers in product((0, 1), repeat=count):
        ones = sum(answers)
        upper = likely**ones * (1 - likely) ** (count - ones)
        lower = likely ** (count - ones) * (1 - likely) ** ones
        total += max(0.0, upper - exp(at) * lower)
    assert optimal_delta(count, epsilon, at=at) == pytest.approx(total, rel=1e-12)


def test_the_optimal_total_delta_holds_the_failures() -> None:
    found = optimal(10, 0.1, slack=1e-6, delta=1e-8)
    assert found.delta == pytest.approx(1e-6 + 1e-7, rel=1e-4)
    assert optimal_delta(10, 0.1, at=found.epsilon, delta=1e-8) <= found.delta * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 100), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_no_bound_is_below_the_optimal_one(count: int, hundredth: int, slack: float) -> None:
    epsilon = hundredth / 100
    least = optimal(count, epsilon, slack=slack).epsilon
    mixed = advanced_mixed([epsilon] * count, slack=slack)
    assert least <= mixed * (1 + 1e-12)
    assert mixed <= basic(count, epsilon).epsilon * (1 + 1e-12)
    # tanh(x/2) <= e^x - 1, so the newer theorem is never worse than the older.
    assert mixed <= advanced(count, epsilon, slack=slack).epsilon * (1 + 1e-12)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=40))
def test_the_bound_for_different_epsilons_is_above_their_distribution(costs: list[int]) -> None:
    epsilons = [cost / 100 for cost in costs]
    exact = ComposedLoss(tuple(PureLoss(Fraction(cost, 100)) for cost in costs))
    assert advanced_mixed(epsilons, slack=1e-5) >= exact.epsilon(1e-5) - 1e-9


def test_different_epsilons_use_the_least_of_three_bounds() -> None:
    # Few and large: the plain sum; many and small: the root.
    assert advanced_mixed([1.0, 2.0], slack=1e-6) == 3.0
    assert advanced_mixed([0.01] * 5000, slack=1e-6) < 5.0
    # Without a small slack the third bound, with log(e + sqrt(sum of squares) / slack), wins.
    assert advanced_mixed([0.001] * 100, slack=1e-4) < 0.01 * (2 * log(1e4)) ** 0.5


def test_small_failures_are_not_lost_in_rounding() -> None:
    assert optimal_delta(10, 0.1, at=2.0, delta=1e-18) == pytest.approx(1e-17, rel=1e-9, abs=0)
    total = optimal(10, 0.1, slack=1e-18, delta=1e-20)
    assert total.delta == pytest.approx(1.1e-18, rel=1e-9, abs=0)
    assert optimal_delta(3, 0.1, at=2.0, delta=1.0) == 1.0


def test_the_optimal_delta_of_very_many_mechanisms_is_rounded_up() -> None:
    mpmath = pytest.importorskip("mpmath")
    count, epsilon, at = 10**6, 1e-3, 4.0
    with mpmath.workdps(40):
        size = mpmath.mpf(epsilon)
        chance = 1 / (1 + mpmath.exp(-size))
        likely = int((at / epsilon + count) / 2)
        term = mpmath.binomial(count, likely) * chance**likely * (1 - chance) ** (count - likely)
        expected = mpmath.mpf(0)
        while not 0 < term < expected * mpmath.mpf("1e-20"):
            expected += term * max(mpmath.mpf(0), 1 - mpmath.exp(at - (2 * likely - count) * size))
            term *= mpmath.mpf(count - likely) / (likely + 1) * chance / (1 - chance)
            likely += 1
        assert expected <= optimal_delta(count, epsilon, at=at) <= expected * (1 + 1e-6)


@pytest.mark.parametrize("slack", [0.5, 0.99, 0.9999])
def test_the_corollary_is_small_enough_for_a_large_slack_too(slack: float) -> None:
    each = advanced_corollary(10**4, 1.0, slack=slack)
    assert advanced(10**4, each, slack=slack).epsilon <= 1
    assert optimal_delta(10**4, each, at=1.0) <= slack


def test_without_a_limit_each_mechanism_may_have_any_epsilon() -> None:
    assert advanced_inverse(3, inf, slack=0.1) == inf


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: advanced(0, 1, slack=0.1), "CEL-I060"),
        (lambda: advanced(2.5, 1, slack=0.1), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: advanced(2, -1, slack=0.1), "CEL-I060"),
        (lambda: advanced(2, 1, slack=0), "CEL-I060"),
        (lambda: advanced(2, 1, slack=1), "CEL-I060"),
        (lambda: advanced(2, 1, slack=0.1, delta=2), "CEL-I060"),
        (lambda: advanced_corollary(2, 1.5, slack=0.1), "CEL-B009"),
    ],
)
def test_bad_parameters_are_refused(call: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.code == code
