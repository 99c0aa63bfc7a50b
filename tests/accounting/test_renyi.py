"""Conversion of Renyi divergences to epsilon and delta."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import dp_accounting
import numpy as np
import pytest

from celosia.accounting import accountant as renyi
from celosia.accounting.losses import ApproximateLoss, PureLoss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_epsilon_is_that_of_the_accountant_of_dp_accounting(delta: float) -> None:
    accountant = dp_accounting.rdp.RdpAccountant(orders=list(renyi.ORDERS[renyi.ORDERS > 1.05]))
    accountant.compose(dp_accounting.GaussianDpEvent(3.0), 10)
    accountant.compose(dp_accounting.LaplaceDpEvent(4.0), 5)
    values = 10 * renyi.divergences(GaussianLoss(Fraction(9 * 2**60), 2**30))
    values = values + 5 * renyi.divergences(LaplaceLoss(Fraction(4 * 2**30), 2**30))
    assert renyi.epsilon_of(values, delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-4)


def test_epsilon_and_delta_are_inverse() -> None:
    values = renyi.divergences(LaplaceLoss(Fraction(3), 1)) * 20
    epsilon = renyi.epsilon_of(values, 1e-6)
    assert renyi.delta_of(values, epsilon) == pytest.approx(1e-6, rel=1e-9)
    assert renyi.delta_of(values, epsilon + 1) < 1e-6


def test_the_grid_of_orders_loses_little_against_the_best_order() -> None:
    for rho in (1e-6, 1e-3, 0.1, 3.0):
        loss = ConcentratedLoss(Fraction(str(rho)))
        for delta in (1e-10, 1e-5):
            found = renyi.epsilon_of(renyi.divergences(loss), delta)
            exact = loss.epsilon(delta)
            assert exact * (1 - 1e-9) <= found <= exact * 1.01


def test_divergences_rise_with_the_order_up_to_the_pure_epsilon() -> None:
    for loss in (
        PureLoss(Fraction(1)),
        LaplaceLoss(Fraction(2), 2),
        PureLoss(Fraction(1, 10**6)),
        PureLoss(Fraction(40)),
    ):
        values = renyi.divergences(loss)
        assert np.all(np.diff(values) >= -1e-9 * values[1:])
        assert values[-1] <= loss.pure


def test_what_is_unknown_stays_infinite() -> None:
    values = renyi.divergences(ApproximateLoss(Fraction(1), 1e-6))
    assert renyi.epsilon_of(values, 0.1) == inf
    assert renyi.delta_of(values, 5.0) == 1.0
    assert renyi.epsilon_of(renyi.divergences(PureLoss(Fraction(1))), 0.0) == inf
