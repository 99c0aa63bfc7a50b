"""The discrete planar Laplace law: its constants, its exact sampler, its promise."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isqrt, log, sqrt
from typing import Any

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.mechanisms.noise._kernels import one_laplace
from celosia.traces.planar import (
    DiscretePlanarLaplace,
    _kernels,
    continuous_quantile,
    exact,
    rate_of,
)

EPSILON = log(4) / 200
HALF = DiscretePlanarLaplace(Fraction(1, 2))


@pytest.mark.parametrize(
    ("share", "metres"), [(0.5, 242.13), (0.9, 561.17), (0.95, 684.39), (0.99, 957.71)]
)
def test_the_continuous_law_has_its_known_quantiles(share: float, metres: float) -> None:
    assert continuous_quantile(share, EPSILON) == pytest.approx(metres, abs=0.01)  # check 1


def test_constants_of_the_discrete_law() -> None:  # check 2
    assert HALF.normaliser == pytest.approx(25.246545, abs=1e-6)
    assert DiscretePlanarLaplace(Fraction(1)).mass(0, 0) == pytest.approx(0.153675, abs=1e-6)
    assert DiscretePlanarLaplace(Fraction(2)).mean_radius == pytest.approx(0.698125, abs=1e-6)
    assert DiscretePlanarLaplace(Fraction(1, 10)).acceptance == pytest.approx(0.76909, abs=1e-5)


def _statistic(x: np.ndarray, y: np.ndarray, rate: float) -> tuple[float, int]:
    """Pearson's chi squared over the cells with expectation above 5, and how many they are."""
    reach = 15
    total = x.size
    side = np.arange(-reach, reach + 1)
    mass = np.exp(-rate * np.hypot(side[:, None], side[None, :]))
    mass /= DiscretePlanarLaplace(Fraction(rate)).normaliser
    inside = (abs(x) <= reach) & (abs(y) <= reach)
    seen = np.zeros(mass.shape)
    np.add.at(seen, (x[inside] + reach, y[inside] + reach), 1)
    used = mass * total > 5
    return float(((seen - total * mass)[used] ** 2 / (total * mass)[used]).sum()), int(used.sum())


def test_draws_follow_the_law_and_no_other() -> None:  # check 3
    x, y = HALF.draw(40_000, Seeded(11))
    value, cells = _statistic(x, y, 0.5)
    assert cells == 421
    # Chi squared with 421 - 1 + 1 degrees has the deviation sqrt(2 * 421): six of them, 1e-9.
    assert abs(value - cells) < 6 * sqrt(2 * cells)
    for wrong in (0.4, 0.625):  # the rate scaled by 0.8 and by 1.25
        assert _statistic(x, y, wrong)[0] > cells + 60 * sqrt(2 * cells)


def test_the_share_of_accepted_proposals() -> None:  # check 3
    units = Seeded(3).words(800_000).view(np.uint32)
    at = tried = kept = 0
    while tried < 40_000:
        a, at = one_laplace(units, at, *exact.scale(1, 2))
        b, at = one_laplace(units, at, *exact.scale(1, 2))
        was_kept, at = exact.accepted(units, at, (int(a), int(b)), 1, 2)
        tried, kept = tried + 1, kept + was_kept
    # The standard error of a share of 40,000 trials is sqrt(0.7577 * 0.2423 / 40000) = 0.0021.
    assert kept / tried == pytest.approx(0.7577, abs=0.005)
    assert HALF.acceptance == pytest.approx(0.7577, abs=0.0001)


def test_no_two_places_are_told_apart_by_more_than_their_distance() -> None:  # check 4
    """All pairs of places of a window, whose border has the tails of the law."""
    law, side, reach = DiscretePlanarLaplace(Fraction(3, 10)), 7, 130
    axis = range(-reach, reach + 1)
    mass = np.array([[law.mass(a, b) for b in axis] for a in axis])
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    places = [(a, b) for a in range(side) for b in range(side)]
    chances = np.log([_clamped(mass, place, side) for place in places])
    for one, place in enumerate(places):
        for other, there in enumerate(places):
            promised = 0.3 * np.hypot(place[0] - there[0], place[1] - there[1])
            assert np.abs(chances[one] - chances[other]).max() <= promised + 1e-12


