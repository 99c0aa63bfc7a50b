"""Ledgers whose budget is a rho or a Renyi curve, in a file and on a server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.ledgers import TENTH, asking, opened, reserved

from celosia.accounting.currencies import spending_of
from celosia.accounting.ledger import Ledger, LedgerBudget
from celosia.accounting.losses import PureLoss
from celosia.accounting.noise_losses import GaussianLoss, LaplaceLoss, laplace_rho
from celosia.core.errors import BudgetExceeded, PrivacyError

RHO = spending_of(rho=Fraction(1, 10), delta=Fraction(1, 10**6))
IN_RHO = {"total": RHO, "rule": "concentrated"}
NOISE = LaplaceLoss(Fraction(10), 1)


def test_noise_is_charged_by_its_rho_until_the_budget_is_spent(place: str) -> None:
    with opened(place, **IN_RHO) as ledger:
        reserved(ledger, asking("count", loss=NOISE))
        wide = GaussianLoss(Fraction(50), 1)
        reserved(ledger, asking("sum", 1, delta=Fraction(1, 10**7), loss=wide))
        spent = laplace_rho(NOISE.scale, 1) + Fraction(1, 100)
        assert ledger.spent["delta"] == 0
        assert 0 <= (ledger.spent["rho"] or 0) - spent < Fraction(1, 10**30)
        assert ledger.remaining.promise is not None
        with pytest.raises(BudgetExceeded) as refused:
            ledger.reserve(asking("all", 1, loss=PureLoss(Fraction(1))))
        assert refused.value.code == "CEL-Q110"
        assert len(ledger.history()) == 2
    with opened(place, **IN_RHO) as again:
        assert 0 <= (again.spent["rho"] or 0) - spent < Fraction(1, 10**30)
        again.verify()


def test_analysts_that_race_never_overspend_a_rho(place: str) -> None:
    each = laplace_rho(NOISE.scale, 1)
    budget = spending_of(rho=each * 12 + each / 2, delta=1e-6)

    def ask(name: str) -> int:
        charged = 0
        with opened(place, total=budget, rule="concentrated") as ledger:
            for number in range(5):
                try:
                    reserved(ledger, asking(f"{name} {number}", analyst=name, loss=NOISE))
                except BudgetExceeded:
                    continue
                charged += 1
        return charged

    opened(place, total=budget, rule="concentrated").close()
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, ["ada", "ben", "cem", "dora"])) == 12
    with opened(place, total=budget, rule="concentrated") as ledger:
        assert len(ledger.history()) == 12
        assert (ledger.spent["rho"] or 0) <= (budget.rho or 0)


def test_a_ledger_is_converted_with_all_its_charges(place: str, tmp_path: Path) -> None:
    with opened(place, total=(3, 0)) as ledger:
        reserved(ledger, asking("one", loss=NOISE))
        reserved(ledger, asking("two", Fraction(1, 5)))
        ledger.export(tmp_path / "before.jsonl")
    with pytest.raises(PrivacyError) as refused:
        opened(place, **IN_RHO)
    assert refused.value.key == "CEL-Q102.other_currency"
    with opened(place, convert=True, **IN_RHO) as ledger:
        spent = laplace_rho(NOISE.scale, 1) + Fraction(1, 50)
        assert 0 <= (ledger.spent["rho"] or 0) - spent < Fraction(1, 10**30)
        assert [each.epsilon for each in ledger.history()] == [TENTH, 2 * TENTH]
        ledger.export(tmp_path / "after.jsonl")
    before = (tmp_path / "before.jsonl").read_text()
    after = (tmp_path / "after.jsonl").read_text()
    assert after.startswith(before)
    assert '\\"converted\\":true' in after.removeprefix(before)
    # And back, where the sums are what they were: nothing was rounded away.
    with opened(place, total=(3, 0), convert=True) as ledger:
        assert ledger.spent["epsilon"] == 3 * TENTH


def test_a_converted_ledger_that_is_spent_allows_nothing_more(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with opened(place, total=(3, 0)) as ledger:
        reserved(ledger, asking("much", 2))
    with opened(place, convert=True, **IN_RHO) as ledger, pytest.raises(BudgetExceeded):
        ledger.reserve(asking("little", Fraction(1, 1000)))


def test_a_budget_in_rho_may_shrink_and_never_grow(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    opened(place, **IN_RHO).close()
    smaller = spending_of(rho=Fraction(1, 20), delta=RHO.delta)
    opened(place, total=smaller, rule="concentrated").close()
    with pytest.raises(PrivacyError) as refused:
        opened(place, **IN_RHO)
    assert refused.value.code == "CEL-Q103"


def test_a_curve_is_kept_in_the_ledger(tmp_path: Path) -> None:
    place, curve = tmp_path / "ledger.db", [(2, Fraction(1, 50)), (16, 1)]
    terms = {"total": spending_of(curve=curve, delta=1e-6), "rule": "renyi"}
    with opened(place, **terms) as ledger:
        reserved(ledger, asking("one", loss=NOISE))
    with opened(place, **terms) as ledger:
        assert float(ledger.spent["order 2"] or 0) == pytest.approx(NOISE.renyi(2.0), rel=1e-6)
        with pytest.raises(BudgetExceeded):
            ledger.reserve(asking("two", 1, loss=PureLoss(Fraction(1))))


def test_an_analyst_is_limited_in_the_currency_of_the_budget(tmp_path: Path) -> None:
    own = {"ada": spending_of(rho=Fraction(1, 100), delta=RHO.delta), "ben": RHO}
    with opened(tmp_path / "b.db", analysts=own, **IN_RHO) as ledger:
        reserved(ledger, asking("one", loss=NOISE))
        with pytest.raises(BudgetExceeded) as exceeded:
            ledger.reserve(asking("two", Fraction(1, 5), loss=PureLoss(Fraction(1, 5))))
        assert exceeded.value.code == "CEL-Q111"
        reserved(ledger, asking("three", Fraction(1, 5), analyst="ben"))


def test_an_analyst_is_limited_in_another_currency(place: str) -> None:
    limits = {"ada": (Fraction(3, 10), 0), "ben": RHO}
    with opened(place, analysts=limits, **IN_RHO) as ledger:
        for name in ("one", "two", "three"):
            reserved(ledger, asking(name, TENTH, loss=NOISE))
        with pytest.raises(BudgetExceeded) as refused:
            ledger.reserve(asking("four", TENTH, loss=NOISE))
        assert refused.value.code == "CEL-Q111"
        assert ledger.spent_by("ada")["epsilon"] == Fraction(3, 10)
        reserved(ledger, asking("four", TENTH, analyst="ben", loss=NOISE))
        assert set(ledger.spent.amounts) == {"rho", "delta"}
    # A limit that is written in another currency is no smaller one.
    with pytest.raises(PrivacyError) as larger:
        opened(place, analysts={**limits, "ada": RHO}, **IN_RHO)
    assert larger.value.code == "CEL-Q103"
    with opened(place, analysts=limits, **IN_RHO) as again:
        assert again.spent_by("ada")["epsilon"] == Fraction(3, 10)


def test_private_releases_can_be_charged_to_a_rho(tmp_path: Path) -> None:
    place = tmp_path / "city.ledger"
    begun = LedgerBudget.begin(place, dataset="city", rho=Fraction(1, 10), delta=1e-6)
    with begun as budget:
        budget.spend(GaussianLoss(Fraction(50), 1), label="mean age")
        assert budget.spent["rho"] == Fraction(1, 100)
        assert not budget.can_afford(PureLoss(Fraction(1)))
    with LedgerBudget.open(place) as budget:
        assert budget.remaining["rho"] == Fraction(9, 100)
        assert "rho" in str(budget)
    assert Ledger.open_view(place) is not None
