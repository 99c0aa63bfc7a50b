"""Thresholds, chances and weights of private keys, to the printed digits and exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, log1p

import pytest

from celosia.core.errors import InputError
from celosia.logs.private import GaussianKeys, LaplaceKeys, OptimalKeys, SipsKeys
from celosia.logs.private.mechanisms import noise_of
from celosia.logs.private.thresholds import (
    LEAST_DEVIATION,
    MOST_KEYS,
    MOST_ROUNDS,
    SLACK,
    STEPS,
    WORD,
    exponential_below,
    gaussian_deviation,
    gaussian_threshold,
    korolova_printed,
    korolova_threshold,
    share_of_delta,
    weights,
)
from celosia.mechanisms.statistics.key_histogram import KeyHistogram

E_ABOVE = Fraction(271828182845904523536028747136, 10**29)


def test_thresholds_of_laplace_noise() -> None:
    """Check 27, first half."""
    assert [round(korolova_threshold(1, 1e-5, m), 3) for m in (1, 5, 20)] == [
        11.820, 63.146, 277.310,
    ]  # fmt: skip
    assert [round(korolova_printed(1, 1e-5, m), 3) for m in (1, 5, 20)] == [11.820, 67.146, 296.310]
    assert LaplaceKeys(epsilon=1, delta=1e-5).threshold == 13
    assert LaplaceKeys(epsilon=0.5, delta=1e-6).threshold == 28
    assert KeyHistogram(epsilon=1, delta=1e-6).threshold == 14
    # The tails at these thresholds: e^(-eps k) / (1 + e^-eps).
    assert LaplaceKeys(epsilon=1, delta=1e-5).chance(1) == pytest.approx(4.49e-6, rel=1e-3)
    assert LaplaceKeys(epsilon=0.5, delta=1e-6).chance(1) == pytest.approx(8.53e-7, rel=1e-3)


def test_chances_of_the_optimal_rule() -> None:
    """Check 27, second half."""
    for per_person, half, certain in ((1, 12, 23), (5, 55, 110), (20, 217, 434)):
        rule = OptimalKeys(epsilon=1, delta=1e-5, per_person=per_person)
        assert (rule.least_persons, rule.certain_persons) == (half, certain)
    rule = OptimalKeys(epsilon=1, delta=1e-5)
    laplace = LaplaceKeys(epsilon=1, delta=1e-5)
    assert rule.chance(12) == pytest.approx(0.760, abs=5e-4)
    threshold = korolova_threshold(1, 1e-5)
    for persons in range(41):
        gap = threshold - persons
        continuous = 1 - exp(-gap) / 2 if gap < 0 else exp(-gap) / 2
        continuous = 1 - exp(gap) / 2 if gap < 0 else continuous
        assert rule.chance(persons) >= (continuous if persons else 0) - 1e-12
        assert rule.chance(persons) >= laplace.chance(persons) - 1e-12


@pytest.mark.parametrize("per_person", [1, 7])
def test_the_optimal_rule_keeps_both_inequalities_exactly(per_person: int) -> None:
    """Between n and n + 1 persons, in rational numbers, with e^eps taken from above for epsilon 1.

    The chances of (eps / m, delta_1) are those of eps = 1 / m: e^(1/m) is at least 1 + 1/m + ...
    """
    rule = OptimalKeys(epsilon=per_person, delta=1e-4, per_person=per_person)  # eps / m = 1
    delta = share_of_delta(1e-4, per_person)
    chances = [Fraction(int(each), WORD) for each in rule.chances[:-1]] + [Fraction(1)]
    assert exponential_below(Fraction(1)) < E_ABOVE
    for one, other in pairwise(chances):
        assert other <= E_ABOVE * one + delta
        assert 1 - one <= E_ABOVE * (1 - other) + delta
        assert one <= other


@pytest.mark.parametrize("per_person", [1, 2, 20, 64, 65, 5000])
def test_shares_of_delta_never_make_more_than_delta(per_person: int) -> None:
    share = share_of_delta(1e-5, per_person)
    assert share > 0
    exact = -expm1(per_person * log1p(-float(share)))
    assert exact <= 1e-5 * (1 + 1e-9)
    assert float(share) * per_person > 0.99e-5


def test_the_weighted_gaussian() -> None:
    """Check 28, first half."""
    assert gaussian_deviation(1, 5e-6) == pytest.approx(3.88414, abs=5e-6)
    sigma = gaussian_deviation(1, 5e-6)
    found = [round(gaussian_threshold(sigma, 5e-6, m), 3) for m in (1, 20, 100)]
    assert found == [18.157, 19.747, 20.790]
    assert gaussian_threshold(sigma, 5e-6, 20) == pytest.approx(19.7465, abs=5e-5)
    made = GaussianKeys(epsilon=1, delta=1e-5, per_person=20)
    # What is drawn is never tighter than the formula, and looser by a hair only.
    assert sigma <= made.sigma < sigma * 1.00001
    assert 19.7465 <= made.threshold < 19.748


def test_rounds_together_cost_what_one_union_costs() -> None:
    """Gaussian noise of rounds composes to 1 / s^2 = sum of 1 / s_i^2, chances of delta add up."""
    for rounds in (1, 3, MOST_ROUNDS):
        made = SipsKeys(epsilon=1, delta=1e-5, per_person=20, rounds=rounds)
        assert sum(made.shares) == 1
        total = sum(STEPS**2 / float(law.parameter) for law, _ in made.laws)
        assert total <= 1 / made.sigma**2
        assert total > 0.9999 / made.sigma**2
        for share, (law, steps) in zip(made.shares, made.laws, strict=True):
            deviation = float(law.parameter) ** 0.5 / STEPS
            least = gaussian_threshold(deviation, 5e-6 * float(share), 20)
            assert least < steps / STEPS < least + 1e-4
    alone = GaussianKeys(epsilon=1, delta=1e-5, per_person=20)
    assert SipsKeys(epsilon=1, delta=1e-5, per_person=20, rounds=1).laws == (
        (alone.law, alone.threshold_steps),
    )


def test_the_slack_covers_the_grid_of_the_noise() -> None:
    """The factors of the proof of `SLACK`, for as many keys, rounds and little noise as allowed."""
    steps = LEAST_DEVIATION * STEPS
    exponent = MOST_ROUNDS * MOST_KEYS * (1 + 40**2) / (24 * steps**2)
    assert exponent < 2.0**-21 < SLACK - 1
    assert float(noise_of(1e-9).parameter) >= steps**2


def test_weights_are_rounded_down_so_that_a_person_moves_by_one_at_most() -> None:
    steps = weights(100)
    for items in range(1, 101):
        assert items * int(steps[items]) ** 2 <= STEPS**2
        assert items * (int(steps[items]) + 1) ** 2 > STEPS**2


@pytest.mark.parametrize(
    "given",
    [{"epsilon": 0}, {"epsilon": float("inf")}, {"delta": 0}, {"delta": 1}, {"per_person": 0}],
)
def test_parameters_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError) as caught:
        GaussianKeys(**({"epsilon": 1, "delta": 1e-5} | given))  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"
