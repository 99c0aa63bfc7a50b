"""(h, k, p)-coherence and rho-uncertainty against plain counting (check 25)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.logs import Coherence, ItemTree, RhoUncertainty, SetContext, Transactions
from celosia.logs.sets.verification import certain_rules, incoherent_sets
from celosia.tables.hierarchies import Hierarchy


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
        context = SetContext(sensitive=sensitive, rng=Seeded(1))
        made = Coherence(h=share, k=k, p=p).apply(data, context).data
        assert list(incoherent_sets(made.sets(), sensitive, h=share, k=k, p=p)) == []
        made = RhoUncertainty(rho=share, p=p).apply(data, context).data
        assert list(certain_rules(made.sets(), sensitive, rho=share, p=p)) == []


def item_tree(data: Transactions, sensitive: frozenset[str]) -> ItemTree:
    items = [label for label in data.labels if label not in sensitive]
    return ItemTree.of(Hierarchy.from_paths([(x, f"g{n // 2}", "*") for n, x in enumerate(items)]))


def forms(item: str, tree: ItemTree) -> list[str]:
    """What may stand for an item; a sensitive one is not in the hierarchy."""
    if item not in tree.labels:
        return [item]
    return [tree.labels[node] for node in tree.chain(tree.labels.index(item))]


def test_public_items_are_generalised_from_the_top_and_pass_the_check() -> None:
    for seed in range(100):
        data, sensitive, share, _, p = random_case(seed)
        tree = item_tree(data, sensitive)
        context = SetContext(sensitive=sensitive, tree=tree, rng=Seeded(1))
        done = RhoUncertainty(rho=share, p=p, search="top-down").apply(data, context)
        assert list(certain_rules(done.data.sets(), sensitive, rho=share, p=p)) == []
        shares = {
            label: size / tree.leaves if size > 1 else 0
            for label, size in zip(tree.labels, tree.sizes.tolist(), strict=True)
        }

        loss = 0.0
        for before, after in zip(data.sets(), done.data.sets(), strict=True):
            assert set(after) <= {form for item in before for form in forms(item, tree)}
            for item in before:
                shown = next((form for form in forms(item, tree) if form in after), None)
                loss += 1 if shown is None else shares.get(shown, 0)
        assert done.facts["ncp"] == pytest.approx(loss / len(data.items))


def test_generalising_keeps_what_suppressing_alone_would_lose() -> None:
    """a1 leads to the secret in three cases of four, its group in three of twelve."""
    sets = [["a1", "s"]] * 3 + [["a1"]] + [["a2"]] * 8 + [["b0", "s"]] * 6 + [["b0"]] * 14
    paths = [("a1", "A", "*"), ("a2", "A", "*"), *((f"b{n}", "B", "*") for n in range(8))]
    tree = ItemTree.of(Hierarchy.from_paths(paths))
    context = SetContext(sensitive=frozenset({"s"}), tree=tree)
    half = Fraction(1, 2)
    done = RhoUncertainty(rho=half, p=1, search="top-down").apply(Transactions.of(sets), context)
    assert done.facts["items_suppressed"] == 0
    assert {x for row in done.data.sets() for x in row} == {"A", "b0", "s"}
    alone = RhoUncertainty(rho=half, p=1).apply(Transactions.of(sets), context)
    assert alone.facts["items_suppressed"] == 1


def test_the_top_down_search_needs_a_hierarchy() -> None:
    context = SetContext(sensitive=frozenset({"s"}))
    with pytest.raises(InputError) as caught:
        RhoUncertainty(search="top-down").apply(Transactions.of([["a", "s"]]), context)
    assert caught.value.code == "CEL-U033"


def test_nothing_is_suppressed_where_the_model_holds_already() -> None:
    sets = [["a", "b", "s"], ["a", "b"], ["a", "b"], ["a", "b"]]
    context = SetContext(sensitive=frozenset({"s"}), rng=Seeded(1))
    done = Coherence(h=Fraction(1, 4), k=4, p=2).apply(Transactions.of(sets), context)
    assert done.facts["items_suppressed"] == 0
    done = RhoUncertainty(rho=Fraction(26, 100), p=2).apply(Transactions.of(sets), context)
    assert done.facts["items_suppressed"] == 0


def test_the_bounds_are_exact() -> None:
    """A share of h itself is allowed; a confidence of rho itself is not."""
    sets = [["a", "s"], ["a"], ["a"], ["a"]]
    data, context = Transactions.of(sets), SetContext(sensitive=frozenset({"s"}), rng=Seeded(1))
    quarter = Fraction(1, 4)
    kept = Coherence(h=quarter, k=4, p=1).apply(data, context)
    assert kept.facts["items_suppressed"] == 0
    gone = RhoUncertainty(rho=quarter, p=1).apply(data, context)
    assert gone.facts["items_suppressed"] == 1


def test_sensitive_items_must_be_declared() -> None:
    with pytest.raises(InputError) as caught:
        Coherence(k=2).apply(Transactions.of([["a"], ["a"]]), SetContext(rng=Seeded(1)))
    assert caught.value.code == "CEL-U035"


@pytest.mark.parametrize("given", [{"h": 0, "k": 2}, {"h": 1.5, "k": 2}, {"k": 2, "p": 0}])
def test_parameters_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Coherence(**given)  # type: ignore[arg-type]
