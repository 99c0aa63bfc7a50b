"""Policies whose budget is a rho or a Renyi curve, and answers with Gaussian noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.queries.policy.policies import SHOP
from tests.queries.policy.test_reader import codes
from tests.queries.vaults import BY_ROW, POLICY, capped, exact, opened, shop

from celosia.accounting.currencies import filter_of, spending_of
from celosia.accounting.ledger import Request
from celosia.accounting.losses import ComposedLoss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, laplace_rho
from celosia.core.errors import BudgetExceeded, QueryRefused
from celosia.core.neighbours import Relation
from celosia.queries.execution import charge_of
from celosia.queries.planning import make_plan
from celosia.queries.policy import Policy, policy_hash, policy_text, read_policy
from celosia.queries.public_schema import public_schema
from celosia.queries.request import QueryRequest

CAPPED = capped(POLICY, orders__person=5)
COUNT = "SELECT COUNT(*) FROM orders"
BY_TOWN = "SELECT town, COUNT(*) AS n, SUM(age) AS s FROM person GROUP BY town"
IN_RHO = "rho = 0.5\ndelta = 1e-6"
IN_RENYI = "renyi = [[2, 0.5], [8, 2], [32, 8]]\ndelta = 1e-6"


def in_currency(text: str) -> Policy:
    """The shop of the tests of policies with another budget; its analysts have all of it."""
    plain, _, rest = SHOP.partition("[budget]")
    _, _, tables = rest.partition("\n[tables")
    return read_policy(f"{plain}[budget]\n{text}\n\n[tables{tables}")


@pytest.mark.parametrize("text", [IN_RHO, IN_RENYI])
def test_a_budget_in_another_currency_is_read_and_written(text: str) -> None:
    policy = in_currency(text)
    assert read_policy(policy_text(policy)) == policy
    assert policy.budget.currency == text[: text.index(" ")]
    assert policy.budget.epsilon > 1
    told = public_schema(policy)["budget"]
    assert told[policy.budget.currency]
    other = replace(policy, budget=spending_of(rho=Fraction(1, 3), delta=1e-6))
    assert policy_hash(policy) != policy_hash(other)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("rho = 0.5", "CEL-Q013.delta_out_of_range_in_currency"),
        ("rho = 0.5\nepsilon = 1\ndelta = 1e-6", "CEL-Q013.two_currencies"),
        ("rho = -1\ndelta = 1e-6", "CEL-Q013.rho_out_of_range"),
        ("renyi = 3\ndelta = 1e-6", "CEL-Q013.renyi_out_of_range"),
        ("renyi = [[2, 1], [2, 2]]\ndelta = 1e-6", "CEL-Q013.renyi_out_of_range"),
        ("renyi = [[2]]\ndelta = 1e-6", "CEL-Q013.renyi_out_of_range"),
        ("epsilon = 1\n[analysts.ana]\nrho = 0.1", "CEL-Q014.delta_out_of_range_in_currency"),
        (f"{IN_RHO}\n[analysts.ana]\nepsilon = 0", "CEL-Q014.epsilon_out_of_range"),
        (f"{IN_RHO}\n[analysts.ana]\nrho = 1", "CEL-Q014.above_budget"),
        (f"{IN_RHO}\n[analysts.ana]\ndelta = 0.1", "CEL-Q014.above_budget"),
        (f"{IN_RHO}\n[analysts.ana]\ndelta = 0", "CEL-Q014.delta_out_of_range_in_currency"),
    ],
)
def test_a_budget_that_is_none_is_refused(text: str, code: str) -> None:
    plain, _, rest = SHOP.partition("[budget]")
    assert codes(f"{plain}[budget]\n{text}\n\n[tables{rest.partition('[tables')[2]}") == [code]


def test_a_question_is_charged_in_rho_and_refused_before_rows_are_read(tmp_path: Path) -> None:
    budget = spending_of(rho=Fraction(1, 10), delta=1e-6)
    with opened(shop(Random(1)), tmp_path, replace(CAPPED, budget=budget)) as vault:
        vault.sql(COUNT, epsilon=0.25)
        spent = vault.ledger.spent
        assert spent["rho"] == pytest.approx(float(laplace_rho(Fraction(20), 5)), rel=1e-9)
        vault.sql(BY_TOWN, epsilon=0.25, delta=1e-7, method="gaussian")
        assert vault.ledger.spent["delta"] == 0
        assert vault.ledger.remaining.promise is not None
        before = vault.ledger.spent
        vault._engine.close()  # a refusal needs no rows
        with pytest.raises(BudgetExceeded) as refused:
            vault.ledger.reserve(_charge(vault.policy, COUNT, epsilon=1))
        assert refused.value.code == "CEL-Q110"
        assert vault.ledger.spent == before


OWN_LIMITS = {
    "epsilon": ("rho = 1\ndelta = 1e-6", "epsilon = 0.5\ndelta = 1e-6"),
    "rho": ("epsilon = 5\ndelta = 1e-6", "rho = 0.01\ndelta = 1e-6"),
    "order 2": ("epsilon = 5", "renyi = [[2, 0.02], [8, 0.3]]\ndelta = 1e-6"),
}


@pytest.mark.parametrize("currency", OWN_LIMITS)
def test_the_limit_of_an_analyst_may_be_in_another_currency(currency: str, tmp_path: Path) -> None:
    total, own = OWN_LIMITS[currency]
    declared = in_currency(f"{total}\n\n[analysts.ana]\n{own}\n\n[analysts.ben]")
    assert read_policy(policy_text(declared)) == declared
    policy = replace(CAPPED, budget=declared.budget, analysts=declared.analysts)
    limits = dict(declared.analysts)
    most = filter_of(limits["ana"]).limits[currency]
    with opened(shop(Random(1)), tmp_path, policy) as vault:
        asked = [f"{COUNT} WHERE id > {number}" for number in range(40)]

        def ask_all() -> None:
            for query in asked:
                vault.sql(query, epsilon=0.1, analyst="ana")

        with pytest.raises(BudgetExceeded) as refused:
            ask_all()
        assert refused.value.code == "CEL-Q111"
        paid = len(vault.ledger.history("ana"))
        spent = vault.ledger.spent_by("ana")[currency]
        assert spent is not None
        # The limit is kept, and one more question would not have been within it.
        assert most - spent / paid < spent <= most
        vault.sql(asked[-1], epsilon=0.1, analyst="ben")
        assert set(vault.ledger.spent.amounts) == set(filter_of(declared.budget).limits)
        assert currency not in vault.ledger.spent_by("ben").amounts


def _charge(policy: Policy, query: str, *, epsilon: float) -> Request:
    request = QueryRequest(query, epsilon=epsilon)
    return charge_of(make_plan(request, policy), policy, request)


@pytest.mark.parametrize("policy", [CAPPED, BY_ROW], ids=["people", "rows"])
@pytest.mark.parametrize("relation", list(Relation))
def test_gaussian_noise_keeps_its_epsilon_and_delta(policy: Policy, relation: Relation) -> None:
    asked = QueryRequest(BY_TOWN, epsilon=1, delta=1e-6, method="gaussian")
    plan = make_plan(asked, replace(policy, relation=relation))
    (step,) = plan.steps
    laplace = make_plan(QueryRequest(BY_TOWN, epsilon=1), replace(policy, relation=relation))
    assert step.shifts == laplace.steps[0].shifts  # type: ignore[attr-defined]
    terms = (
        Fraction(shift**2) / (2 * law.parameter)
        for shift, law in zip(step.shifts, step.laws, strict=True)  # type: ignore[attr-defined]
    )
    rho = sum(terms, Fraction(0))
    # All that the noise of both columns costs keeps the promise, and hardly less of it is taken.
    assert ConcentratedLoss(rho).epsilon(1e-6) <= 1
    assert ConcentratedLoss(rho).epsilon(1e-6) > 0.999
    assert plan.loss == ComposedLoss(tuple(step.losses(4) or ()))
    assert (plan.epsilon, plan.delta) == (Fraction(1), Fraction(1, 10**6))
    single = make_plan(replace(asked, query=COUNT), replace(CAPPED, relation=relation))
    (loss,) = single.loss.parts  # type: ignore[union-attr]
    assert isinstance(loss, GaussianLoss)
    assert loss.shift == 5
    assert loss.epsilon(1e-6) <= 1


def test_gaussian_noise_is_as_wide_as_its_interval_says(tmp_path: Path) -> None:
    rows = shop(Random(2))
    ((truth,),) = exact(rows, COUNT + " WHERE person IN (SELECT id FROM person)")
    inside = 0
    with opened(rows, tmp_path, capped(POLICY, orders__person=30)) as vault:
        for number in range(12):
            answer = vault.sql(
                COUNT, epsilon=2 + number / 1000, delta=1e-6, method="gaussian", confidence=0.8
            )
            low, high = answer.interval(0.8) or (0.0, 0.0)
            inside += low <= truth <= high
    # Of 12 draws that are inside with a chance of 0.8, fewer than 4 are so 6 times in 10^5.
    assert inside >= 4


def test_gaussian_noise_needs_a_delta_caps_and_public_keys() -> None:
    def refusal(query: str, policy: Policy, delta: float) -> str:
        with pytest.raises(QueryRefused) as refused:
            make_plan(QueryRequest(query, epsilon=1, delta=delta, method="gaussian"), policy)
        return refused.value.key

    assert refusal(COUNT, CAPPED, 0) == "CEL-Q148.gaussian"
    assert refusal(COUNT, POLICY, 1e-6) == "CEL-Q143.no_caps"
    keys = "SELECT street, COUNT(*) AS n FROM person GROUP BY street"
    assert refusal(keys, CAPPED, 1e-6) == "CEL-Q143.private_keys"
