"""Prices and their shares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.accounting import ComposedLoss, ConcentratedLoss
from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.core.randomness import Seeded
from celosia.mechanisms import GaussianCounts, Geometric
from celosia.tables.private import TableBudget
from celosia.tables.private.budget import round_down

EPSILONS = st.sampled_from([0.05, 0.5, 1, 3.0, 10])
DELTAS = st.sampled_from([1e-12, 1e-9, 1e-5])


@given(EPSILONS, DELTAS)
def test_rho_is_the_largest_within_epsilon_and_delta(epsilon: float, delta: float) -> None:
    rho = TableBudget(epsilon, delta).total
    assert ConcentratedLoss(rho).epsilon(delta) <= epsilon
    assert ConcentratedLoss(rho * Fraction(1001, 1000)).epsilon(delta) > epsilon


@given(EPSILONS, st.one_of(st.just(0.0), DELTAS), st.integers(1, 7), st.integers(1, 7))
def test_shares_that_sum_to_one_cost_at_most_the_price(
    epsilon: float, delta: float, counts: int, choices: int
) -> None:
    budget = TableBudget(epsilon, delta)
    share = Fraction(1, counts + choices)
    parts = [budget.count_noise(share).privacy_loss()] * counts
    parts += [budget.selection(share, sensitivity=1).privacy_loss()] * choices
    spent = sum(exact(part.pure if budget.is_pure else part.rho) or 0 for part in parts)
    # Losses are rounded up to floats, each by less than one part in 2^52.
    assert spent <= budget.total * (1 + Fraction(1, 2**40))
    assert spent > budget.total * Fraction(999, 1000)


def test_the_tight_account_of_shares_is_within_epsilon_and_delta() -> None:
    budget = TableBudget(1, 1e-6)
    parts = (budget.count_noise(Fraction(1, 4)).privacy_loss(),) * 4
    assert ComposedLoss(parts).epsilon(1e-6) <= 1


def test_the_noise_is_laplace_without_delta_and_gaussian_with_it() -> None:
    laplace, gaussian = (
        TableBudget(1).count_noise(Fraction(1, 2)),
        TableBudget(1, 1e-9).count_noise(Fraction(1, 2)),
    )
    assert isinstance(laplace, Geometric)
    assert laplace.law.scale == 2
    assert isinstance(gaussian, GaussianCounts)
    assert gaussian.law.parameter >= 1 / TableBudget(1, 1e-9).total  # sigma^2 = 1 / (2 rho / 2)


def test_no_count_tells_one_row_by_more_than_epsilon() -> None:
    # The acceptance check of the count mechanism at epsilon 1, on two neighbours.
    noise = TableBudget(1).count_noise(Fraction(1))
    draws = [noise.release(np.full(200_000, count), rng=Seeded(count)) for count in (40, 41)]
    values, counts = np.unique(np.concatenate(draws), return_counts=True)
    for value in values[counts > 2000]:
        here, there = (int((each == value).sum()) for each in draws)
        if min(here, there) > 1000:
            assert max(here, there) / min(here, there) <= np.e * 1.1
    # The discrete law: 2 a / (1 - a)^2, a = 1/e; its error is sqrt(5 / 4n), 0.25 %.
    wanted = np.sqrt(2 / np.e) / (1 - 1 / np.e)
    assert abs(float(draws[0].std()) / wanted - 1) < 0.0125
    assert float(draws[0].mean()) == pytest.approx(40, abs=5 * wanted / np.sqrt(200_000))


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=100))
def test_a_fraction_is_rounded_down(value: Fraction) -> None:
    meant = exact(round_down(value))
    assert meant is not None
    assert value * (1 - Fraction(1, 2**50)) <= meant <= value


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), (1, 1), (1, -0.1), ("1", 0)])
def test_what_is_no_price_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(InputError):
        TableBudget(epsilon, delta)
