"""Remapping noisy places, and the best kernel of a small map."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.traces.planar import OptimalKernel, clamped_kernel, expected_error, remap
from celosia.traces.planar.remapping import distances, remapped

EPSILON = log(4) / 200


def square(side: int) -> np.ndarray:
    return np.array([(100.0 * (cell % side), 100.0 * (cell // side)) for cell in range(side**2)])


def test_the_errors_of_25_cells() -> None:  # check 8
    places = square(5)
    apart, prior = distances(places), np.full(25, 1 / 25)
    kernel = clamped_kernel(5, 5, EPSILON * 100)
    moved = remapped(kernel, remap(kernel, prior, apart))
    assert expected_error(kernel, prior, apart) == pytest.approx(169.23, abs=0.05)
    assert expected_error(moved, prior, apart) == pytest.approx(151.84, abs=0.05)
    best = OptimalKernel.solve(places, prior, EPSILON)
    assert best.error == pytest.approx(145.35, abs=0.05)
    # Every constraint, on the rationals that would be drawn from.
    rows = best.kernel
    assert all(sum(row) == 1 for row in rows)
    for one in range(25):
        for other in range(25):
            factor = Fraction(exp(EPSILON * apart[one, other])) * (1 + Fraction(1, 10**11))
            assert all(rows[one][z] <= factor * rows[other][z] for z in range(25))


def test_remapping_never_raises_the_expected_error() -> None:  # check 8
    generator = np.random.Generator(np.random.PCG64(1))
    apart = distances(square(4))
    kernel = clamped_kernel(4, 4, 0.5)
    for _ in range(20):
        prior = generator.random(16) ** 3
        prior /= prior.sum()
        moved = remapped(kernel, remap(kernel, prior, apart))
        assert expected_error(moved, prior, apart) <= expected_error(kernel, prior, apart) + 1e-9


@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.5, -0.5], [1.0], [float("nan"), 1.0]])
def test_priors_that_are_none_are_refused(prior: list[float]) -> None:
    with pytest.raises(InputError, match="prior"):
        OptimalKernel.solve(square(2)[:2], prior, EPSILON)


def test_a_large_map_is_refused() -> None:
    with pytest.raises(InputError, match="64 cells"):
        OptimalKernel.solve(square(8), np.full(64, 1 / 64), EPSILON)