def _clamped(weight: np.ndarray, place: tuple[int, int], side: int) -> np.ndarray:
    """The chances of each cell of a square map when draws are moved to the nearest one."""
    reach = np.arange(len(weight)) - len(weight) // 2
    found = np.zeros((side, side))
    x = np.clip(place[0] + reach, 0, side - 1)
    y = np.clip(place[1] + reach, 0, side - 1)
    np.add.at(found, (x[:, None], y[None, :]), weight)
    return np.asarray(found / weight.sum())


def test_clamping_keeps_the_promise_and_drawing_again_breaks_it() -> None:  # checks 4 and 5
    t, side = 0.1, 121
    corner, other = (0, 0), (40, 40)
    promised = t * np.hypot(40, 40)
    assert promised == pytest.approx(5.657, abs=0.001)
    reach = np.arange(-400, 401)
    weight = np.exp(-t * np.hypot(reach[:, None], reach[None, :]))
    near, far = _clamped(weight, corner, side), _clamped(weight, other, side)
    assert np.abs(np.log(near / far)).max() <= promised + 1e-9
    # Drawn again until inside: the normaliser depends on the true place.
    axis = np.arange(side)
    weights = [
        np.exp(-t * np.hypot(axis[:, None] - a, axis[None, :] - b)) for a, b in (corner, other)
    ]
    again = [each / each.sum() for each in weights]
    assert np.abs(np.log(again[0] / again[1])).max() == pytest.approx(6.946, abs=0.01)


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(72681, 2**20), Fraction(7, 5)])
def test_the_exact_and_the_batch_path_agree_draw_for_draw(rate: Fraction) -> None:  # check 5
    law = DiscretePlanarLaplace(rate)
    fast, slow = law.draw(1500, Seeded(5)), law.draw_exactly(1500, Seeded(5))
    assert (fast[0] == slow[0]).all()
    assert (fast[1] == slow[1]).all()


def test_a_draw_that_floats_cannot_decide_is_decided_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = DiscretePlanarLaplace(Fraction(1, 2))
    expected = law.draw_exactly(300, Seeded(9))

    def unsure(*given: Any) -> tuple[int, int, int]:
        xs, _, done = given[-3:]
        return done, 0, int(done < xs.size)

    monkeypatch.setattr(_kernels, "planar", unsure)
    found = law.draw(300, Seeded(9))
    assert (found[0] == expected[0]).all()
    assert (found[1] == expected[1]).all()


def test_the_floor_of_gamma_is_that_of_a_hundred_digits() -> None:
    from decimal import Decimal, getcontext

    getcontext().prec = 100
    for a, b in [(3, 4), (120, 1), (99, 101), (5, 0)]:
        p, q = 72681, 2**20
        gamma = Decimal(p) / q * (Decimal(a * a + b * b).sqrt() - Decimal(7) / 10 * (a + b))
        whole = (isqrt(100 * p * p * (a * a + b * b)) - 7 * p * (a + b)) // (10 * q)
        assert whole == int(gamma)


def test_the_rate_never_promises_less_noise_than_the_level() -> None:
    for times, within, step in ((4, 200, 10.0), (2, 1000, 1.0), (10, 50, 25.0)):
        rate = rate_of(times, within, step)
        assert 0 <= log(times) * step / within - float(rate) < 2**-19


def test_system_entropy_draws_too() -> None:
    x, y = HALF.draw(2000, System())
    # The mean radius is 3.973, its deviation below 3: six standard errors of 2000 draws.
    assert np.hypot(x, y).mean() == pytest.approx(HALF.mean_radius, abs=6 * 3 / sqrt(2000))
    assert abs(exp(-0.5) - HALF.mass(1, 0) / HALF.mass(0, 0)) < 1e-12


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 2**20), Fraction(100)])
def test_rates_out_of_reach_are_refused(rate: Fraction) -> None:
    with pytest.raises(InputError, match="level for each step"):
        DiscretePlanarLaplace(rate)
