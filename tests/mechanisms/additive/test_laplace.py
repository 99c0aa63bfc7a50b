"""Real numbers with Laplace noise on a grid."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.losses import PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.laplace import Laplace, laplace_bound, laplace_failure
from celosia.mechanisms.grid import Grid


def noise_of(mechanism: Laplace, seed: int) -> NDArray[np.float64]:
    return mechanism.release(np.zeros(mechanism.dimension), rng=Seeded(seed))


def test_one_number_gives_a_float_and_a_list_gives_an_array() -> None:
    mechanism = Laplace(epsilon=1, sensitivity=1)
    for one in (3, 3.25, Fraction(13, 4), Decimal("3.25"), np.float32(3.25)):
        assert isinstance(mechanism.release(one, rng=Seeded(1)), float)
    many = Laplace(epsilon=1, sensitivity=1, dimension=2).release([1.5, 2.5], rng=Seeded(1))
    assert many.dtype == np.float64
    assert many.shape == (2,)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "1", None, True, 1e300, 10**400])
def test_what_is_no_number_on_the_grid_is_refused_before_any_noise(bad: Any) -> None:
    for x, mechanism in (
        (bad, Laplace(epsilon=1, sensitivity=1)),
        ([0.0, bad], Laplace(epsilon=1, sensitivity=1, dimension=2)),
        ([bad, bad], Laplace(epsilon=1, sensitivity=1, dimension=2)),
    ):
        if x == [0.0, True]:
            continue  # NumPy itself reads it as two numbers
        with pytest.raises(InputError) as refusal:
            mechanism.release(x, rng=ForbiddenSource())
        assert refusal.value.code == "CEL-M009"


@pytest.mark.parametrize(
    "bad",
    [
        np.ma.masked_array([1.0, 2.0], mask=[False, True]),
        np.array(["1e4000", "0"], dtype=np.longdouble),
        np.array([1e308, 0.0]),
    ],
    ids=["masked", "extended", "large"],
)
def test_hidden_and_huge_numbers_are_refused_without_a_warning(bad: NDArray[Any]) -> None:
    with pytest.raises(InputError) as refusal:
        Laplace(epsilon=1, sensitivity=1, dimension=2).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M009"


@pytest.mark.parametrize("bad", [1.0, [1.0], [1.0, 2.0, 3.0], [], [[1.0, 2.0]]])
def test_another_length_is_refused_before_any_noise(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Laplace(epsilon=1, sensitivity=1, dimension=2).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M041"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"sensitivity": 0}, "CEL-I060"),
        ({"sensitivity": float("nan")}, "CEL-I060"),
        ({"dimension": 0}, "CEL-I060"),
        ({"grid": 0.01}, "CEL-M008"),
    ],
)
def test_bad_parameters_are_refused_on_creation(bad: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refusal:
        Laplace(**{"epsilon": 1, "sensitivity": 1, **bad})
    assert refusal.value.code == code


def test_noise_too_wide_for_64_bits_is_refused_before_it_is_drawn() -> None:
    fine = Laplace(epsilon=1e-9, sensitivity=1, grid=Grid(Fraction(1, 2**30)))
    with pytest.raises(InputError) as refusal:
        fine.release(1.0, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M020"


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e3),
    st.sampled_from([None, Grid(Fraction(1, 100)), Grid(Fraction(1, 3)), Grid(Fraction(7))]),
    st.floats(-1, 1) | st.sampled_from([-1.0, 1.0]),
)
def test_neighbours_never_lie_farther_apart_than_the_noise_hides(
    value: float, sensitivity: float, grid: Grid | None, part: float
) -> None:
    mechanism = Laplace(epsilon=1, sensitivity=sensitivity, grid=grid)
    one = Fraction(repr(value))
    other = one + Fraction(repr(sensitivity)) * Fraction(part)
    where = mechanism.resolution
    assert abs(where.index(one) - where.index(other)) <= mechanism.shift
    both = where.indices(np.array([float(one), float(other)]))
    assert abs(int(both[0]) - int(both[1])) <= mechanism.shift


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.data())
def test_neighbouring_lists_never_lie_farther_apart_than_the_noise_hides(
    values: list[float], data: st.DataObject
) -> None:
    size = len(values)
    mechanism = Laplace(epsilon=1, sensitivity=2, dimension=size, grid=Grid(Fraction(1, 10)))
    parts = data.draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size))
    total = max(1.0, sum(abs(part) for part in parts))
    other = np.array(values) + 1.999 * np.array(parts) / total
    where = mechanism.resolution
    moved = np.abs(where.indices(np.array(values)) - where.indices(other)).sum()
    assert moved <= mechanism.shift


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("step", [Fraction(1, 8), Fraction(1, 100)])
def test_the_largest_loss_on_the_grid_is_epsilon_and_none_exceeds_it(
    epsilon: float, step: Fraction
) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=1, grid=Grid(step))
    law, shift = mechanism.law, mechanism.shift
    losses = [
        log(law.mass(place) / law.mass(place - shift)) for place in range(-2 * shift, 3 * shift)
    ]
    assert max(losses) == pytest.approx(epsilon, rel=1e-9)
    assert max(np.abs(losses)) <= epsilon * (1 + 1e-12)
    assert shift / law.scale <= Fraction(repr(epsilon))


def test_a_fine_grid_widens_the_noise_by_next_to_nothing() -> None:
    one = Laplace(epsilon=0.5, sensitivity=3)
    assert 6 <= float(one.law.scale * one.resolution.step) <= 6 * (1 + 2e-6)
    many = Laplace(epsilon=0.5, sensitivity=3, dimension=10**5)
    assert 6 <= float(many.law.scale * many.resolution.step) <= 6 * 1.001


def test_the_loss_is_that_of_one_coordinate_only_where_one_can_move() -> None:
    one = Laplace(epsilon=1, sensitivity=1)
    assert one.privacy_loss() == LaplaceLoss(one.law.scale, one.shift)
    assert one.privacy_loss().pure == pytest.approx(1.0, rel=1e-12)
    bins = Laplace(epsilon=1, sensitivity=1, dimension=9, one_coordinate=True)
    assert bins.privacy_loss() == LaplaceLoss(bins.law.scale, bins.shift)
    assert bins.shift == one.shift
    assert Laplace(epsilon=0.1, sensitivity=1, dimension=9).privacy_loss() == PureLoss(
        Fraction(1, 10)
    )


def test_outputs_for_neighbours_lie_on_the_same_grid_where_naive_ones_do_not() -> None:
    size = 20_000
    naive = np.random.default_rng(1).laplace(size=size)
    window = naive[(naive > 0) & (naive < 0.25)]
    # 1 + noise has no bits below 2^-54 there, so a finer output can only come from 0 + noise.
    impossible = np.mean(np.ldexp(window, 54) % 1 != 0)
    assert impossible > 0.3

    mechanism = Laplace(epsilon=1, sensitivity=1, dimension=size, one_coordinate=True)
    step = float(mechanism.resolution.step)
    for true in (0.0, 1.0):
        noisy = mechanism.release(np.full(size, true), rng=Seeded(1))
        assert np.all(noisy / step % 1 == 0)
        # Nothing but the step divides all of them: the whole grid is in use.
        assert np.gcd.reduce(np.abs(noisy / step).astype(np.int64)) == 1
    # Each point has a chance above 0 whatever the truth is: the same outputs are possible.
    first = mechanism.resolution.index(1.0)
    law = mechanism.law
    assert all(law.mass(place) > 0 and law.mass(place - first) > 0 for place in range(-500, 500))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 2.0**-60, 123456.789])
def test_a_fraction_below_the_step_never_shines_through(value: float) -> None:
    mechanism = Laplace(epsilon=1, sensitivity=1)
    noisy = mechanism.release(value, rng=Seeded(9))
    assert (Fraction(noisy) / mechanism.resolution.step).denominator == 1


def distance(noise: NDArray[np.float64], scale: float) -> float:
    """Kolmogorov's distance from the continuous Laplace law."""
    ordered = np.sort(noise)
    below = np.where(ordered < 0, np.exp(ordered / scale) / 2, 1 - np.exp(-ordered / scale) / 2)
    ranks = np.arange(noise.size + 1) / noise.size
    return float(max(np.max(ranks[1:] - below), np.max(below - ranks[:-1])))


