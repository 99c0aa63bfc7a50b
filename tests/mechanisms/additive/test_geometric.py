"""Counts with geometric noise."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.losses import PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.base import BRIM
from celosia.mechanisms.additive.laplace import Geometric
from celosia.mechanisms.sensitivities import histogram


def test_one_count_gives_a_count_and_a_list_gives_an_array() -> None:
    mechanism = Geometric(epsilon=1)
    assert isinstance(mechanism.release(7, rng=Seeded(1)), int)
    assert isinstance(mechanism.release(np.int32(7), rng=Seeded(1)), int)
    lists: list[Any] = [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.float16),
        pl.Series([1, 2, 3]),
    ]
    for many in lists:
        noisy = mechanism.release(many, rng=Seeded(1))
        assert noisy.dtype == np.int64
        assert noisy.shape == (3,)
    assert isinstance(mechanism.release(7), int)


@pytest.mark.parametrize(
    "bad",
    [0.5, float("nan"), float("inf"), "7", None, True, 2**50 + 1, 10**400, [0.5], [float("nan")],
     ["7"], [None], [True], [2**50 + 1], [10**400], np.array([2**63], dtype=np.uint64), [1, None],
     np.array([1, 2], dtype=object)],
)  # fmt: skip
def test_what_is_not_whole_is_refused_before_any_noise(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Geometric(epsilon=1).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M040"


@pytest.mark.parametrize("bad", [[], [[1, 2], [3, 4]], np.zeros((2, 2), dtype=np.int64)])
def test_what_is_not_a_list_is_refused_before_any_noise(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Geometric(epsilon=1).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M041"


def test_lists_of_unequal_lengths_are_refused() -> None:
    ragged: Any = [[1], [2, 3]]
    with pytest.raises(InputError):
        Geometric(epsilon=1).release(ragged, rng=ForbiddenSource())


def test_another_length_than_declared_is_refused_before_any_noise() -> None:
    mechanism = Geometric(epsilon=1, dimension=2)
    for bad in ([1], [1, 2, 3]):
        with pytest.raises(InputError) as refusal:
            mechanism.release(bad, rng=ForbiddenSource())
        assert refusal.value.code == "CEL-M041"
    with pytest.raises(InputError):
        mechanism.release(1, rng=ForbiddenSource())
    assert mechanism.release([1, 2], rng=Seeded(1)).shape == (2,)


def test_a_refusal_names_no_value() -> None:
    with pytest.raises(InputError) as refusal:
        Geometric(epsilon=1).release([31337.5], rng=ForbiddenSource())
    assert "31337" not in str(refusal.value)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"epsilon": "1"}, "CEL-I060"),
        ({"epsilon": float("nan")}, "CEL-I060"),
        ({"epsilon": 1, "sensitivity": 0}, "CEL-I060"),
        ({"epsilon": 1, "sensitivity": 1.5}, "CEL-I060"),
        ({"epsilon": 1, "dimension": 0}, "CEL-I060"),
        ({"epsilon": 1, "one_coordinate": "no"}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused_on_creation(bad: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refusal:
        Geometric(**bad)
    assert refusal.value.code == code


def test_noise_too_wide_for_64_bits_is_refused_before_it_is_drawn() -> None:
    mechanism = Geometric(epsilon=1e-9, sensitivity=2**40)
    with pytest.raises(InputError) as refusal:
        mechanism.release(1, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M020"
    assert mechanism.accuracy() == inf


def test_the_widest_noise_never_runs_over() -> None:
    mechanism = Geometric(epsilon=1e-9, sensitivity=2**22)
    noisy = mechanism.release(np.full(2000, 2**50), rng=Seeded(5))
    assert np.all(np.abs(noisy) <= BRIM)
    # Half of the draws are above zero, give or take 4 deviations.
    assert abs(np.mean(noisy > 2**50) - 0.5) < 4 * 0.5 / sqrt(2000)


@given(st.fractions(Fraction(1, 1000), 5), st.integers(1, 50), st.integers(-200, 200))
def test_no_output_is_more_telling_than_epsilon(
    epsilon: Fraction, sensitivity: int, place: int
) -> None:
    law = Geometric(epsilon=float(epsilon), sensitivity=sensitivity).law
    for move in {1, sensitivity}:
        one, other = law.mass(place), law.mass(place - move)
        if min(one, other) > 1e-290:
            assert abs(log(one / other)) <= float(epsilon) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_the_largest_loss_is_epsilon(epsilon: float) -> None:
    law = Geometric(epsilon=epsilon, sensitivity=3).law
    losses = [log(law.mass(place) / law.mass(place - 3)) for place in range(-20, 24)]
    assert max(losses) == pytest.approx(epsilon, rel=1e-9)
    assert min(losses) == pytest.approx(-epsilon, rel=1e-9)


def test_the_loss_is_that_of_one_coordinate_only_where_one_can_move() -> None:
    assert Geometric(epsilon=0.1).privacy_loss() == LaplaceLoss(Fraction(10), 1)
    assert Geometric(epsilon=1, sensitivity=2, dimension=1).privacy_loss() == LaplaceLoss(
        Fraction(2), 2
    )
    assert Geometric(epsilon=1, sensitivity=2, one_coordinate=True).privacy_loss() == LaplaceLoss(
        Fraction(2), 2
    )
    assert Geometric(epsilon=1, sensitivity=2).privacy_loss() == PureLoss(Fraction(1))


@pytest.mark.parametrize("epsilon", [0.1, 0.123456789012345, 1e-9, 100, 1 / 3])
def test_the_loss_never_exceeds_the_epsilon_that_was_asked(epsilon: float) -> None:
    law = Geometric(epsilon=epsilon, sensitivity=7).law
    asked = Fraction(repr(float(epsilon)))
    assert asked * (1 - Fraction(1, 10**9)) <= 7 / law.scale <= asked


def frequencies_fit(noise: np.ndarray[Any, Any], scale: float) -> float:
    """Pearson's statistic over -12 .. 12 and both tails: 26 degrees of freedom."""
    ratio = exp(-1 / scale)
    chances = [(1 - ratio) / (1 + ratio) * ratio ** abs(place) for place in range(-12, 13)]
    tail = (1 - sum(chances)) / 2
    counted = [np.sum(noise == place) for place in range(-12, 13)]
    counted += [np.sum(noise < -12), np.sum(noise > 12)]
    return float(
        sum(
            (seen - noise.size * chance) ** 2 / (noise.size * chance)
            for seen, chance in zip(counted, [*chances, tail, tail], strict=True)
        )
    )


