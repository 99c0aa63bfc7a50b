"""The rules against adversaries who choose each epsilon by the answers so far."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, log, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.pairs import Strategy, transcripts

from celosia.accounting.filters import (
    AdvancedFilter,
    Allowance,
    BasicFilter,
    ConcentratedFilter,
    EpsilonOrRhoFilter,
    Filter,
    Price,
    RenyiFilter,
    advanced_limit,
    concentrated_limit,
    renyi_limits,
)
from celosia.accounting.losses import ApproximateLoss, BoundedRangeLoss, ComposedLoss, PureLoss
from celosia.accounting.noise_losses import GaussianLoss, concentrated_curve
from celosia.core.errors import PrivacyError

ROUNDS = 8
SIZES = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8]


def leaked(rule: Filter, strategy: Strategy, epsilon: float, rounds: int = ROUNDS) -> float:
    """The exact delta of everything that an adversary gets out of a rule."""
    cache: dict[tuple[tuple[float, ...], float], bool] = {}

    def admit(spent: tuple[float, ...], asked: float) -> bool:
        key = (spent, asked)
        if key not in cache:
            total = rule.nothing
            for each in (*spent, asked):
                total = total + rule.price(PureLoss(Fraction(each)))
            cache[key] = rule.admits(total)
        return cache[key]

    leaves = transcripts(strategy, admit, rounds)
    assert sum(p for _, p, _ in leaves) == pytest.approx(1)
    return max(
        sum(max(0.0, p - exp(epsilon) * q) for _, p, q in leaves),
        sum(max(0.0, q - exp(epsilon) * p) for _, p, q in leaves),
    )


@cache
def rules(epsilon: float, delta: float) -> list[Filter]:
    names = ("basic", "concentrated", "renyi", "advanced", "either")
    return [Allowance(epsilon=epsilon, delta=delta, filter=name).rule for name in names]


@settings(max_examples=20)
@given(seed=st.integers(0, 10**9), epsilon=st.sampled_from([0.3, 0.6, 1.0]))
def test_no_adaptive_adversary_gets_more_than_was_promised(seed: int, epsilon: float) -> None:
    delta = 0.05

    def strategy(answers: tuple[int, ...]) -> float:
        return Random(f"{seed} {answers}").choice(SIZES)

    for rule in rules(epsilon, delta):
        assert leaked(rule, strategy, epsilon, rounds=6) <= delta
    assert leaked(Allowance(epsilon=epsilon).rule, strategy, epsilon, rounds=6) <= 1e-15


def doubling_down(answers: tuple[int, ...]) -> float:
    """Asks little while the answers favour one side, and more while they do not."""
    lead = sum(1 if answer == 1 else -1 for answer in answers if answer >= 0)
    return 0.1 if lead > 0 else 0.2 if lead == 0 else 0.4


def steady(answers: tuple[int, ...]) -> float:
    return 0.25


@pytest.mark.parametrize("strategy", [doubling_down, steady])
def test_stubborn_adversaries_are_stopped_and_looser_rules_would_let_them_through(
    strategy: Strategy,
) -> None:
    epsilon, delta = 0.5, 0.02
    for rule in rules(epsilon, delta):
        assert leaked(rule, strategy, epsilon, rounds=10) <= delta
    # The same rules with limits that are too large break the promise: the test has teeth.
    rho = concentrated_limit(Fraction(1, 2), Fraction(1, 50))
    assert leaked(ConcentratedFilter(8 * rho, Fraction(0)), strategy, epsilon, rounds=10) > delta
    assert leaked(BasicFilter(Fraction(1), Fraction(0)), strategy, epsilon, rounds=10) > 0


def test_choosing_the_better_rule_costs_nothing_only_with_the_one_that_cannot_fail() -> None:
    few, many = Allowance(epsilon=1, delta=1e-6).rule, Allowance(epsilon=1, delta=1e-6).rule
    assert isinstance(few, EpsilonOrRhoFilter)
    one = few.price(PureLoss(Fraction(1)))
    assert few.admits(one)  # basic would, concentrated would not
    assert not few.admits(one + few.price(PureLoss(Fraction(1, 10**6))))
    small = many.nothing
    for _ in range(300):  # concentrated would, basic would not
        small = small + many.price(PureLoss(Fraction(1, 100)))
    assert many.admits(small)
    assert small["epsilon"] == 3


@settings(max_examples=40)
@given(epsilon=st.floats(0.01, 10), slack=st.floats(1e-12, 0.1))
def test_the_limits_are_just_at_the_edge_of_their_theorems(epsilon: float, slack: float) -> None:
    squares = float(advanced_limit(Fraction(epsilon), Fraction(slack)))
    reached = sqrt(2 * log(1 / slack) * squares) + squares / 2
    assert epsilon * (1 - 1e-9) <= reached <= epsilon
    rho = float(concentrated_limit(Fraction(epsilon), Fraction(slack)))
    place = np.array([epsilon])
    assert concentrated_curve(rho, place)[0] <= slack
    assert concentrated_curve(rho * (1 + 1e-6), place)[0] > slack * (1 - 1e-4)
    assert rho >= squares / 2 * (1 - 1e-9)  # the concentrated rule is never the stricter one


def test_the_orders_of_the_renyi_rule_share_delta() -> None:
    epsilon, delta, orders = 2.0, 1e-5, (2.0, 8.0, 64.0)
    for order, limit in renyi_limits(Fraction(2), Fraction(1, 10**5), orders):
        share = exp((order - 1) * (float(limit) - epsilon)) * (1 - 1 / order) ** order / (order - 1)
        assert share == pytest.approx(delta / 3, rel=1e-6)
        assert share <= delta / 3
    assert [order for order, _ in renyi_limits(Fraction(1, 10), Fraction(1, 10**9), orders)] == []


def test_prices_are_exact() -> None:
    tenth = Fraction(1, 10)
    basic = BasicFilter(Fraction(1), Fraction(1, 100))
    assert basic.price(PureLoss(tenth)) == Price({"epsilon": tenth, "delta": Fraction(0)})
    both = ComposedLoss((PureLoss(tenth), ApproximateLoss(tenth, 1e-6)))
    assert basic.price(both) == Price({"epsilon": tenth * 2, "delta": Fraction(1, 10**6)})
    rho = ConcentratedFilter(Fraction(1), Fraction(1, 100))
    assert rho.price(PureLoss(tenth))["rho"] == Fraction(1, 200)
    assert rho.price(BoundedRangeLoss(tenth))["rho"] == Fraction(1, 800)
    assert rho.price(GaussianLoss(Fraction(50), 1))["rho"] == Fraction(1, 100)
    assert rho.price(both)["rho"] == Fraction(1, 100)
    assert rho.price(both)["delta"] == Fraction(1, 10**6)
    assert AdvancedFilter(Fraction(1), Fraction(0)).price(PureLoss(tenth))["squares"] == Fraction(
        1, 100
    )


def test_gaussian_noise_is_charged_with_a_delta_where_a_rule_needs_an_epsilon() -> None:
    loss, delta = GaussianLoss(Fraction(100), 1), Fraction(1, 10**7)
    for rule in (
        BasicFilter(Fraction(1), Fraction(1, 100)),
        AdvancedFilter(Fraction(1), Fraction(1, 100)),
    ):
        with pytest.raises(PrivacyError) as caught:
            rule.price(loss)
        assert caught.value.code == "CEL-B062"
        assert rule.price(loss, delta=delta)["delta"] == delta
    charged = BasicFilter(Fraction(1), Fraction(1, 100)).price(loss, delta=delta)["epsilon"]
    assert charged is not None
    assert loss.delta(float(charged)) <= float(delta) * (1 + 1e-9)


def test_a_loss_with_no_finite_divergence_is_refused_by_the_renyi_rule() -> None:
    rule = Allowance(epsilon=1, delta=1e-6, filter="renyi").rule
    assert isinstance(rule, RenyiFilter)
    with pytest.raises(PrivacyError) as caught:
        rule.price(ApproximateLoss(Fraction(1, 10), 1e-9))
    assert caught.value.code == "CEL-B062"