@pytest.mark.statistical
def test_the_noise_has_the_laplace_law_and_not_a_narrower_or_wider_one() -> None:
    size = 200_000
    noise = noise_of(Laplace(epsilon=0.5, sensitivity=3, dimension=size, one_coordinate=True), 17)
    # Massart 1990: exceeded once in 10,000; the step of the grid is a millionth of the scale.
    far = sqrt(log(2 / 1e-4) / (2 * size)) + 1e-6
    assert distance(noise, 6) < far
    assert distance(noise, 0.8 * 6) > far
    assert distance(noise, 1.25 * 6) > far
    # The kurtosis is 6, so the relative deviation of the variance is sqrt(5 / n) = 0.5 %.
    assert np.var(noise) == pytest.approx(2 * 6**2, rel=0.02)


@pytest.mark.statistical
def test_the_chance_of_a_multiple_of_the_scale_is_exponential() -> None:
    size = 200_000
    noise = noise_of(Laplace(epsilon=2, sensitivity=1, dimension=size, one_coordinate=True), 5)
    for times in (0.5, 1.0, 3.0):
        expected = exp(-times)
        seen = np.mean(np.abs(noise) >= times * 0.5)
        assert abs(seen - expected) < 4 * sqrt(expected / size)


def test_the_textbook_bound_for_ten_thousand_bins() -> None:
    assert laplace_bound(1, size=10_000, failure=0.05) == pytest.approx(12.2060726, abs=1e-7)
    assert laplace_failure(1, 12.2060726, size=10_000) == pytest.approx(0.0487707, abs=1e-7)
    assert laplace_failure(2, 3) == pytest.approx(exp(-1.5))
    assert laplace_failure(2, 0) == 1
    for bad in ({"scale": 0}, {"size": 0}, {"failure": 0}):
        with pytest.raises(InputError):
            laplace_bound(**{"scale": 1, **bad})


