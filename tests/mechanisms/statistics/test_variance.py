"""A private variance and its root."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exact_laws import RELATIONS, Release, measured, pairs, worst_log_ratio

from celosia.accounting.losses import ComposedLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.statistics.variance import StandardDeviation, Variance

__all__ = ["measured"]


def released(variance: Variance, rows: Any, measured: Release) -> list[int]:
    """The exact whole numbers that noise is added to."""
    parts = measured(variance, rows, [0] * len(variance.noises)).parts
    half, width = variance.span.grid.step / 2, variance.span.width
    numbers = [
        round(Fraction(parts["centred_sum"]) / half),
        round(Fraction(parts["centred_squares"]) / (half**2 * width / 2)),
    ]
    return numbers if variance.counts_are_public else [*numbers, parts["count"]]


@RELATIONS
@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (-1, 2), (100, 101)])
def test_the_exact_loss_of_a_variance_is_within_epsilon(
    lower: int, upper: int, neighbours: Neighbours, measured: Release
) -> None:
    variance = Variance(
        epsilon=0.8,
        lower=lower,
        upper=upper,
        grid=Grid(Fraction(1, 4)),
        neighbours=neighbours,
        may_be_empty=True,
    )
    values = (np.arange(4 * lower - 1, 4 * upper + 2) / 4).tolist()
    scales = [law.scale for law in variance.noises]
    worst = 0.0
    for one, two in pairs(values, 1, neighbours.relation):
        exact = [released(variance, table, measured) for table in (one, two)]
        worst = max(worst, worst_log_ratio(exact[0], exact[1], scales))
    assert worst <= 0.8 * (1 + 1e-12)
    if neighbours == ADD_REMOVE:  # a row at a bound moves all three sums by the most
        assert worst == pytest.approx(0.8, rel=1e-12)


@RELATIONS
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1, 0.7])
def test_the_shares_add_up_to_epsilon_also_as_floats(
    neighbours: Neighbours, epsilon: float
) -> None:
    loss = Variance(epsilon=epsilon, lower=0, upper=3, neighbours=neighbours).privacy_loss()
    assert isinstance(loss, ComposedLoss)
    assert loss.pure == epsilon


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=30))
def test_without_noise_the_variance_is_that_of_the_clipped_rows(rows: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "celosia.mechanisms.statistics.variance.draw_noise", lambda laws, rng: [0 for _ in laws]
        )
        for neighbours in (ADD_REMOVE, CHANGE_ONE):
            variance = Variance(epsilon=1, lower=-3, upper=5, neighbours=neighbours)
            found = variance.release(rows, rng=Seeded(1))
            # A row is off by half a step of 2^-17 at most, its square by 2^-21 of the largest.
            expected = float(np.var(np.clip(rows, -3, 5)))
            assert found == pytest.approx(expected, abs=16 * 2.0**-17)
            assert 0 <= found <= 16


def test_results_stay_between_zero_and_the_largest_variance(measured: Release) -> None:
    variance = Variance(epsilon=1, lower=0, upper=2, grid=Grid(Fraction(1)))
    assert measured(variance, [0, 2], [0, 0, 0]).value == 1
    assert measured(variance, [0, 2], [0, 500, 0]).value == 1
    assert measured(variance, [0, 2], [0, -500, 0]).value == 0
    assert measured(variance, [0, 2], [0, 0, -1]).value == 0  # a noisy count of 1


def test_no_rows_have_no_variance(measured: Release) -> None:
    variance = Variance(epsilon=1, lower=0, upper=2, may_be_empty=True)
    assert measured(variance, [], [0, 0, 0]).value == 0
    with pytest.raises(InputError) as caught:
        Variance(epsilon=1, lower=0, upper=2).release([])
    assert caught.value.code == "CEL-M082"


def test_a_range_whose_squares_do_not_fit_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Variance(epsilon=1, lower=0, upper=2**31, grid=Grid(Fraction(1)))
    assert caught.value.code == "CEL-M085"


@RELATIONS
@pytest.mark.statistical
def test_bounds_of_a_variance_hold_at_least_as_often_as_they_say(neighbours: Neighbours) -> None:
    runs, confidence = 400, 0.8
    rng = Seeded(29)
    rows = [20, 25, 31, 60, 79] * 200
    exact = float(np.var(rows))
    variance = Variance(epsilon=1, lower=20, upper=80, neighbours=neighbours)
    deviation = StandardDeviation(epsilon=1, lower=20, upper=80, neighbours=neighbours)
    error = variance.accuracy(confidence, size=len(rows))
    assert error < 100  # far below the largest variance of 900
    hits = near = also = 0
    for _ in range(runs):
        found = variance.measure(rows, rng=rng)
        low, high = variance.interval(found, confidence)
        assert 0 <= low <= high <= 900
        hits += low <= exact <= high
        near += abs(found.value - exact) <= error
        root = deviation.measure(rows, rng=rng)
        low, high = deviation.interval(root, confidence)
        also += low <= sqrt(exact) <= high
        assert abs(root.value - sqrt(exact)) < 30
    slack = 4 * sqrt(confidence * (1 - confidence) / runs)
    assert min(hits, near, also) / runs > confidence - slack


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=10),
    st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(-3, 3)),
)
def test_bounds_hold_whenever_the_noise_keeps_to_its_own(
    rows: list[int], noise: tuple[int, int, int]
) -> None:
    variance = Variance(epsilon=1, lower=0, upper=8, grid=Grid(Fraction(1)))
    errors = tuple(abs(each) for each in noise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "celosia.mechanisms.statistics.variance.draw_noise", lambda laws, rng: list(noise)
        )
        patch.setattr(Variance, "_errors", lambda self, confidence: errors)
        found = variance.measure(rows, rng=Seeded(1))
        low, high = variance.interval(found)
        error = variance.accuracy(size=len(rows))
    exact = float(np.var(rows))
    assert low - 1e-9 <= exact <= high + 1e-9
    assert abs(found.value - exact) <= error + 1e-9


def test_the_deviation_is_the_root_of_the_variance(measured: Release) -> None:
    bounds: dict[str, Any] = {"epsilon": 1, "lower": 0, "upper": 10, "grid": Grid(Fraction(1))}
    variance, deviation = Variance(**bounds), StandardDeviation(**bounds)
    one, two = (measured(each, [1, 5, 9], [1, 2, 0]) for each in (variance, deviation))
    assert two.value == sqrt(one.value)
    assert two.parts == one.parts
    assert deviation.privacy_loss() == variance.privacy_loss()
    assert deviation.accuracy(size=100) == sqrt(variance.accuracy(size=100))
    assert deviation.sensitivity == 5
