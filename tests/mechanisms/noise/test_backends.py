"""Both samplers follow the exact law and one another; the tests can tell 0.8 and 1.25 times it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.mechanisms.noise import fits

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.mechanisms.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Law,
    laws,
    pool,
)

LAPLACE, GAUSSIAN = DiscreteLaplace(Fraction(20, 3)), DiscreteGaussian(Fraction(25))
SIZE = 60_000


@cache
def drawn(law: Law, backend: str) -> NDArray[np.int64]:
    if isinstance(law, DiscreteLaplace):
        if backend == "ours":
            return laws.draw_laplace(law.scale, SIZE, Seeded(1))
        return pool.opendp_laplace(law.scale, SIZE)
    assert isinstance(law, DiscreteGaussian)
    if backend == "ours":
        return laws.draw_gaussian(law.parameter, SIZE, Seeded(2))
    return pool.opendp_gaussian(law.parameter, SIZE)


def scaled(law: Law, factor: Fraction) -> Law:
    if isinstance(law, DiscreteLaplace):
        return DiscreteLaplace(law.scale * factor)
    assert isinstance(law, DiscreteGaussian)
    return DiscreteGaussian(law.parameter * factor**2)


@pytest.mark.statistical
@pytest.mark.parametrize("test", fits.TESTS)
@pytest.mark.parametrize("backend", ["ours", "opendp"])
@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_a_backend_follows_the_law_and_no_other_scale(law: Law, backend: str, test: str) -> None:
    sample, fit = drawn(law, backend), fits.TESTS[test]
    assert fit(sample, law) > fits.ALARM
    for factor in (Fraction(4, 5), Fraction(5, 4)):
        assert fit(sample, scaled(law, factor)) < fits.ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_the_backends_agree_with_one_another(law: Law) -> None:
    ours = drawn(law, "ours")
    assert fits.two_samples(ours, drawn(law, "opendp"), law) > fits.ALARM
    for factor in (Fraction(4, 5), Fraction(5, 4)):
        assert fits.two_samples(ours, drawn(scaled(law, factor), "ours"), law) < fits.ALARM


@pytest.mark.statistical
@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(Fraction(1, 2)),
        DiscreteLaplace(Fraction(123, 7)),
        DiscreteGaussian(Fraction(1, 3)),
        DiscreteGaussian(Fraction(2)),
        DiscreteGaussian(Fraction(49, 4)),
        DiscreteGaussian(Fraction(10**30 + 1, 10**30 - 7)),
    ],
    ids=str,
)
def test_our_sampler_follows_every_kind_of_rational(law: Law) -> None:
    for seed in (3, 4):
        assert fits.chi_square(law.draw(SIZE, Seeded(seed)), law) > fits.ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("exponent", [20, 50])
def test_wide_laws_have_the_right_shares_on_either_side_of_their_quantiles(exponent: int) -> None:
    laws = DiscreteLaplace(Fraction(2**exponent) / 3), DiscreteGaussian(Fraction(4**exponent, 7))
    for law in laws:
        sample = law.draw(SIZE, Seeded(exponent))
        edges = [law.bound(level) for level in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)]
        counts = np.histogram(np.abs(sample), bins=[-1, *(edge + 1 for edge in edges), 2**62])[0]
        outside = [1.0, *(2 * law.tail(edge + 1) for edge in edges), 0.0]
        expected = -SIZE * np.diff(outside)
        # Chi-square with 6 degrees of freedom exceeds 41 once in 3e6.
        assert ((counts - expected) ** 2 / expected).sum() < 41
        assert abs((sample > 0).sum() - SIZE / 2) < 4.9 * (SIZE / 4) ** 0.5


def test_seeded_draws_repeat_and_never_come_from_the_pool() -> None:
    first, again = (LAPLACE.draw(50, Seeded(7)) for _ in range(2))
    assert first.tolist() == again.tolist()
    rng = Seeded(7)
    assert rng.seed == 7
    assert LAPLACE.draw(50, rng).tolist() != LAPLACE.draw(50, rng).tolist()


def test_system_draws_of_any_size_have_the_asked_size_and_differ() -> None:
    for law in (LAPLACE, GAUSSIAN):
        for size in (0, 1, 256, 257, 5000):
            assert law.draw(size, System()).shape == (size,)
        first, second = law.draw(200, System()), law.draw(200, System())
        assert first.dtype == np.int64
        assert first.tolist() != second.tolist()


@pytest.mark.parametrize("size", [-1, 1.5, "3", True])
def test_a_size_that_is_no_count_is_refused(size: int) -> None:
    for rng in (System(), Seeded(1)):
        with pytest.raises(InputError, match="'size' must be"):
            LAPLACE.draw(size, rng)


def test_the_float_given_to_opendp_is_never_below_the_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[float] = []

    def record(_make: str, _metric: str, _unit: str, scale: float, size: int) -> NDArray[np.int64]:
        given.append(scale)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(pool, "_noise", record)
    for third in (Fraction(1, 3), Fraction(2, 3), Fraction(10**15 + 1, 7), Fraction(3)):
        pool.opendp_laplace(third, 1)
        pool.opendp_gaussian(third, 1)
        scale, sigma = (Fraction(number) for number in given[-2:])
        assert third <= scale <= third * (1 + Fraction(1, 2**51))
        assert third <= sigma**2 <= third * (1 + Fraction(1, 2**50))
