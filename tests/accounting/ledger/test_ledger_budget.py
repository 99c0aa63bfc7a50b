"""A budget in a ledger: declared once, charged before the data is seen, kept whatever fails."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.ledgers import opened

from celosia.accounting.ledger import LedgerBudget
from celosia.accounting.losses import ApproximateLoss, PureLoss
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Seeded, Source
from celosia.mechanisms import Count, release
from celosia.mechanisms.mechanism import Measurement

ROW = Neighbours()


@pytest.fixture
def budget(tmp_path: Path) -> LedgerBudget:
    return LedgerBudget.begin(tmp_path / "l", dataset="shop", epsilon=1, delta=1e-6, unit="row")


def test_charges_are_there_when_it_is_opened_again(budget: LedgerBudget, tmp_path: Path) -> None:
    release(Count(epsilon=0.5), [1, 2], question="rows", budget=budget, rng=Seeded(1))
    budget.close()
    with LedgerBudget.open(tmp_path / "l") as again:
        assert again.spent.as_dict() == {"epsilon": 0.5, "delta": 0}
        assert [(charge.label, charge.price["epsilon"]) for charge in again.history] == [
            ("rows", Fraction("0.5"))
        ]
        assert again.can_afford(PureLoss(Fraction("0.5")))
        assert not again.can_afford(PureLoss(Fraction("0.6")))
        assert [record.status for record in again.ledger.history()] == ["sealed"]


def test_what_does_not_fit_is_refused_before_the_data_is_seen(budget: LedgerBudget) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        release(Touchy(epsilon=2), [1], budget=budget)
    assert caught.value.code == "CEL-Q110"
    assert budget.history == ()


def test_the_price_is_on_disk_when_the_data_is_seen_and_stays_when_it_fails(
    budget: LedgerBudget, tmp_path: Path
) -> None:
    seen: list[float] = []

    class Watching(Count):
        def measure(self, x: object, *, rng: Source) -> Measurement[int]:
            with LedgerBudget.open(tmp_path / "l") as other:
                seen.append(float(other.spent["epsilon"] or 0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        release(Watching(epsilon=0.25), [1], budget=budget)
    assert seen == [0.25]
    assert budget.remaining["epsilon"] == 0.75
    [record] = budget.ledger.history()
    assert (record.status, record.reason) == ("failed", "stop")


def test_an_equal_question_is_charged_again(budget: LedgerBudget) -> None:
    for _ in range(2):
        release(Count(epsilon=0.5), [1], question="rows", budget=budget, rng=Seeded(1))
    assert not budget.can_afford(PureLoss(Fraction("0.001")))


def test_deltas_are_charged_too(budget: LedgerBudget) -> None:
    budget.spend(ApproximateLoss(Fraction("0.1"), 1e-6), label="keys")
    with pytest.raises(BudgetExceeded):
        budget.spend(ApproximateLoss(Fraction("0.1"), 1e-9))
    assert str(budget.explain()).count("epsilon 0.1") >= 1


def test_another_privacy_unit_is_refused(budget: LedgerBudget) -> None:
    with pytest.raises(PrivacyError):
        budget.check(PureLoss(Fraction("0.1")), neighbours=Neighbours(unit="person"))


def test_a_budget_declared_again_may_be_smaller_only(budget: LedgerBudget, tmp_path: Path) -> None:
    budget.spend(PureLoss(Fraction("0.5")))
    budget.close()
    with LedgerBudget.begin(tmp_path / "l", dataset="shop", epsilon=0.75, unit="row") as smaller:
        assert smaller.remaining["epsilon"] == 0.25
    with pytest.raises(PrivacyError) as caught:
        LedgerBudget.begin(tmp_path / "l", dataset="shop", epsilon=2, unit="row")
    assert caught.value.code == "CEL-Q103"
    with pytest.raises(PrivacyError) as caught:
        LedgerBudget.begin(tmp_path / "l", dataset="shop", epsilon=0.5, unit="person")
    assert caught.value.code == "CEL-Q102"


def test_ledgers_of_policies_and_of_releases_are_not_mixed(tmp_path: Path) -> None:
    opened(tmp_path / "policy").close()
    with pytest.raises(PrivacyError) as caught:
        LedgerBudget.open(tmp_path / "policy")
    assert caught.value.code == "CEL-Q118"
    LedgerBudget.begin(tmp_path / "own", dataset="shop", epsilon=1).close()
    with pytest.raises(PrivacyError) as caught:
        opened(tmp_path / "own")
    assert caught.value.code == "CEL-Q102"
    with pytest.raises(InputError) as missing:
        LedgerBudget.open(tmp_path / "none")
    assert missing.value.code == "CEL-Q207"


class Touchy(Count):
    """A count that must not be reached."""

    def measure(self, x: object, *, rng: Source) -> Measurement[int]:
        raise AssertionError("the data was touched")
