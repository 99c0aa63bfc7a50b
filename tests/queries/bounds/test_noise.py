"""Noise of a secret scale: its privacy by exact sums, and its law."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import asinh, ceil, exp, floor

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.bounds.noise import LEAST_SCALE, smooth_noise, smooth_scale, wide_laplace
from celosia.queries.bounds.smooth_sensitivity import choose_beta


def mass(scale: float, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """The discrete Laplace law in closed form."""
    found: NDArray[np.float64] = np.tanh(1 / (2 * scale)) * np.exp(-np.abs(points) / scale)
    return found


def failure(epsilon: float, here: float, there: float, shift: int) -> float:
    """The least delta for outputs with scales `here` and `there` around 0 and `shift`."""
    reach = ceil(80 * max(here, there)) + shift
    points = np.arange(-reach, reach + 1)
    gained = mass(here, points) - exp(epsilon) * mass(there, points - shift)
    return float(gained[gained > 0].sum())


CASES = list(product([0.1, 0.5, 1.0, 2.0, 5.0, 12.0], [1e-2, 1e-4, 1e-7], [0.4, 1.0, 2.5, 30.0]))


def worst(epsilon: float, bound: float, rate: float) -> float:
    """The least delta of neighbours whose bounds are as far apart as a rate allows."""
    bounds = bound, bound * exp(rate)
    scales = [float(smooth_scale(Fraction(each), epsilon=epsilon)) for each in bounds]
    return max(
        failure(epsilon, here, there, shift)
        for here, there in (scales, scales[::-1], (scales[0], scales[0]))
        for shift in {0, 1, floor(bound)}
        if shift <= bound
    )


@pytest.mark.parametrize(("epsilon", "delta", "bound"), CASES)
def test_neighbours_are_told_apart_with_chance_delta_at_most(
    epsilon: float, delta: float, bound: float
) -> None:
    assert worst(epsilon, bound, float(choose_beta(epsilon, delta))) <= delta


def test_a_bound_that_falls_too_fast_would_be_found_out() -> None:
    broken = [
        case
        for case in CASES
        if worst(case[0], case[2], 1.5 * float(choose_beta(*case[:2]))) > case[1]
    ]
    assert broken


def test_two_cells_with_the_radius_of_one_would_fail_and_with_their_own_do_not() -> None:
    """FIX-9, at an epsilon where 2-dimensional sums are short."""
    epsilon, delta, bound = 2.0, 1e-2, 2.0

    def told_apart(rate: float) -> float:
        here, there = (2 * each / epsilon for each in (bound * exp(rate), bound))
        points = np.arange(-120, 121)
        first = np.multiply.outer(mass(here, points), mass(here, points))
        moved = mass(there, points - 2)
        gained = first - exp(epsilon) * np.multiply.outer(moved, mass(there, points))
        return float(gained[gained > 0].sum())

    assert told_apart(float(choose_beta(epsilon, delta, cells=2))) <= delta
    assert choose_beta(epsilon, delta, cells=2) < choose_beta(epsilon, delta)


def test_the_least_scale_is_where_the_proof_begins() -> None:
    assert 1 / asinh(2) < LEAST_SCALE < 1.02 / asinh(2)
    assert smooth_scale(Fraction(1), epsilon=100) == LEAST_SCALE
    assert smooth_scale(Fraction(1), epsilon=1) == 2


def test_public_answers_get_no_noise_and_others_do() -> None:
    assert smooth_noise(Fraction(0), epsilon=1, size=3, rng=Seeded(1)) == (0, 0, 0)
    assert any(smooth_noise(Fraction(5), epsilon=0.1, size=3, rng=Seeded(1)))


@pytest.mark.statistical
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.8, False), (1.25, False)])
def test_noise_has_the_scale_of_twice_the_bound_over_epsilon(factor: float, holds: bool) -> None:
    """|z| has mean s and deviation s: 4 standard errors of 20000 draws are 0.028 s."""
    noise = smooth_noise(Fraction(300), epsilon=0.5, size=20_000, rng=Seeded(3))
    mean = float(np.abs(noise).mean())
    assert (abs(mean / (1200 * factor) - 1) < 0.03) is holds


@pytest.mark.statistical
def test_wide_noise_has_the_exact_law() -> None:
    """Chi-square of 20000 draws of a small scale on its cells, at one in a thousand."""
    scale, size, rng = 3, 20_000, Seeded(11)
    draws = np.array([wide_laplace(scale, rng) for _ in range(size)])
    law = DiscreteLaplace(Fraction(scale))
    cells = range(-12, 13)
    counts = [int((draws == cell).sum()) for cell in cells]
    expected = [size * law.mass(cell) for cell in cells]
    counts += [int((draws < -12).sum()), int((draws > 12).sum())]
    expected += [size * law.tail(13)] * 2
    statistic = sum((a - b) ** 2 / b for a, b in zip(counts, expected, strict=True))
    assert statistic < chi2.isf(1e-3, len(counts) - 1)


@pytest.mark.statistical
def test_noise_beyond_64_bits_is_drawn_and_not_refused() -> None:
    """Refusing would tell that frequencies are high. Mean |z| within 4 standard errors of 2000."""
    noise = smooth_noise(Fraction(10**25), epsilon=0.1, size=2_000, rng=Seeded(5))
    scale = 2 * 10**26
    assert abs(sum(abs(each) for each in noise) / len(noise) / scale - 1) < 4 / 2000**0.5
    assert max(noise) > 2**63
    assert len({each % 1024 for each in noise}) > 700  # no coarse grid that tells the scale


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "1", True])
def test_a_bad_epsilon_is_refused_before_any_noise(epsilon: object) -> None:
    with pytest.raises(InputError):
        smooth_noise(Fraction(1), epsilon=epsilon, rng=Seeded(1))
