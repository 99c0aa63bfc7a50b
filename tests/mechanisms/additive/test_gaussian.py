"""Real numbers with Gaussian noise on a grid."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isqrt, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import kstest, norm
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.gaussian import Gaussian, least_deviation
from celosia.mechanisms.grid import Grid


def analytic(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least continuous deviation: Balle & Wang 2018, Thm 8, solved by scipy."""

    def excess(sigma: float) -> float:
        half, slope = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
        far = exp(epsilon + norm.logcdf(-half - slope))
        return float(norm.cdf(half - slope) - far - delta)

    return float(brentq(excess, 1e-3 * sensitivity, 1e9 * sensitivity, xtol=1e-12, rtol=1e-12))


def discrete_delta(sigma: float, shift: int, epsilon: float) -> float:
    """The hockey-stick divergence of two discrete Gaussians, summed point by point."""
    edge = int(40 * sigma) + shift + 2
    points = np.arange(-edge, edge + 1, dtype=np.float64)
    one, other = (np.exp(-((points - at) ** 2) / (2 * sigma**2)) for at in (0, shift))
    total = one.sum()
    return float(np.maximum(one - exp(epsilon) * other, 0).sum() / total)


CASES = [
    (0.01, 1e-5, 1.0),
    (0.1, 1e-5, 3.0),
    (0.5, 1e-6, 0.1),
    (1.0, 1e-6, 1.0),
    (4.0, 1e-9, 200_000.0),
    (8.0, 1e-5, 1.0),
]


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), CASES)
def test_a_fine_grid_has_the_deviation_of_the_analytic_mechanism(
    epsilon: float, delta: float, sensitivity: float
) -> None:
    mechanism = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    wanted = analytic(epsilon, delta, sensitivity)
    assert wanted * (1 - 1e-9) <= mechanism.sigma <= wanted * (1 + 1e-5)


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), CASES)
def test_it_beats_the_classical_calibration(
    epsilon: float, delta: float, sensitivity: float
) -> None:
    sigma = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity).sigma
    assert sigma < sensitivity * sqrt(2 * log(1.25 / delta)) / epsilon


@given(
    st.floats(0.05, 8),
    st.sampled_from([1e-3, 1e-5, 1e-8]),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 7), Fraction(3)]),
)
@settings(max_examples=40, deadline=None)
def test_the_deviation_is_the_least_for_the_noise_that_is_drawn(
    epsilon: float, delta: float, step: Fraction
) -> None:
    mechanism = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, grid=Grid(step))
    steps = mechanism.sigma / float(step)
    assert mechanism.shift == -((-1) // step) + 1
    assert discrete_delta(steps, mechanism.shift, epsilon) <= delta * (1 + 1e-9)
    # On a coarse grid delta does not always fall as the noise grows, but just below it is too much.
    less = (0.99, 0.995, 0.999, 0.9999)
    assert any(discrete_delta(part * steps, mechanism.shift, epsilon) > delta for part in less)


def test_the_loss_gives_the_delta_that_was_asked() -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    loss = mechanism.privacy_loss()
    assert loss == GaussianLoss(mechanism.law.parameter, mechanism.shift)
    assert 0.999e-6 < loss.delta(1.0) <= 1e-6
    assert loss.epsilon(1e-6) <= 1 + 1e-9


@pytest.mark.parametrize("dimension", [2, 10, 1000])
def test_several_coordinates_are_calibrated_by_rho(dimension: int) -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=2, dimension=dimension)
    loss = mechanism.privacy_loss()
    assert isinstance(loss, ConcentratedLoss)
    assert loss.delta(1.0) <= 1e-6
    assert loss.epsilon(1e-6) == pytest.approx(1, abs=1e-4)
    # Never below what one direction needs, and not much above it.
    alone = Gaussian(epsilon=1, delta=1e-6, sensitivity=2)
    assert alone.sigma < mechanism.sigma < 1.1 * alone.sigma