@pytest.mark.statistical
def test_the_noise_has_the_geometric_law_and_not_a_narrower_or_wider_one() -> None:
    noise = Geometric(epsilon=0.5).release(np.full(40_000, 17), rng=Seeded(11)) - 17
    # Chi-square with 26 degrees of freedom exceeds 61.7 once in 10,000.
    assert frequencies_fit(noise, 2) < 61.7
    assert frequencies_fit(noise, 1.6) > 61.7
    assert frequencies_fit(noise, 2.5) > 61.7


@pytest.mark.statistical
def test_empty_bins_get_noise_and_change_one_doubles_it() -> None:
    bins = np.zeros(50_000, dtype=np.int64)
    once = Geometric(epsilon=1, sensitivity=int(histogram()))
    twice = Geometric(epsilon=1, sensitivity=int(histogram(CHANGE_ONE)), neighbours=CHANGE_ONE)
    assert twice.law.scale == 2 * once.law.scale == 2
    for mechanism in (once, twice):
        noise = mechanism.release(bins, rng=Seeded(3))
        ratio = exp(-1 / float(mechanism.law.scale))
        expected = 2 * ratio / (1 - ratio) ** 2
        assert mechanism.variance == pytest.approx(expected, rel=1e-9)
        # The kurtosis is below 7, so the relative deviation of a variance is below sqrt(6 / n).
        assert np.var(noise) == pytest.approx(expected, rel=4 * sqrt(6 / bins.size))
        assert np.mean(noise == 0) < 0.5


