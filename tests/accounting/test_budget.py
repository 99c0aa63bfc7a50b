"""Budgets: exact, never exceeded, shared by threads and tables."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import exp, log1p
from threading import Barrier
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from celosia.accounting.amplification import amplify_by_poisson_sampling
from celosia.accounting.budget import Budget
from celosia.accounting.filters import FILTERS, Allowance
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    "loss", [PureLoss(TENTH), LaplaceLoss(Fraction(10), 1), BoundedRangeLoss(TENTH)]
)
def test_ten_charges_of_a_tenth_are_exactly_one(loss: Loss) -> None:
    budget = Budget(epsilon=1)
    for _ in range(10):
        left = budget.spend(loss)
    assert left["epsilon"] == 0
    assert budget.spent["epsilon"] == 1
    with pytest.raises(BudgetExceeded):
        budget.spend(PureLoss(Fraction(1, 10**30)))


def test_an_epsilon_that_floats_cannot_write_is_charged_exactly() -> None:
    budget = Budget(epsilon=Fraction(1, 3))
    for _ in range(3):
        budget.spend(PureLoss(Fraction(1, 9)))
    assert budget.remaining["epsilon"] == 0


def test_a_refusal_says_what_was_asked_and_what_is_left_and_records_nothing() -> None:
    budget = Budget(epsilon=1)
    budget.spend(PureLoss(Fraction(7, 10)), label="ages")
    before = budget.as_dict()
    assert not budget.can_afford(PureLoss(Fraction(4, 10)))
    with pytest.raises(BudgetExceeded) as caught:
        budget.spend(PureLoss(Fraction(4, 10)))
    assert caught.value.code == "CEL-B063"
    assert caught.value.details["requested"] == {"epsilon": 0.4, "delta": 0.0}
    assert caught.value.details["remaining"] == {"epsilon": 0.3, "delta": 0.0}
    assert budget.as_dict() == before
    assert budget.can_afford(PureLoss(Fraction(3, 10)))
    assert budget.spend(PureLoss(Fraction(3, 10)))["epsilon"] == 0


def test_deltas_are_spent_too() -> None:
    budget = Budget(epsilon=10, delta=1e-6, filter="basic")
    budget.spend(ApproximateLoss(Fraction(1), 6e-7))
    with pytest.raises(BudgetExceeded):
        budget.spend(ApproximateLoss(Fraction(1), 6e-7))
    assert budget.spend(ApproximateLoss(Fraction(1), 4e-7))["delta"] == 0


def test_a_rho_budget_adds_rhos() -> None:
    budget = Budget(rho=0.5)
    budget.spend(GaussianLoss(Fraction(4), 1))
    budget.spend(ConcentratedLoss(Fraction(1, 4)))
    assert budget.remaining["rho"] == Fraction(1, 8)
    budget.spend(PureLoss(Fraction(1, 2)))
    assert budget.remaining["rho"] == 0


def test_with_a_delta_many_small_releases_cost_less_than_their_sum() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    charged = 0
    while budget.can_afford(PureLoss(Fraction(1, 100))):
        budget.spend(PureLoss(Fraction(1, 100)))
        charged += 1

    def delta(rho: float) -> float:
        # Canonne, Kamath & Steinke 2020, Cor. 13, on a plain grid of orders.
        return min(
            exp((a - 1) * (a * rho - 1)) / (a - 1) * exp(a * log1p(-1 / a))
            for a in (1 + i / 100 for i in range(1, 10_000))
        )

    # Half of delta is set aside for releases with a delta of their own.
    assert delta(charged / 20_000) <= 5e-7 < delta((charged + 1) / 20_000)
    assert charged > 4 * 100  # what the sum of epsilons would allow


def test_every_rule_counts_charges_of_a_composition_one_by_one() -> None:
    for name in FILTERS:
        one, other = (Budget(epsilon=2, delta=1e-6, filter=name) for _ in range(2))
        parts = [PureLoss(TENTH), LaplaceLoss(Fraction(20), 1), BoundedRangeLoss(TENTH)]
        if name != "basic":
            parts.append(PureLoss(Fraction(1, 50)))
        for part in parts:
            one.spend(part)
        other.spend(ComposedLoss(tuple(parts)))
        assert one.spent == other.spent


def test_gaussian_noise_fits_into_the_rules_that_can_read_it() -> None:
    loss = GaussianLoss(Fraction(10_000), 1)
    for name in ("concentrated", "renyi", "either"):
        Budget(epsilon=1, delta=1e-6, filter=name).spend(loss)
    for name in ("basic", "advanced"):
        budget = Budget(epsilon=1, delta=1e-6, filter=name)
        with pytest.raises(PrivacyError) as caught:
            budget.spend(loss)
        assert caught.value.code == "CEL-B062"
        budget.spend(loss, delta=1e-7)
        assert budget.spent["delta"] == Fraction(1, 10**7)


def test_a_sampled_gaussian_is_charged_by_its_own_delta() -> None:
    loss = amplify_by_poisson_sampling(GaussianLoss(Fraction(100), 1), rate=0.1)
    budget = Budget(epsilon=1, delta=1e-6)
    with pytest.raises(PrivacyError):
        budget.spend(loss)
    budget.spend(loss, delta=1e-8)
    assert budget.spent["delta"] == Fraction(1, 10**8)


def test_one_person_in_several_tables_is_protected_by_one_budget() -> None:
    person = Neighbours(unit="person")
    budget = Budget(epsilon=1, neighbours=person)
    budget.spend(PureLoss(TENTH), label="patients", neighbours=person)
    budget.spend(PureLoss(TENTH), label="visits", neighbours=ADD_REMOVE, rows_per_unit=5)
    assert [(charge.label, charge.price["epsilon"]) for charge in budget.history] == [
        ("patients", TENTH),
        ("visits", 5 * TENTH),
    ]
    with pytest.raises(PrivacyError) as caught:
        budget.spend(PureLoss(TENTH), neighbours=CHANGE_ONE, rows_per_unit=5)
    assert caught.value.key == "CEL-B045.add_remove"
    with pytest.raises(PrivacyError):
        budget.spend(PureLoss(TENTH), neighbours=ADD_REMOVE)
    assert budget.spent["epsilon"] == 6 * TENTH


def test_add_remove_losses_cost_a_change_one_budget_twice() -> None:
    budget = Budget(epsilon=1, neighbours=Neighbours(Relation.CHANGE_ONE))
    budget.spend(PureLoss(TENTH), neighbours=ADD_REMOVE)
    assert budget.spent["epsilon"] == 2 * TENTH


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_that_race_for_the_last_epsilon_spend_it_once(threads: int) -> None:
    for _ in range(30):
        budget, start = Budget(epsilon=1), Barrier(threads)
        budget.spend(PureLoss(Fraction(9, 10)))

        def race(budget: Budget = budget, start: Barrier = start) -> bool:
            start.wait()
            try:
                budget.spend(PureLoss(TENTH))
            except BudgetExceeded:
                return False
            return True

        with ThreadPoolExecutor(threads) as pool:
            wins = sum(each.result() for each in [pool.submit(race) for _ in range(threads)])
        assert wins == 1
        assert len(budget.history) == 2
        assert budget.spent["epsilon"] == 1


class Spending(RuleBasedStateMachine):
    """Any sequence of charges against a plain account of the same currency."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget(epsilon=1)
        self.paid: list[tuple[Fraction, Fraction]] = []

    @initialize(name=st.sampled_from(["basic", "concentrated", "advanced", "either"]))
    def choose_rule(self, name: str) -> None:
        self.name = name
        self.budget = Budget(epsilon=1, delta=1e-4, filter=name)

    @rule(epsilon=st.fractions(0, 2, max_denominator=60), failure=st.sampled_from([0, 1, 20]))
    def spend(self, epsilon: Fraction, failure: int) -> None:
        delta = Fraction(failure, 10**6)
        loss = ApproximateLoss(epsilon, float(delta)) if delta else PureLoss(epsilon)
        before, affordable = self.budget.as_dict(), self.budget.can_afford(loss)
        try:
            self.budget.spend(loss)
        except BudgetExceeded:
            assert not affordable
            assert self.budget.as_dict() == before
            assert not self.fits([*self.paid, (epsilon, delta)])
        else:
            assert affordable
            self.paid.append((epsilon, delta))

    def fits(self, paid: list[tuple[Fraction, Fraction]]) -> bool:
        limits = self.budget.allowance.rule.limits
        sums = {
            "epsilon": sum(epsilon for epsilon, _ in paid),
            "rho": sum(epsilon**2 / 2 for epsilon, _ in paid),
            "squares": sum(epsilon**2 for epsilon, _ in paid),
            "delta": sum(delta for _, delta in paid),
        }
        within = {name: sums[name] <= limit for name, limit in limits.items()}
        if self.name == "either":
            return (within["epsilon"] or within["rho"]) and within["delta"]
        return all(within.values())

    @invariant()
    def never_exceeded(self) -> None:
        assert self.fits(self.paid)
        assert len(self.budget.history) == len(self.paid)


