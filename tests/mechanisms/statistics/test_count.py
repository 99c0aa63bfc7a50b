"""A noisy count."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from tests.mechanisms.exact_laws import RELATIONS, Release, measured, pairs, worst_log_ratio

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.statistics.sums import Count

__all__ = ["measured"]


@RELATIONS
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_exact_loss_of_a_count_is_epsilon(
    neighbours: Neighbours, epsilon: float, measured: Release
) -> None:
    count = Count(epsilon=epsilon, neighbours=neighbours, may_be_empty=True)
    worst = 0.0
    for one, two in pairs([False, True], 3, neighbours.relation):
        exact = [measured(count, table, [0]).value for table in (one, two)]
        worst = max(worst, worst_log_ratio(exact[:1], exact[1:], [count.noise.scale]))
    assert worst == pytest.approx(epsilon, rel=1e-12)
    assert count.privacy_loss() == LaplaceLoss(1 / Fraction(str(epsilon)), 1)
    assert count.privacy_loss().pure == epsilon


def test_rows_and_true_rows_are_counted(measured: Release) -> None:
    assert measured(Count(epsilon=1), ["a", "b"], [0]).value == 2
    assert measured(Count(epsilon=1), [True, False, True], [-5]).value == -3


def test_no_rows_are_refused_unless_they_may_be() -> None:
    with pytest.raises(InputError) as caught:
        Count(epsilon=1).release([])
    assert caught.value.code == "CEL-M082"
    assert isinstance(Count(epsilon=1, may_be_empty=True).release([], rng=Seeded(3)), int)


@pytest.mark.parametrize("wrong", [0, -1, 101, "1", None, float("nan"), True])
def test_a_price_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(InputError) as caught:
        Count(epsilon=wrong)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


def test_may_be_empty_is_a_yes_or_a_no() -> None:
    with pytest.raises(InputError) as caught:
        Count(epsilon=1, may_be_empty="no")  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


@pytest.mark.statistical
def test_bounds_of_a_count_hold_as_often_as_they_say() -> None:
    count, rng, runs = Count(epsilon=0.5), Seeded(5), 2000
    error = count.accuracy(0.9)
    hits = 0
    for _ in range(runs):
        found = count.measure([True] * 50, rng=rng)
        low, high = count.interval(found, 0.9)
        hits += low <= 50 <= high
        assert (low <= 50 <= high) == (abs(found.value - 50) <= error)
    q = np.exp(-0.5)
    exact = 1 - 2 * q ** (error + 1) / (1 + q)  # P(|Z| <= t) of the discrete Laplace law
    assert exact >= 0.9
    assert abs(hits / runs - exact) < 4 * sqrt(exact * (1 - exact) / runs)


def test_bounds_of_a_count_below_zero_hold_it_and_reach_zero(measured: Release) -> None:
    count = Count(epsilon=1)
    assert count.interval(measured(count, [True], [0])) == (0, 4)
    assert count.interval(measured(count, [True], [-3])) == (-2, 1)
    assert count.interval(measured(count, [True], [-31])) == (-30, 0)


def test_an_accuracy_buys_the_least_epsilon() -> None:
    count = Count(epsilon=1).with_accuracy(30, confidence=0.95)
    assert count.accuracy(0.95) <= 30
    assert Count(epsilon=count.epsilon * 0.99).accuracy(0.95) > 30
