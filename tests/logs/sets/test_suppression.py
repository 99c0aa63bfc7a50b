"""(h, k, p)-coherence and rho-uncertainty against plain counting (check 25)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.logs import Coherence, RhoUncertainty, SetContext, Transactions
from celosia.logs.sets.verification import certain_rules, incoherent_sets


def random_case(seed: int) -> tuple[Transactions, frozenset[str], Fraction, int, int]:
    rng = np.random.default_rng(seed)
    items = [f"i{number}" for number in range(int(rng.integers(4, 9)))]
    sets = [
        [item for item in items if rng.random() < 0.45] or [items[0]]
        for _ in range(int(rng.integers(5, 16)))
    ]
    data = Transactions.of([*sets, items[-2:]])
    share = Fraction(int(rng.integers(1, 10)), 10)
    return data, frozenset(items[-2:]), share, int(rng.integers(2, 4)), int(rng.integers(1, 4))


def test_what_is_published_passes_the_check() -> None:
    for seed in range(100):
        data, sensitive, share, k, p = random_case(seed)
        context = SetContext(sensitive=sensitive)
        made = Coherence(h=share, k=k, p=p).apply(data, context, rng=Seeded(1)).data
        assert list(incoherent_sets(made.sets(), sensitive, h=share, k=k, p=p)) == []
        made = RhoUncertainty(rho=share, p=p).apply(data, context, rng=Seeded(1)).data
        assert list(certain_rules(made.sets(), sensitive, rho=share, p=p)) == []


def test_nothing_is_suppressed_where_the_model_holds_already() -> None:
    sets = [["a", "b", "s"], ["a", "b"], ["a", "b"], ["a", "b"]]
    context = SetContext(sensitive=frozenset({"s"}))
    done = Coherence(h=Fraction(1, 4), k=4, p=2).apply(
        Transactions.of(sets), context, rng=Seeded(1)
    )
    assert done.facts["items_suppressed"] == 0
    done = RhoUncertainty(rho=Fraction(26, 100), p=2).apply(
        Transactions.of(sets), context, rng=Seeded(1)
    )
    assert done.facts["items_suppressed"] == 0


def test_the_bounds_are_exact() -> None:
    """A share of h itself is allowed; a confidence of rho itself is not."""
    sets = [["a", "s"], ["a"], ["a"], ["a"]]
    data, context = Transactions.of(sets), SetContext(sensitive=frozenset({"s"}))
    quarter = Fraction(1, 4)
    kept = Coherence(h=quarter, k=4, p=1).apply(data, context, rng=Seeded(1))
    assert kept.facts["items_suppressed"] == 0
    gone = RhoUncertainty(rho=quarter, p=1).apply(data, context, rng=Seeded(1))
    assert gone.facts["items_suppressed"] == 1


def test_sensitive_items_must_be_declared() -> None:
    with pytest.raises(InputError) as caught:
        Coherence(k=2).apply(Transactions.of([["a"], ["a"]]), SetContext(), rng=Seeded(1))
    assert caught.value.code == "CEL-U035"


@pytest.mark.parametrize("given", [{"h": 0, "k": 2}, {"h": 1.5, "k": 2}, {"k": 2, "p": 0}])
def test_parameters_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Coherence(**given)  # type: ignore[arg-type]