TestSpending = Spending.TestCase
TestSpending.settings = settings(max_examples=25, stateful_step_count=20)


def test_the_default_rule_fits_the_promise() -> None:
    assert Allowance(epsilon=1).filter == "basic"
    assert Allowance(epsilon=1, delta=1e-6).filter == "either"
    assert Allowance(rho=1).filter == "concentrated"


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("CEL-B060", {}),
        ("CEL-B060", {"epsilon": 1, "rho": 1}),
        ("CEL-B060", {"epsilon": 1, "allowance": Allowance(epsilon=1)}),
        ("CEL-I060", {"epsilon": 0}),
        ("CEL-I060", {"epsilon": "1"}),
        ("CEL-I060", {"epsilon": float("inf")}),
        ("CEL-I060", {"epsilon": 1, "delta": 1}),
        ("CEL-I060", {"epsilon": 1, "delta": 1e-6, "slack": 1}),
        ("CEL-B061", {"epsilon": 1, "filter": "advanced"}),
        ("CEL-B061", {"epsilon": 1, "delta": 1e-6, "filter": "basics"}),
        ("CEL-B061", {"rho": 1, "filter": "basic"}),
        ("CEL-B061", {"epsilon": 1, "delta": 1e-6, "filter": "renyi", "orders": (2, 2)}),
        ("CEL-B061", {"epsilon": 1, "delta": 1e-6, "filter": "renyi", "orders": (1, 2)}),
        ("CEL-B061", {"epsilon": 0.01, "delta": 1e-9, "filter": "renyi"}),
        ("CEL-I060", {"epsilon": Fraction(10**400), "delta": 1e-9}),
        ("CEL-B061", {"epsilon": 1, "delta": 1e-6, "filter": "renyi", "orders": ("2",)}),
    ],
)
def test_bad_budgets_are_refused(code: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Budget(**arguments)
    assert caught.value.code == code


def test_a_misspelt_filter_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'renyi'"):
        Budget(epsilon=1, delta=1e-6, filter="reny")


def test_it_explains_itself() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    assert budget.explain().fixed is None
    for _ in range(50):
        budget.spend(PureLoss(Fraction(1, 100)), label="count")
    told = budget.explain()
    assert told.fixed is not None
    epsilons = {bound.name: bound.epsilon for bound in told.fixed.bounds}
    assert min(epsilons.values()) < 0.5
    assert max(epsilons.values()) >= 0.5
    assert "epsilon 0.5" in str(told)
    assert "either" in str(budget)
    assert json.loads(json.dumps(budget.as_dict()))["history"][0]["label"] == "count"
    assert json.loads(json.dumps(told.as_dict()))["spent"]["epsilon"] == 0.5


def test_an_allowance_may_be_made_first() -> None:
    allowance = Allowance(epsilon=1, delta=1e-6, filter="advanced")
    first, second = Budget(allowance=allowance), Budget(allowance=allowance)
    first.spend(PureLoss(TENTH))
    assert second.spent["squares"] == 0
    assert str(allowance) == "epsilon 1, delta 1e-06 (advanced; add or remove one row)"
