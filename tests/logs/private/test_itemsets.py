"""Private sets of items: plain counts, bases, and the release."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from celosia import datasets
from celosia.accounting import Budget
from celosia.core.errors import CelosiaError
from celosia.core.randomness import Seeded
from celosia.logs import LogDeclaration, Transactions, log_of, private
from celosia.logs.private.itemsets import LARGEST_BASIS, cell_counts, make_bases

BASKETS = [["a", "b", "c"]] * 400 + [["a", "b"]] * 300 + [["c"]] * 200 + [["d", "e"]] * 250


def counted(names: str) -> int:
    wanted = set(names.split(" | "))
    return sum(wanted <= set(row) for row in BASKETS)


@pytest.mark.statistical
def test_numbers_are_near_the_counts_and_sets_of_three_are_found() -> None:
    """At most 2 bases of at most 8 items: 2^7 cells of scale 2 / 30, six deviations below 7."""
    data = Transactions.of(BASKETS)
    answer = private.itemsets(data, epsilon=90, delta=1e-6, per_person=3, rng=Seeded(1))
    assert "a | b | c" in answer.value
    assert max(len(names.split(" | ")) for names in answer.value) >= 3
    for names, count in answer.value.items():
        assert abs(count - counted(names)) <= 7
    first = next(iter(answer.value))
    assert first in ("a", "b")
    few = private.itemsets(data, epsilon=90, delta=1e-6, per_person=3, top=2, rng=Seeded(1))
    assert len(few.value) == 2


def test_a_log_and_its_transactions_give_the_same_sets() -> None:
    rows = [(str(n), item) for n, row in enumerate(BASKETS) for item in row]
    frame = pl.DataFrame(rows, schema=["u", "q"], orient="row")
    log = log_of(frame, LogDeclaration(person="u", text="q", normalise="none"))
    kind = {"epsilon": 9.0, "delta": 1e-6, "per_person": 3}
    one = private.itemsets(log, rng=Seeded(3), **kind)  # type: ignore[arg-type]
    other = private.itemsets(Transactions.of(BASKETS), rng=Seeded(3), **kind)  # type: ignore[arg-type]
    assert one.value == other.value
    assert one.guarantee.simulation


def test_cells_are_those_of_plain_counting() -> None:
    rng = np.random.default_rng(1)
    has = rng.random((50, 4)) < 0.4
    counts = cell_counts(has, (0, 2, 3))
    for cell in range(8):
        wanted = [bool(cell >> bit & 1) for bit in range(3)]
        assert counts[cell] == sum(list(row[[0, 2, 3]]) == wanted for row in has)
    assert counts.sum() == 50


@pytest.mark.parametrize("seed", range(20))
def test_bases_hold_every_item_and_are_not_too_large(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = int(rng.integers(1, 20))
    listed = list(combinations(range(items), 2))
    pairs = [pair for pair in listed if rng.random() < 0.3]
    bases = make_bases(items, pairs)
    assert {one for basis in bases for one in basis} == set(range(items))
    assert max(map(len, bases)) <= LARGEST_BASIS
    assert not any(set(one) < set(other) for one in bases for other in bases)


def test_nothing_is_named_of_few_persons_and_the_budget_pays() -> None:
    budget = Budget(epsilon=1, delta=1e-4, neighbours=private.ONE_PERSON)
    few = Transactions.of([["own", "secret"], ["other"]])
    answer = private.itemsets(few, epsilon=1, delta=1e-5, per_person=2, budget=budget)
    assert answer.value == {}
    with pytest.raises(CelosiaError) as caught:
        private.itemsets(few, epsilon=1, delta=1e-5, budget=budget)
    assert caught.value.exit_code == 3
    for wrong in ({"items": 1}, {"top": 0}, {"delta": 0.0}, {"per_person": 0}):
        with pytest.raises(CelosiaError) as caught:
            private.itemsets(few, **({"epsilon": 1.0, "delta": 1e-5} | wrong))
        assert caught.value.code == "CEL-I060"


def test_the_thirds_cost_no_more_than_epsilon() -> None:
    for epsilon in (0.1, 1 / 3, 1, 5, 17.3):
        mechanism = private.PrivateItemsets(epsilon=epsilon, delta=1e-6)
        assert 3 * mechanism.third <= mechanism.privacy_loss().epsilon(1e-6) * (1 + 1e-15)
        assert float(mechanism.third) * 3 > epsilon * (1 - 1e-8)


def test_keys_of_baskets_and_rounds_name_more_keys() -> None:
    baskets = datasets.baskets(2_000, 300, 12, 100, seed=1).transactions
    common = {"epsilon": 1.0, "delta": 1e-6, "per_person": 10}
    named = {
        method: len(private.keys(baskets, method=method, rng=Seeded(1), **common).value)  # type: ignore[arg-type]
        for method in ("gaussian", "sips")
    }
    assert named["sips"] > named["gaussian"] > 10
    assert private.keys(baskets, of="pairs", rng=Seeded(1), **common).value  # type: ignore[arg-type]
    with pytest.raises(CelosiaError) as caught:
        private.keys(baskets, of="clicks", **common)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-U010"
