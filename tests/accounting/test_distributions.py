"""Distributions of the loss on a grid: they may only round against us."""

from __future__ import annotations

from math import exp, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.distributions import (
    MOST_POINTS,
    LossDistribution,
    _convolve,
    distribution_from_curve,
    distribution_from_losses,
    fitting_step,
)

masses = st.lists(st.floats(0, 1), min_size=2, max_size=30).filter(lambda values: sum(values) > 0.1)


def made(values: list[float], lowest: int = -9, step: float = 0.125) -> LossDistribution:
    mass = np.array(values) / sum(values)
    return LossDistribution(step, lowest, mass * 0.999, 0.001)


def height(grid: LossDistribution, epsilon: float) -> float:
    losses = (grid.lowest + np.arange(len(grid.mass))) * grid.step
    gains = np.maximum(0.0, 1 - np.exp(epsilon - losses))
    return float(grid.infinity + (gains * grid.mass).sum())


@given(masses, st.floats(0, 4))
def test_delta_is_the_sum_of_its_definition(values: list[float], epsilon: float) -> None:
    grid = made(values)
    assert grid.delta(epsilon) == pytest.approx(height(grid, epsilon), rel=1e-9, abs=1e-12)


@given(masses, st.floats(0.0011, 0.9))
def test_epsilon_is_the_least_one_that_a_delta_allows(values: list[float], delta: float) -> None:
    grid = made(values)
    epsilon = grid.epsilon(delta)
    assert height(grid, epsilon) <= delta + 1e-12
    if epsilon > 1e-9:
        assert height(grid, epsilon * (1 - 1e-6)) > delta - 1e-9


def test_a_delta_below_the_infinite_mass_allows_no_epsilon() -> None:
    assert made([1.0, 1.0]).epsilon(0.0005) == inf


@given(masses, st.integers(-20, 20), st.floats(0, 4))
def test_a_coarser_grid_only_raises_the_curve(
    values: list[float], lowest: int, epsilon: float
) -> None:
    grid = made(values, lowest)
    coarse = grid.coarsen()
    assert coarse.step == 2 * grid.step
    assert coarse.mass.sum() == pytest.approx(grid.mass.sum())
    assert height(coarse, epsilon) >= height(grid, epsilon) - 1e-12
    # On the coarser grid itself the curve does not move.
    shared = round(epsilon / coarse.step) * coarse.step
    assert height(coarse, shared) == pytest.approx(height(grid, shared), abs=1e-12)


@settings(max_examples=50)
@given(masses, masses, st.floats(0, 4))
def test_composition_is_the_sum_over_all_pairs(
    one: list[float], two: list[float], epsilon: float
) -> None:
    first, second = made(one), made(two, lowest=-3)
    exact = 1 - 0.999**2
    for i, mass in enumerate(first.mass):
        for j, other in enumerate(second.mass):
            loss = (first.lowest + i + second.lowest + j) * first.step
            exact += mass * other * max(0.0, 1 - exp(epsilon - loss))
    assert height(first.compose(second), epsilon) == pytest.approx(exact, abs=1e-12)


def test_trimming_moves_mass_up_only() -> None:
    mass = np.array([1e-18, 0.5, 0.5, 1e-18])
    grid = LossDistribution(1.0, 0, mass, 0.0).trim()
    assert (grid.lowest, len(grid.mass)) == (1, 2)
    assert grid.infinity == pytest.approx(1e-18)


def test_the_rounding_errors_of_a_fast_convolution_are_put_to_infinity() -> None:
    one = np.exp(-(((np.arange(6000) - 3000) / 500) ** 2) / 2)
    two = np.exp(-(((np.arange(800) - 400) / 90) ** 2) / 2)
    one, two = one / one.sum(), two / two.sum()
    exact = np.zeros(len(one) + len(two) - 1, dtype=np.longdouble)
    for place, amount in enumerate(two):
        exact[place : place + len(one)] += np.longdouble(amount) * one.astype(np.longdouble)
    found, allowance = _convolve(one, two)
    missing = float(np.abs(found - exact).sum())
    assert missing < allowance < 1e-13


@given(st.floats(0.01, 3), st.sampled_from([0.25, 0.1, 2.0**-6]), st.floats(0, 4))
def test_losses_between_points_are_split_against_us(
    loss: float, step: float, epsilon: float
) -> None:
    chance = 1 / (1 + exp(-loss))
    grid = distribution_from_losses([loss, -loss], [chance, 1 - chance], infinity=0.0, step=step)
    exact = chance * max(0.0, 1 - exp(epsilon - loss))
    assert height(grid, epsilon) >= exact - 1e-12
    lower = (grid.mass * np.exp(-(grid.lowest + np.arange(len(grid.mass))) * step)).sum()
    assert grid.mass.sum() == pytest.approx(1)
    assert lower == pytest.approx(1)  # the other neighbour's mass is kept as well


def test_connected_dots_keep_both_masses_and_the_curve_at_the_dots() -> None:
    def curve(epsilon: np.ndarray) -> np.ndarray:
        # Continuous Laplace noise.
        return np.asarray(np.maximum(0.0, 1 - np.exp((epsilon - 1.0) / 2)))

    grid = distribution_from_curve(curve, reach=1.0, step=2.0**-7)
    losses = (grid.lowest + np.arange(len(grid.mass))) * grid.step
    assert grid.mass.sum() + grid.infinity == pytest.approx(1)
    assert (grid.mass * np.exp(-losses)).sum() == pytest.approx(1)
    for epsilon in np.arange(0, 1, 2.0**-4):
        assert height(grid, epsilon) == pytest.approx(float(curve(np.array(epsilon))), abs=1e-12)
    for epsilon in np.linspace(0, 1, 77):
        assert height(grid, epsilon) >= float(curve(np.array(epsilon))) - 1e-12


def test_a_curve_that_is_not_convex_gets_more_mass_not_less() -> None:
    def curve(epsilon: np.ndarray) -> np.ndarray:
        return np.where(epsilon < 0.5, 0.3, 0.0)

    # A curve of a release is convex; where it is bounded by one that is not, the bound counts at
    # the dots, and the release is below the chords between them.
    grid = distribution_from_curve(curve, reach=1.0, step=0.125)
    for epsilon in np.arange(0, 1, 0.125):
        assert height(grid, epsilon) >= float(curve(np.array(epsilon))) - 1e-12


def test_a_step_grows_until_the_losses_fit_into_memory() -> None:
    assert fitting_step(1e-4, 5.0) == 1e-4
    assert 2 * 1e6 / fitting_step(1e-4, 1e6) <= MOST_POINTS