def test_the_bound_is_the_exact_one_below_the_union_bound() -> None:
    bins = Laplace(epsilon=1, sensitivity=1, dimension=10_000, one_coordinate=True)
    error = bins.accuracy(0.95, size=10_000)
    exact = -log(-np.expm1(np.log(0.95) / 10_000))
    assert error == pytest.approx(exact, abs=2e-5)
    assert error < laplace_bound(1, size=10_000)
    assert bins.failure(12.2060726, size=10_000) == pytest.approx(0.0487707, abs=1e-5)
    assert bins.failure(0) == 1
    with pytest.raises(InputError):
        bins.failure(-1)


@pytest.mark.statistical
def test_no_coordinate_exceeds_the_bound_as_often_as_said() -> None:
    mechanism = Laplace(epsilon=0.3, sensitivity=1, dimension=100_000, one_coordinate=True)
    rows = np.abs(noise_of(mechanism, 18)).reshape(2000, 50)
    error = mechanism.accuracy(0.9, size=50)
    missed = np.mean(rows.max(axis=1) > error)
    # Binomial, 2000 rows: four deviations; a bound of 0.8 times would miss in 24 % of the rows.
    assert abs(missed - 0.1) < 4 * sqrt(0.1 * 0.9 / 2000)
    assert np.mean(rows.max(axis=1) > 0.8 * error) > 0.2
    assert np.mean(rows.max(axis=1) > laplace_bound(1 / 0.3, size=50, failure=0.1)) < 0.13


def test_an_interval_holds_the_answer_and_its_rounding() -> None:
    mechanism = Laplace(epsilon=1, sensitivity=1, grid=Grid(Fraction(1, 2)))
    measured = mechanism.measure(0.3, rng=Seeded(3))
    low, high = mechanism.interval(measured, 0.9)
    assert high - low == 2 * mechanism.accuracy(0.9)
    many = Laplace(epsilon=1, sensitivity=1, dimension=3)
    lows, highs = many.interval(many.measure([1.0, 2.0, 3.0], rng=Seeded(3)), 0.9)
    assert highs - lows == pytest.approx(2 * many.accuracy(0.9, size=3))


@pytest.mark.statistical
def test_two_noisy_counts_betray_a_bit_in_0_5125_of_the_cases() -> None:
    tries, rng = 100_000, Seeded(22)
    mechanism = Laplace(epsilon=0.1, sensitivity=1, dimension=tries, one_coordinate=True)
    bits = rng.integers(2, tries)
    difference = mechanism.release(40.0 + bits, rng=rng) - mechanism.release(
        np.full(tries, 40.0), rng=rng
    )
    # The difference of two Laplace variables of scale a exceeds t with e^(-t/a) (2 + t/a) / 4.
    expected = 1 - exp(-0.05) * 2.05 / 4
    assert expected == pytest.approx(0.5125, abs=5e-5)
    right = np.mean((difference > 0.5) == (bits == 1))
    assert abs(right - expected) < 4 * 0.5 / sqrt(tries)
