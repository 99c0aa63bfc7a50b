"""Yes or no, told with a chance that each respondent can deny."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import e, exp, log, prod, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.directed_rounding import exp_below
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.responses.randomised_response import RandomisedResponse

CHANCES = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000)


def test_two_coins_tell_the_truth_three_times_in_four() -> None:
    mechanism = RandomisedResponse.two_coins()
    assert mechanism.transition.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert mechanism.epsilon == pytest.approx(1.0986123, abs=1e-7)
    assert log(3) <= mechanism.epsilon < log(3) + 1e-14


def test_three_answers_lose_at_most_log_three_to_one_change() -> None:
    chance = RandomisedResponse.two_coins().transition
    answers = list(product((0, 1), repeat=3))

    def likelihood(truths: tuple[int, ...], told: tuple[int, ...]) -> float:
        return prod(float(chance[t, a]) for t, a in zip(truths, told, strict=True))

    worst = max(
        log(likelihood(one, told) / likelihood(other, told))
        for one in answers
        for other in answers
        for told in answers
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )
    assert worst == pytest.approx(log(3), rel=1e-12)


def test_the_estimate_undoes_the_coins() -> None:
    mechanism = RandomisedResponse.two_coins()
    assert [mechanism.rate(share) for share in (0.25, 0.5, 0.75)] == [0, 0.5, 1]
    assert mechanism.estimate([True, False, True, False]).rate == 0.5
    found = mechanism.estimate([1] * 10)
    assert found.rate == 1.5
    assert mechanism.estimate([1] * 10, clip=True).rate == 1
    assert mechanism.estimate([0] * 10, clip=True).rate == 0


@given(CHANCES, CHANCES, st.fractions(0, 1))
def test_the_estimate_is_unbiased_for_all_chances(
    truth: Fraction, yes: Fraction, rate: Fraction
) -> None:
    mechanism = RandomisedResponse(truth=truth, yes=yes)
    expected_share = float(truth * rate + (1 - truth) * yes)
    assert mechanism.rate(expected_share) == pytest.approx(float(rate), abs=1e-9)
    no, told = mechanism.transition
    assert float(rate) * told[1] + float(1 - rate) * no[1] == pytest.approx(expected_share)


@given(CHANCES, CHANCES)
def test_the_loss_is_the_largest_ratio_of_the_matrix(truth: Fraction, yes: Fraction) -> None:
    mechanism = RandomisedResponse(truth=truth, yes=yes)
    no, told = mechanism.transition
    worst = max(abs(log(told[answer] / no[answer])) for answer in (0, 1))
    assert mechanism.epsilon == pytest.approx(worst, abs=1e-12)
    assert mechanism.privacy_loss().pure == mechanism.epsilon


def test_the_highest_chance_of_the_truth_for_an_epsilon_of_one() -> None:
    mechanism = RandomisedResponse.for_epsilon(1)
    assert float(mechanism.truth) == pytest.approx(0.4621172, abs=1e-7)
    assert float(mechanism.truth) == pytest.approx((e - 1) / (e + 1), rel=1e-15)
    assert mechanism.privacy_loss() == PureLoss(Fraction(1))


@given(st.floats(1e-9, 30), st.sampled_from([0.5, 0.1, Fraction(2, 3)]))
def test_an_epsilon_is_never_exceeded_and_nearly_met(epsilon: float, yes: float) -> None:
    mechanism = RandomisedResponse.for_epsilon(epsilon, yes=yes)
    truth, chance = Fraction(mechanism.truth), Fraction(str(yes))
    no, told = (1 - truth) * chance, truth + (1 - truth) * chance
    worst = max(told / no, (1 - no) / (1 - told))
    assert worst <= exp_below(Fraction(repr(epsilon))) * (1 + Fraction(1, 10**60))
    assert log(worst) == pytest.approx(epsilon, rel=1e-4)
    assert mechanism.epsilon <= epsilon * (1 + 1e-15) + 2e-15  # rounded up, twice


def test_a_huge_epsilon_still_lets_people_deny() -> None:
    mechanism = RandomisedResponse.for_epsilon(100)
    assert 0 < mechanism.truth < 1
    assert 40 < mechanism.epsilon <= 100


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.1, float("nan"), "0.5", None, True, 1e-300])
def test_what_is_no_chance_is_refused_on_creation(bad: Any) -> None:
    for parameters in ({"truth": bad}, {"truth": 0.5, "yes": bad}):
        with pytest.raises(InputError) as refusal:
            RandomisedResponse(**parameters)
        assert refusal.value.code == "CEL-I060"


def test_only_changing_an_answer_is_hidden() -> None:
    with pytest.raises(PrivacyError) as refusal:
        RandomisedResponse(truth=0.5, neighbours=ADD_REMOVE)
    assert refusal.value.code == "CEL-M044"
    person = Neighbours(Relation.CHANGE_ONE, unit="person")
    assert RandomisedResponse.for_epsilon(1, neighbours=person).neighbours == person
    assert RandomisedResponse(truth=0.5).neighbours == CHANGE_ONE


MASKED = np.ma.masked_array([0, 1], mask=[False, True])


@pytest.mark.parametrize(
    "bad",
    [2, -1, 0.5, float("nan"), "yes", None, [0, 2], [0, None], [[0, 1]], [[0], [1, 0]], MASKED],
)
def test_what_is_no_answer_is_refused_before_any_coin(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        RandomisedResponse.two_coins().release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M046"


def test_one_answer_gives_a_truth_value_and_a_list_gives_an_array() -> None:
    mechanism = RandomisedResponse.two_coins()
    for one in (True, 1, np.bool_(False), 0.0):
        assert isinstance(mechanism.release(one, rng=Seeded(1)), bool)
    many = mechanism.release([True, False, True], rng=Seeded(1))
    assert many.dtype == np.bool_
    assert many.shape == (3,)


def test_nothing_is_estimated_from_nothing() -> None:
    with pytest.raises(InputError) as refusal:
        RandomisedResponse.two_coins().estimate([])
    assert refusal.value.code == "CEL-M049"


@pytest.mark.statistical
def test_answers_fall_as_the_matrix_says_and_not_otherwise() -> None:
    mechanism = RandomisedResponse(truth=0.3, yes=0.2)
    size = 50_000
    for truth in (0, 1):
        told = mechanism.release(np.full(size, truth), rng=Seeded(4 + truth)).mean()
        expected = mechanism.transition[truth, 1]
        deviation = sqrt(expected * (1 - expected) / size)
        assert abs(told - expected) < 4 * deviation
        assert abs(told - 0.8 * expected) > 4 * deviation
        assert abs(told - 1.25 * expected) > 4 * deviation


@pytest.mark.statistical
def test_the_estimate_is_unbiased_with_the_variance_that_is_stated() -> None:
    mechanism, rng = RandomisedResponse.two_coins(), Seeded(18)
    rounds, size, rate = 4000, 50, 0.2
    truths = rng.integers(5, rounds * size) == 0
    told = mechanism.release(truths, rng=rng).reshape(rounds, size)
    rates = np.array([mechanism.estimate(row).rate for row in told])
    share = rate / 2 + 0.25
    variance = 4 * share * (1 - share) / size
    assert 0.75 / size <= variance <= 1 / size
    assert abs(rates.mean() - rate) < 4 * sqrt(variance / rounds)
    # Nearly normal: the relative deviation of the variance is sqrt(2 / rounds).
    assert np.var(rates) == pytest.approx(variance, rel=4 * sqrt(2 / rounds))
    stated = np.mean([mechanism.estimate(row).variance for row in told])
    # An estimated s (1 - s) is (n - 1) / n of the true one on average.
    assert stated == pytest.approx(variance * (size - 1) / size, rel=0.01)


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [0.0, 0.37, 1.0])
def test_the_error_stays_within_its_bound_for_all_rates(rate: float) -> None:
    mechanism, size, rounds = RandomisedResponse.for_epsilon(1), 200, 1000
    truths = np.tile(np.arange(size) < rate * size, rounds)
    told = mechanism.release(truths, rng=Seeded(7)).reshape(rounds, size)
    errors = [abs(mechanism.estimate(row).rate - rate) for row in told]
    error = mechanism.accuracy(0.9, size=size)
    assert np.mean(np.array(errors) > error) <= 0.1
    # Hoeffding is not far from the truth: half the bound fails far more often than one in ten.
    assert np.mean(np.array(errors) > error / 2) > 0.1


def test_an_interval_holds_the_rate_of_a_list_and_none_of_one_answer() -> None:
    mechanism = RandomisedResponse.two_coins()
    assert mechanism.interval(Measurement(True)) is None
    told = mechanism.measure(np.arange(10_000) < 3000, rng=Seeded(3))
    bounds = mechanism.interval(told, 0.99)
    assert bounds is not None
    assert 0 < bounds[0] < 0.3 < bounds[1] < 1
    assert bounds[1] - bounds[0] == pytest.approx(2 * mechanism.accuracy(0.99, size=10_000))


def test_an_estimate_tells_its_error() -> None:
    found = RandomisedResponse.two_coins().estimate([1, 0, 0, 0])
    assert found.as_dict() == {"rate": 0.0, "variance": 4 * 0.1875 / 4, "size": 4}
    assert str(found) == "0.0000 +- 0.4330 (standard error, 4 answers)"


def test_it_prints_its_chances() -> None:
    told = "RandomisedResponse(truth=0.462117, yes=0.5)"
    assert str(RandomisedResponse.for_epsilon(1)) == told


def test_a_wish_keeps_the_chance_of_a_yes_and_the_neighbours() -> None:
    start = RandomisedResponse(truth=0.5, yes=0.25)
    found = start.with_accuracy(0.05, size=10_000)
    assert found.yes == 0.25
    assert found.accuracy(size=10_000) <= 0.05
    less = RandomisedResponse.for_epsilon(found.epsilon * 0.999, yes=0.25)
    assert less.accuracy(size=10_000) > 0.05
    assert exp(found.epsilon) > 1