def test_one_coordinate_of_many_costs_what_one_costs() -> None:
    bins = Gaussian(epsilon=1, delta=1e-6, sensitivity=1, dimension=50, one_coordinate=True)
    assert bins.sigma == Gaussian(epsilon=1, delta=1e-6, sensitivity=1).sigma
    assert isinstance(bins.privacy_loss(), GaussianLoss)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9), st.data())
def test_neighbouring_lists_never_lie_farther_apart_than_the_noise_hides(
    values: list[float], data: st.DataObject
) -> None:
    size = len(values)
    mechanism = Gaussian(
        epsilon=1, delta=1e-6, sensitivity=2, dimension=size, grid=Grid(Fraction(1, 10))
    )
    parts = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size)))
    other = np.array(values) + 1.999 * parts / max(1.0, float(np.linalg.norm(parts)))
    where = mechanism.resolution
    moved = where.indices(np.array(values)) - where.indices(other)
    assert int((moved**2).sum()) <= mechanism.shift**2
    length = isqrt(size) + 1  # of one step a coordinate, and half a step more on a decimal grid
    assert mechanism.shift <= 21 + length + (length + 1) // 2


@pytest.mark.parametrize("delta", [0, 1, -0.1, float("nan"), "1e-6", None])
def test_a_bad_delta_is_refused_on_creation(delta: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Gaussian(epsilon=1, delta=delta, sensitivity=1)
    assert refusal.value.code == "CEL-I060"


@pytest.mark.parametrize("bad", [float("nan"), "1", None, 1e300])
def test_what_is_no_number_on_the_grid_is_refused_before_any_noise(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Gaussian(epsilon=1, delta=1e-6, sensitivity=1).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M009"


def test_outputs_lie_on_the_grid() -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1, dimension=1000)
    step = float(mechanism.resolution.step)
    for true in (0.0, 1.0, 1 / 3):
        noisy = mechanism.release(np.full(1000, true), rng=Seeded(6))
        assert np.all(noisy / step % 1 == 0)
    one = Gaussian(epsilon=1, delta=1e-6, sensitivity=1).release(0.1, rng=Seeded(6))
    assert isinstance(one, float)


@pytest.mark.statistical
def test_the_noise_has_the_normal_law_and_not_a_narrower_or_wider_one() -> None:
    size = 50_000
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1, dimension=size, one_coordinate=True)
    noise = mechanism.release(np.zeros(size), rng=Seeded(8))
    # Massart 1990: exceeded once in 10,000.
    far = sqrt(log(2 / 1e-4) / (2 * size)) + 1e-6
    for times, fits in ((1.0, True), (0.8, False), (1.25, False)):
        law = norm(scale=times * mechanism.sigma)
        assert (kstest(noise, law.cdf).statistic < far) == fits
    # Kurtosis 3: the relative deviation of the variance is sqrt(2 / n).
    assert np.var(noise) == pytest.approx(mechanism.variance, rel=4 * sqrt(2 / size))


@pytest.mark.statistical
def test_no_coordinate_exceeds_the_bound_as_often_as_said() -> None:
    mechanism = Gaussian(
        epsilon=1, delta=1e-6, sensitivity=1, dimension=100_000, one_coordinate=True
    )
    rows = np.abs(mechanism.release(np.zeros(100_000), rng=Seeded(18))).reshape(2000, 50)
    error = mechanism.accuracy(0.9, size=50)
    exact = float(norm.isf(-np.expm1(np.log(0.9) / 50) / 2)) * mechanism.sigma
    assert error == pytest.approx(exact, rel=1e-5)
    assert abs(np.mean(rows.max(axis=1) > error) - 0.1) < 4 * sqrt(0.1 * 0.9 / 2000)


def test_a_search_for_the_deviation_ends_at_the_least_that_can_be_drawn() -> None:
    assert least_deviation(lambda deviation: True, around=5) == Fraction(1, 1024)


def test_a_wide_delta_still_gives_noise() -> None:
    mechanism = Gaussian(epsilon=100, delta=0.99, sensitivity=1, grid=Grid(Fraction(1)))
    assert isinstance(mechanism.release(4, rng=Seeded(1)), float)