def test_the_bound_on_the_error_is_the_least_whole_one() -> None:
    for epsilon in (0.1, 0.7, 2.0):
        for size in (1, 10, 10_000):
            mechanism = Geometric(epsilon=epsilon)
            error = mechanism.accuracy(0.95, size=size)
            ratio = exp(-epsilon)

            def holds(bound: float, ratio: float = ratio, size: int = size) -> bool:
                inside = 1 - 2 * ratio ** (bound + 1) / (1 + ratio)
                return bool(inside**size >= 0.95)

            assert error == int(error)
            assert holds(error)
            assert not holds(error - 1)
            assert (
                mechanism.failure(error, size=size)
                <= 0.05
                < mechanism.failure(error - 1, size=size)
            )


def test_an_interval_is_made_of_whole_numbers_and_covers_all_coordinates_at_once() -> None:
    mechanism = Geometric(epsilon=1)
    one = mechanism.measure(7, rng=Seeded(2))
    low, high = mechanism.interval(one)
    assert isinstance(low, int)
    assert high - low == 2 * mechanism.accuracy()
    many = mechanism.measure([0] * 100, rng=Seeded(2))
    lows, highs = mechanism.interval(many, 0.9)
    assert np.all(highs - lows == 2 * mechanism.accuracy(0.9, size=100))


@pytest.mark.statistical
def test_intervals_hold_as_often_as_they_say() -> None:
    mechanism = Geometric(epsilon=0.3)
    noise = mechanism.release(np.zeros(100_000, dtype=np.int64), rng=Seeded(4)).reshape(2000, 50)
    error = mechanism.accuracy(0.9, size=50)
    missed = np.mean(np.abs(noise).max(axis=1) > error)
    exact = mechanism.failure(error, size=50)
    assert exact <= 0.1
    assert abs(missed - exact) < 4 * sqrt(exact * (1 - exact) / 2000)


def test_exact_counts_give_a_bit_away() -> None:
    for bit in (0, 1):
        with_target, without = 40 + bit, 40
        assert (with_target - without > 0.5) == bool(bit)


@pytest.mark.statistical
def test_noisy_counts_give_next_to_nothing_away() -> None:
    mechanism = Geometric(epsilon=0.1)
    law = mechanism.law
    same = sum(law.mass(place) ** 2 for place in range(-600, 601))
    # The difference of two noisy counts is thresholded at 1/2; a tie of the noises goes right.
    success = (1 + same) / 2
    assert success == pytest.approx(0.5125, abs=1e-4)
    tries, rng = 100_000, Seeded(22)
    bits = rng.integers(2, tries)
    difference = mechanism.release(40 + bits, rng=rng) - mechanism.release(
        np.full(tries, 40), rng=rng
    )
    right = np.mean((difference > 0.5) == (bits == 1))
    assert abs(right - success) < 4 * 0.5 / sqrt(tries)


def test_parameters_may_be_numbers_of_numpy() -> None:
    given_by_numpy: Any = {
        "epsilon": np.float64(0.5), "sensitivity": np.int64(2), "dimension": np.int64(3)
    }  # fmt: skip
    mechanism = Geometric(**given_by_numpy)
    assert mechanism.law == Geometric(epsilon=0.5, sensitivity=2).law
    assert mechanism.release([1, 2, 3], rng=Seeded(1)).size == 3


def test_it_prints_as_one_would_write_it() -> None:
    mechanism = Geometric(epsilon=1, sensitivity=2, dimension=3)
    assert str(mechanism) == "Geometric(epsilon=1, dimension=3, sensitivity=2)"
