"""The least price for an error that one can live with."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.base import AdditiveMechanism
from celosia.mechanisms.additive.gaussian import Gaussian, GaussianCounts
from celosia.mechanisms.additive.laplace import Geometric, Laplace
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.responses.kary_response import KaryResponse
from celosia.mechanisms.responses.randomised_response import RandomisedResponse

ADDITIVE: list[AdditiveMechanism[Any, Any]] = [
    Geometric(epsilon=1),
    Geometric(epsilon=1, sensitivity=10**8),
    Laplace(epsilon=1, sensitivity=1),
    Laplace(epsilon=1, sensitivity=1, grid=Grid(Fraction(1, 10))),
    Laplace(epsilon=1, sensitivity=2, dimension=10**5),
    Gaussian(epsilon=1, delta=1e-6, sensitivity=1),
    Gaussian(epsilon=1, delta=1e-12, sensitivity=1),
    Gaussian(epsilon=1, delta=1e-6, sensitivity=1, dimension=10),
    GaussianCounts(rho=1),
    GaussianCounts(rho=1, sensitivity=7),
]


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=str)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_wish_is_met_at_the_least_price(
    mechanism: AdditiveMechanism[Any, Any], size: int
) -> None:
    wish = 25.0 * mechanism.sensitivity
    found = mechanism.with_accuracy(wish, confidence=0.9, size=size)
    assert type(found) is type(mechanism)
    assert found.accuracy(0.9, size=size) <= wish
    # The price has four digits: one part in a thousand less is not enough.
    name = mechanism.parameter
    cheaper: Any = {name: getattr(found, name) * 0.998}
    assert replace(found, **cheaper).accuracy(0.9, size=size) > wish
    assert found.release(
        [0] * (mechanism.dimension or 1),  # type: ignore[attr-defined]
        rng=Seeded(1),
    ).size


@given(st.floats(3, 1e6), st.sampled_from([0.5, 0.9, 0.99]), st.integers(1, 1000))
@settings(max_examples=50, deadline=None)
def test_a_wish_for_counts_is_close_to_the_closed_form(
    error: float, confidence: float, size: int
) -> None:
    found = Geometric(epsilon=1).with_accuracy(error, confidence=confidence, size=size)
    # 2 q^(t + 1) / (1 + q) = p at t = floor(error), and 1 < 1 + q < 2.
    chance = 1 - confidence ** (1 / size)
    reach = int(error) + 1
    assert log(1 / chance) / reach <= found.epsilon * 1.001
    assert found.epsilon <= log(2 / chance) / reach * 1.001


@pytest.mark.parametrize(
    "mechanism",
    [RandomisedResponse.two_coins(), KaryResponse(epsilon=1, categories=("a", "b", "c"))],
    ids=str,
)
def test_a_wish_for_a_rate_is_met(mechanism: Mechanism[Any, Any]) -> None:
    found = mechanism.with_accuracy(0.05, size=20_000)
    assert found.accuracy(size=20_000) <= 0.05
    # A hundredth below the price is not enough.
    loss = found.privacy_loss().pure
    assert 0 < loss < 2
    more = mechanism.with_accuracy(0.0499, size=20_000)
    assert more.privacy_loss().pure > loss


def test_a_wish_that_no_price_can_buy_is_refused() -> None:
    for mechanism, error in (
        (Laplace(epsilon=1, sensitivity=1, grid=Grid(Fraction(1))), 0.5),
        (RandomisedResponse.two_coins(), 0.001),
        (Gaussian(epsilon=1, delta=1e-6, sensitivity=1), 1e-9),
    ):
        with pytest.raises(PrivacyError) as refusal:
            mechanism.with_accuracy(error, size=10)
        assert refusal.value.code == "CEL-M011"


@pytest.mark.parametrize("error", [0, -1, float("nan"), "5", None])
def test_a_wish_that_is_no_error_is_refused(error: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Geometric(epsilon=1).with_accuracy(error)
    assert refusal.value.code == "CEL-I060"


@pytest.mark.parametrize("size", [0, -1, 1.5, None])
def test_a_number_of_coordinates_that_is_none_is_refused(size: Any) -> None:
    for mechanism in (Geometric(epsilon=1), RandomisedResponse.two_coins()):
        with pytest.raises(InputError) as refusal:
            mechanism.accuracy(size=size)
        assert refusal.value.code == "CEL-I060"


def test_accuracy_and_failure_are_inverse_to_each_other() -> None:
    for mechanism in ADDITIVE:
        error = mechanism.accuracy(0.95, size=7)
        assert mechanism.failure(error, size=7) <= 0.05 * (1 + 1e-6)
        one_step = float(mechanism.resolution.step)
        if ceil(error / one_step) < 10**6:
            assert mechanism.failure(error - 1.5 * one_step, size=7) > 0.05
