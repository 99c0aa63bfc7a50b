"""Choosing an epsilon by error, by risk, or by both."""

from __future__ import annotations

import json
from math import exp, log

import pytest

from celosia.accounting.belief import belief_interval, epsilon_for_belief
from celosia.core.errors import InputError, PrivacyError
from celosia.mechanisms.additive.gaussian import Gaussian, GaussianCounts
from celosia.mechanisms.additive.laplace import Laplace
from celosia.mechanisms.calibration import EPSILONS, Targets, choose_epsilon, error_curve

COUNT = Laplace(epsilon=1, sensitivity=1)


def test_the_error_of_laplace_noise_falls_as_one_over_epsilon() -> None:
    curve = error_curve(COUNT, confidence=0.95)
    assert [point.epsilon for point in curve.points] == list(EPSILONS)
    for point in curve.points:
        assert point.error == pytest.approx(log(20) / point.epsilon, rel=1e-4)
    many = error_curve(COUNT, (1.0,), size=100)
    assert many.points[0].error > curve.points[4].error
    assert json.loads(json.dumps(curve.as_dict()))["parameter"] == "epsilon"
    assert str(curve).splitlines()[0].split() == ["epsilon", "error", "(95%)"]


def test_a_wish_about_belief_gives_the_largest_epsilon_that_keeps_it() -> None:
    choice = choose_epsilon(COUNT, Targets(prior=0.5, belief=0.75))
    assert choice.epsilon == 0.6931  # ln 2, rounded down
    assert choice.mechanism == Laplace(epsilon=0.6931, sensitivity=1)
    assert belief_interval(0.5, choice.epsilon).high <= 0.75
    half = next(belief for belief in choice.beliefs if belief.prior == 0.5)
    assert half.high <= 0.75
    assert choice.error == pytest.approx(log(20) / 0.6931, rel=1e-4)


def test_a_wish_about_advantage_does_too() -> None:
    choice = choose_epsilon(COUNT, Targets(advantage=0.1))
    assert choice.epsilon == pytest.approx(log(1.1 / 0.9), rel=1e-3)
    assert choice.advantage <= 0.1
    assert choice.advantage == pytest.approx((exp(choice.epsilon) - 1) / (exp(choice.epsilon) + 1))


def test_of_two_targets_about_risk_the_stricter_counts() -> None:
    loose, strict = Targets(belief=0.9, advantage=0.1), Targets(belief=0.51, advantage=0.9)
    assert (
        choose_epsilon(COUNT, loose).epsilon
        == choose_epsilon(COUNT, Targets(advantage=0.1)).epsilon
    )
    assert (
        choose_epsilon(COUNT, strict).epsilon == choose_epsilon(COUNT, Targets(belief=0.51)).epsilon
    )


def test_a_wish_about_error_spends_no_more_than_it_needs() -> None:
    choice = choose_epsilon(COUNT, Targets(error=10))
    assert choice.error <= 10
    assert choice.epsilon == pytest.approx(log(20) / 10, rel=1e-3)
    assert choose_epsilon(COUNT, Targets(error=10, belief=0.9)).epsilon == choice.epsilon


def test_targets_that_contradict_each_other_are_told_apart() -> None:
    with pytest.raises(PrivacyError) as caught:
        choose_epsilon(COUNT, Targets(error=1, belief=0.6))
    assert caught.value.code == "CEL-B071"
    assert caught.value.details["needed"] == pytest.approx(log(20), rel=1e-3)
    assert caught.value.details["allowed"] == pytest.approx(epsilon_for_belief(0.5, at_most=0.6))


def test_without_a_wish_nothing_is_chosen() -> None:
    with pytest.raises(InputError) as caught:
        choose_epsilon(COUNT, Targets())
    assert caught.value.code == "CEL-B072"


def test_a_mechanism_with_a_delta_is_chosen_at_that_delta() -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    choice = choose_epsilon(mechanism, Targets(belief=0.75, delta=1e-6))
    assert 0.68 < choice.epsilon <= epsilon_for_belief(0.5, at_most=0.75, delta=1e-6)
    with pytest.raises(PrivacyError) as caught:
        choose_epsilon(mechanism, Targets(belief=0.75))
    assert caught.value.code == "CEL-B071"


def test_a_mechanism_that_is_priced_in_rho_is_chosen_by_its_epsilon() -> None:
    choice = choose_epsilon(GaussianCounts(rho=1), Targets(belief=0.75, delta=1e-6))
    allowed = epsilon_for_belief(0.5, at_most=0.75, delta=1e-6)
    assert 0.995 * allowed < choice.epsilon <= allowed
    assert error_curve(GaussianCounts(rho=1), (0.1,)).parameter == "rho"


def test_an_impossible_belief_is_refused() -> None:
    with pytest.raises(PrivacyError) as caught:
        choose_epsilon(COUNT, Targets(prior=0.5, belief=0.4))
    assert caught.value.code == "CEL-B071"


def test_a_choice_prints_and_serialises() -> None:
    choice = choose_epsilon(COUNT, Targets(error=10))
    assert "as little as the error needs" in str(choice)
    assert json.loads(json.dumps(choice.as_dict()))["confidence"] == 0.95


@pytest.mark.parametrize("epsilon", [0, -1, 1000, "1"])
def test_a_curve_of_bad_epsilons_is_refused(epsilon: float) -> None:
    with pytest.raises(InputError) as caught:
        error_curve(COUNT, (epsilon,))
    assert caught.value.code == "CEL-I060"
