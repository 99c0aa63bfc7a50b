"""Budgets in rho and in Renyi divergences: prices, limits and the epsilon that they are told as."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, log1p, tanh
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.amounts import Spending
from celosia.accounting.currencies import filter_of, is_within, spending_of
from celosia.accounting.filters import Price, exact_rho
from celosia.accounting.losses import ApproximateLoss, ComposedLoss, PureLoss
from celosia.accounting.noise_losses import GaussianLoss, LaplaceLoss, laplace_rho
from celosia.core.errors import InputError

CURVE = [(2, Fraction(1, 2)), (8, Fraction(2)), (32, Fraction(8))]
scales = st.fractions(Fraction(1, 4), 100, max_denominator=50)
shifts = st.integers(1, 60)


@given(scales, shifts)
@settings(max_examples=40)
def test_the_rho_of_laplace_noise_is_the_divergence_summed_over_all_outcomes(
    scale: Fraction, shift: int
) -> None:
    rate, total = float(1 / scale), 0.0
    reach = int(45 * scale) + shift + 60
    for x in range(-reach, reach):
        chance = (1 - exp(-rate)) / (1 + exp(-rate)) * exp(-rate * abs(x))
        total += (abs(x - shift) - abs(x)) * rate * chance
    found = laplace_rho(scale, shift)
    assert float(found) == pytest.approx(total, rel=1e-9)
    assert found <= (shift / scale) ** 2 / 2
    # Randomised response is the worst mechanism of its epsilon, and equal to a shift of 1.
    epsilon = float(shift / scale)
    assert float(found) <= epsilon * tanh(epsilon / 2) * (1 + 1e-12)


@given(scales, shifts, st.floats(1.01, 300))
def test_no_divergence_of_laplace_noise_exceeds_its_order_times_rho(
    scale: Fraction, shift: int, order: float
) -> None:
    loss = LaplaceLoss(scale, shift)
    assert loss.renyi(order) <= order * float(laplace_rho(scale, shift)) * (1 + 1e-8)


def test_very_wide_and_very_narrow_noise_is_priced_too() -> None:
    wide = laplace_rho(Fraction(2**52), 3)
    assert 0 < wide <= Fraction(9, 2**105)
    assert laplace_rho(Fraction(1, 100), 10**6) < 10**8 + 1
    assert laplace_rho(Fraction(2**40), 2**40) < laplace_rho(Fraction(1), 1)


def test_an_amount_of_rho_is_told_as_an_epsilon_at_half_of_delta() -> None:
    budget = spending_of(rho=Fraction(1, 2), delta=1e-6)
    rho, slack = 0.5, 5e-7
    best = min(
        a * rho + log1p(-1 / a) - (log(slack) + log(a)) / (a - 1)
        for a in (1 + k / 1000 for k in range(1, 30000))
    )
    assert best <= float(budget.epsilon) <= best + 1e-4
    rule = filter_of(budget)
    assert dict(rule.limits) == {"rho": Fraction(1, 2), "delta": Fraction(1, 2_000_000)}
    told = rule.told(Price(dict(rule.limits)))
    assert told.promise is not None
    assert told.promise[1] == 1e-6
    assert "epsilon 5." in str(told)


def test_charges_in_rho_add_up_exactly() -> None:
    rule = filter_of(spending_of(rho=1, delta=1e-6))
    parts = (GaussianLoss(Fraction(8), 2), LaplaceLoss(Fraction(5), 1), PureLoss(Fraction(1, 10)))
    price = rule.price(ComposedLoss(parts))
    assert price["rho"] == Fraction(1, 4) + laplace_rho(Fraction(5), 1) + Fraction(1, 200)
    assert price["delta"] == 0
    failing = rule.price(ApproximateLoss(Fraction(1), 1e-7))
    assert (failing["rho"], failing["delta"]) == (Fraction(1, 2), Fraction(1, 10**7))


def test_a_curve_is_kept_at_every_order() -> None:
    budget = spending_of(curve=CURVE, delta=1e-6)
    rule = filter_of(budget)
    # rho 0.2 is 0.4, 1.6 and 6.4 at the orders; twice as much exceeds each of them.
    price = rule.price(GaussianLoss(Fraction(5, 2), 1))
    assert price["order 2"] == Fraction(2, 5)
    assert rule.admits(price)
    assert not rule.admits(price + price)
    # Only the least order is exceeded: that is enough to refuse.
    narrow = Price({"order 2": Fraction(1), "order 8": Fraction(1), "order 32": Fraction(1)})
    assert not rule.admits(Price({**narrow.amounts, "delta": Fraction(0)}))
    approximate = rule.price(ApproximateLoss(Fraction(1, 10), 1e-8))
    assert approximate["delta"] == Fraction(1, 10**8)
    assert float(approximate["order 8"] or 0) <= 8 * 0.01 / 2
    by_hand = min(float(most) + log1p(-1 / a) - (log(5e-7) + log(a)) / (a - 1) for a, most in CURVE)
    assert float(budget.epsilon) == pytest.approx(by_hand, abs=2e-6)


@pytest.mark.parametrize(
    ("amounts", "code"),
    [
        ({"delta": 1e-6}, "CEL-B060"),
        ({"rho": 1, "curve": CURVE, "delta": 1e-6}, "CEL-B060"),
        ({"rho": 1, "delta": 0}, "CEL-I060"),
        ({"rho": 0, "delta": 1e-6}, "CEL-I060"),
        ({"curve": [(2, 1), (2, 3)], "delta": 1e-6}, "CEL-B061"),
        ({"curve": [(1, 1)], "delta": 1e-6}, "CEL-B061"),
        ({"curve": [("x", 1)], "delta": 1e-6}, "CEL-B061"),
        ({"curve": [(2, -1)], "delta": 1e-6}, "CEL-I060"),
        ({"curve": [(2 + k, 1) for k in range(33)], "delta": 1e-6}, "CEL-B061"),
    ],
)
def test_amounts_that_are_none_are_refused(amounts: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        spending_of(**amounts)
    assert refused.value.code == code


def test_a_curve_with_fewer_orders_allows_more() -> None:
    whole, part = spending_of(curve=CURVE, delta=1e-6), spending_of(curve=CURVE[:2], delta=1e-6)
    assert is_within(whole, part)
    assert not is_within(part, whole)
    assert not is_within(spending_of(rho=1, delta=1e-6), whole)
    assert not is_within(spending_of(rho=1, delta=1e-6), Spending(epsilon=Fraction(10**6)))


def test_pure_losses_keep_their_rho() -> None:
    assert exact_rho(PureLoss(Fraction(1, 2))) == Fraction(1, 8)
