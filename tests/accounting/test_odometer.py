"""Readings that are right at every moment at once."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.pairs import Strategy

from celosia.accounting.amplification import amplify_by_poisson_sampling
from celosia.accounting.losses import ApproximateLoss, ComposedLoss, PureLoss
from celosia.accounting.noise_losses import GaussianLoss
from celosia.accounting.odometer import Odometer
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError


def ever_wrong(strategy: Strategy, delta: float, rounds: int, *, cut: float = 1.0) -> float:
    """The exact chance that the loss of an adversary is ever above `cut` times a reading."""

    def walk(answers: tuple[int, ...], spent: tuple[float, ...], loss: float) -> float:
        meter = Odometer(delta=delta)
        reading = meter.reading
        for each in spent:
            reading = meter.spend(PureLoss(Fraction(each)))
        if loss > cut * reading.epsilon + 1e-12:
            return 1.0
        if len(answers) == rounds:
            return 0.0
        epsilon = strategy(answers)
        truth = 1 / (1 + exp(-epsilon))
        return truth * walk((*answers, 1), (*spent, epsilon), loss + epsilon) + (1 - truth) * walk(
            (*answers, 0), (*spent, epsilon), loss - epsilon
        )

    return walk((), (), 0.0)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**9))
def test_an_adaptive_adversary_makes_a_reading_wrong_with_at_most_delta(seed: int) -> None:
    def strategy(answers: tuple[int, ...]) -> float:
        return Random(f"{seed} {answers}").choice([0.1, 0.3, 0.6, 1.0])

    assert ever_wrong(strategy, 0.2, 6) <= 0.2


def test_readings_that_are_too_low_are_wrong_at_some_moment() -> None:
    def steady(answers: tuple[int, ...]) -> float:
        return 0.5

    assert ever_wrong(steady, 0.2, 8) <= 0.2
    assert ever_wrong(steady, 0.2, 8, cut=0.5) > 0.2


def test_the_sum_is_read_first_and_the_mixture_later() -> None:
    meter = Odometer(delta=1e-6)
    assert meter.reading.epsilon == 0
    readings = [meter.spend(PureLoss(Fraction(1, 100))).epsilon for _ in range(2000)]
    assert readings[:10] == [pytest.approx(i / 100) for i in range(1, 11)]
    assert readings[0] == 0.01  # to the last digit
    assert readings == sorted(readings)
    fixed = ComposedLoss((PureLoss(Fraction(1, 100)),) * 2000).epsilon(1e-6)
    # Valid at all times costs more than valid at one, but far less than the sum of 20.
    assert fixed < readings[-1] < 2 * fixed < 20


def test_a_reading_where_it_was_tuned_is_close_to_a_bound_for_that_moment_alone() -> None:
    rho = Fraction(1, 50)
    meter = Odometer(delta=1e-6, tuned_for=1)
    found = meter.spend(GaussianLoss(1 / (2 * rho), 1)).epsilon
    alone = float(rho) + 2 * (float(rho) * log(1 / 1e-6)) ** 0.5
    assert alone < found < 1.3 * alone


def test_losses_with_a_delta_of_their_own_use_what_is_set_aside() -> None:
    meter = Odometer(delta=1e-6)
    meter.spend(ApproximateLoss(Fraction(1, 10), 4e-7))
    with pytest.raises(BudgetExceeded) as caught:
        meter.spend(ApproximateLoss(Fraction(1, 10), 4e-7))
    assert caught.value.code == "CEL-B064"
    assert meter.reading.charges == 1


def test_a_loss_without_rho_needs_a_delta() -> None:
    meter, loss = (
        Odometer(delta=1e-6),
        amplify_by_poisson_sampling(GaussianLoss(Fraction(100), 1), rate=0.1),
    )
    with pytest.raises(PrivacyError) as caught:
        meter.spend(loss)
    assert caught.value.code == "CEL-B062"
    assert meter.spend(loss, delta=1e-8).epsilon <= loss.epsilon(1e-8) * (1 + 1e-12)


def test_gaussian_losses_have_no_sum_but_a_reading() -> None:
    meter = Odometer(delta=1e-6)
    reading = meter.spend(GaussianLoss(Fraction(100), 1))
    assert 0 < reading.epsilon < inf
    assert reading.as_dict() == {"epsilon": reading.epsilon, "delta": 1e-6, "charges": 1}


@pytest.mark.parametrize("settings", [{"delta": 0}, {"delta": 1e-6, "slack": 1}, {"delta": 2}])
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Odometer(**settings)
