"""Mironov 2012, "On Significance of the Least Significant Bits for Differential Privacy".

A float Laplace draw added to the true value leaves holes: some outputs can come from one true value
and not from another. For the true value 1 every output in (0, 1/4) is a multiple of 2^-54, because
the float next to -1 is no finer; for the true value 0 most outputs are not. Noise on a grid that
does not depend on the value has no holes.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteLaplace

SIZE = 200_000
GRID = Grid(Fraction(1, 1024))


def naive(value: float, seed: int) -> NDArray[np.float64]:
    return value + np.random.default_rng(seed).laplace(scale=1.0, size=SIZE)


def ours(value: float, seed: int) -> NDArray[np.float64]:
    noise = DiscreteLaplace(1 / GRID.step).draw(SIZE, Seeded(seed))
    return GRID.values(GRID.index(value) + noise)


def impossible_under_one(outputs: NDArray[np.float64]) -> float:
    """The share of outputs in (0, 1/4) that float noise on the value 1 cannot make."""
    window = outputs[(outputs > 0) & (outputs < 0.25)]
    assert window.size > 5000
    scaled = window * 2.0**54  # exact: a power of two
    return float((scaled != np.floor(scaled)).mean())


@pytest.mark.statistical
def test_float_noise_tells_the_true_value_with_certainty() -> None:
    assert impossible_under_one(naive(1.0, seed=1)) == 0
    share = impossible_under_one(naive(0.0, seed=2))
    assert 0.6 < share < 0.75  # 67 % was measured; 4.9 standard deviations of 20,000 are 0.016


def test_noise_on_the_grid_tells_nothing() -> None:
    zero, one = ours(0.0, seed=3), ours(1.0, seed=4)
    assert impossible_under_one(zero) == impossible_under_one(one) == 0
    for outputs in (zero, one):
        steps = outputs / float(GRID.step)
        assert np.array_equal(steps, np.floor(steps))


def test_every_grid_point_is_possible_under_both_values_within_the_loss() -> None:
    law, steps = DiscreteLaplace(1 / GRID.step), GRID.index(1.0)
    for point in range(-3000, 4000, 7):
        loss = log(law.mass(point) / law.mass(point - steps))
        assert abs(loss) <= 1 + 1e-12  # epsilon = sensitivity / scale = 1
    window = range(1, GRID.index(0.25))
    for seed, value in ((5, 0.0), (6, 1.0)):
        seen = set(GRID.indices(ours(value, seed)).tolist())
        # Each of the 255 points is expected 35 times or more, so one is missed once in e^35/255.
        assert seen.issuperset(window)
