"""Counts with Gaussian noise at a price of rho."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.gaussian import GaussianCounts
from celosia.mechanisms.sensitivities import counts


def test_the_variance_is_the_square_of_the_move_over_twice_rho() -> None:
    assert GaussianCounts(rho=0.1).law.parameter == 5
    assert GaussianCounts(rho=0.5, sensitivity=2).law.parameter == 4


@given(st.integers(1, 10**6))
def test_the_length_of_many_counts_is_read_without_loss(queries: int) -> None:
    for length in (sqrt(queries), counts(queries, norm=2)):
        mechanism = GaussianCounts(rho=0.5, sensitivity=length)
        assert mechanism.square == queries
        assert mechanism.law.parameter == queries


def test_the_loss_is_that_of_one_coordinate_only_where_one_can_move() -> None:
    assert GaussianCounts(rho=0.1).privacy_loss() == GaussianLoss(Fraction(5), 1)
    spread = GaussianCounts(rho=0.1, sensitivity=2)
    assert spread.privacy_loss() == ConcentratedLoss(Fraction(1, 10))
    for one in (
        GaussianCounts(rho=0.1, sensitivity=2, dimension=1),
        GaussianCounts(rho=0.1, sensitivity=2, one_coordinate=True),
    ):
        assert one.privacy_loss() == GaussianLoss(Fraction(20), 2)


@pytest.mark.parametrize("rho", [0.01, 0.3, 1.5])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_no_renyi_divergence_exceeds_the_order_times_rho(rho: float, sensitivity: int) -> None:
    law = GaussianCounts(rho=rho, sensitivity=sensitivity).law
    edge = int(60 * sqrt(law.parameter)) + 60
    points = np.arange(-edge, edge + 1, dtype=np.float64)
    variance = float(law.parameter)
    one = -(points**2) / (2 * variance)
    other = -((points - sensitivity) ** 2) / (2 * variance)
    total = np.exp(one).sum()
    for order in (1.5, 2.0, 8.0):
        exponents = order * one + (1 - order) * other
        top = exponents.max()
        divergence = (top + log(np.exp(exponents - top).sum() / total)) / (order - 1)
        assert divergence <= order * rho * (1 + 1e-9)
    # The bound is met at whole orders, where the summands are again a discrete Gaussian.
    assert divergence == pytest.approx(order * rho, rel=1e-9)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"rho": 0}, "CEL-I060"),
        ({"rho": "1"}, "CEL-I060"),
        ({"rho": 1, "sensitivity": 0.5}, "CEL-I060"),
        ({"rho": 1, "sensitivity": None}, "CEL-I060"),
        ({"rho": 1, "dimension": 1.5}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused_on_creation(bad: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refusal:
        GaussianCounts(**bad)
    assert refusal.value.code == code


@pytest.mark.parametrize("bad", [0.5, float("nan"), "7", True, [1, 2.5], [None]])
def test_what_is_not_whole_is_refused_before_any_noise(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        GaussianCounts(rho=1).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M040"


def fit(noise: np.ndarray[Any, Any], variance: float) -> float:
    """Pearson's statistic over -6 .. 6 and both tails: 14 degrees of freedom."""
    weights = {place: exp(-(place**2) / (2 * variance)) for place in range(-200, 201)}
    total = sum(weights.values())
    chances = [weights[place] / total for place in range(-6, 7)]
    tail = (1 - sum(chances)) / 2
    counted = [np.sum(noise == place) for place in range(-6, 7)]
    counted += [np.sum(noise < -6), np.sum(noise > 6)]
    return float(
        sum(
            (seen - noise.size * chance) ** 2 / (noise.size * chance)
            for seen, chance in zip(counted, [*chances, tail, tail], strict=True)
        )
    )


@pytest.mark.statistical
def test_the_noise_has_the_discrete_normal_law_and_not_a_narrower_or_wider_one() -> None:
    mechanism = GaussianCounts(rho=0.05)
    noise = mechanism.release(np.full(40_000, 9), rng=Seeded(12)) - 9
    # Chi-square with 14 degrees of freedom exceeds 42.6 once in 10,000.
    assert fit(noise, 10) < 42.6
    assert fit(noise, 0.8**2 * 10) > 42.6
    assert fit(noise, 1.25**2 * 10) > 42.6
    # Kurtosis 3: the relative deviation of the variance is sqrt(2 / n).
    assert np.var(noise) == pytest.approx(mechanism.variance, rel=4 * sqrt(2 / 40_000))


def test_the_bound_on_the_error_is_the_least_whole_one() -> None:
    mechanism = GaussianCounts(rho=0.05)
    weights = np.exp(-(np.arange(-200, 201) ** 2) / 20)
    chances = weights / weights.sum()
    for size in (1, 100):
        error = int(mechanism.accuracy(0.95, size=size))
        inside = [float(chances[200 - t : 201 + t].sum()) ** size for t in (error - 1, error)]
        assert inside[0] < 0.95 <= inside[1]
        assert mechanism.failure(error, size=size) == pytest.approx(1 - inside[1], rel=1e-6)


def test_one_count_gives_a_count_with_whole_bounds() -> None:
    mechanism = GaussianCounts(rho=0.5)
    measured = mechanism.measure(7, rng=Seeded(2))
    assert isinstance(measured.value, int)
    low, high = mechanism.interval(measured)
    assert isinstance(low, int)
    assert high - low == 2 * mechanism.accuracy()
