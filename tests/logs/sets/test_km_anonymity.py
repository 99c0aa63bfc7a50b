"""k^m-anonymity: the example of the paper's kind, an exhaustive oracle, and kernels' twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.effort import some

from celosia.core.errors import CelosiaError, InputError
from celosia.core.randomness import Seeded
from celosia.logs import ItemTree, KmAnonymity, LocalGeneralisation, SetContext, Transactions
from celosia.logs.method import SetMethod
from celosia.logs.sets import _kernels
from celosia.logs.sets.verification import rare_sets, set_counts, smallest_group
from celosia.tables.hierarchies import Hierarchy

TREE = ItemTree.of(
    Hierarchy.from_paths([("a1", "A", "*"), ("a2", "A", "*"), ("b1", "B", "*"), ("b2", "B", "*")])
)
EXAMPLE = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]


def random_case(seed: int) -> tuple[Transactions, ItemTree, int, int]:
    rng = np.random.default_rng(seed)
    items = [f"i{number}" for number in range(int(rng.integers(3, 9)))]
    paths = [(item, f"g{n // 2}", f"h{n // 4}", "*") for n, item in enumerate(items)]
    sets = [
        [item for item in items if rng.random() < 0.4] or [items[0]]
        for _ in range(int(rng.integers(4, 12)))
    ]
    tree = ItemTree.of(Hierarchy.from_paths(paths))
    return Transactions.of(sets), tree, int(rng.integers(2, 4)), int(rng.integers(1, 4))


def apply(method: SetMethod[Transactions], data: Transactions, tree: ItemTree) -> Transactions:
    return method.apply(data, SetContext(tree=tree, rng=Seeded(1))).data


def test_the_worked_example() -> None:
    """Check 23."""
    data = Transactions.of(EXAMPLE)
    assert list(rare_sets(data.sets(), k=2, m=1)) == []
    assert set(rare_sets(data.sets(), k=2, m=2)) == {("a1", "a2"), ("a1", "b1")}
    done = KmAnonymity(k=2, m=2).apply(data, SetContext(tree=TREE, rng=Seeded(1)))
    assert [set(each) for each in done.data.sets()] == [
        {"A", "b1", "b2"},
        {"A", "b1"},
        {"A", "b1", "b2"},
        {"A", "b2"},
    ]
    assert done.facts["ncp"] == pytest.approx(5 / 22, abs=1e-15)
    assert list(rare_sets(done.data.sets(), k=2, m=3)) == []
    assert list(rare_sets(done.data.sets(), k=3, m=2)) == [("b1", "b2")]


def test_the_search_always_holds_and_never_beats_the_optimum() -> None:
    """Check 24: 200 random inputs."""
    for seed in range(200):
        data, tree, k, m = random_case(seed)
        context = SetContext(tree=tree, rng=Seeded(1))
        found = KmAnonymity(k=k, m=m).apply(data, context)
        assert next(rare_sets(found.data.sets(), k=k, m=m), None) is None
        if seed % 4 == 0:
            best = KmAnonymity(k=k, m=m, search="optimal").apply(data, context)
            assert next(rare_sets(best.data.sets(), k=k, m=m), None) is None
            assert found.facts["ncp"] >= best.facts["ncp"] - 1e-12


@pytest.mark.parametrize("search", ["vertical", "local"])
def test_every_search_holds_on_the_union_and_stays_true(search: str) -> None:
    for seed in range(60):
        data, tree, k, m = random_case(seed)
        method = KmAnonymity(k=k, m=m, search=search, parts=3)  # type: ignore[arg-type]
        done = method.apply(data, SetContext(tree=tree, rng=Seeded(1)))
        made = done.data
        assert next(rare_sets(made.sets(), k=k, m=m), None) is None
        loss = 0.0
        for before, after in zip(data.sets(), made.sets(), strict=True):
            for item in before:  # each item is published as itself or as one node above it
                chain = tree.chain(tree.labels.index(item))
                node = next(node for node in chain if tree.labels[node] in after)
                loss += tree.sizes[node] / tree.leaves if tree.sizes[node] > 1 else 0
        assert done.facts["ncp"] == pytest.approx(loss / len(data.items))
        if search == "vertical":  # everywhere alike
            best = KmAnonymity(k=k, m=m, search="optimal").apply(data, SetContext(tree=tree))
            assert done.facts["ncp"] >= best.facts["ncp"] - 1e-12


def test_parts_of_similar_transactions_lose_less_than_one_cut_for_all() -> None:
    sets = [["a1", "b1"]] * 5 + [["a2", "b1"]] * 5 + [["a1", "a2"]] + [["a1"]] * 4
    done = {
        search: KmAnonymity(k=2, m=2, search=search, parts=3).apply(
            Transactions.of(sets), SetContext(tree=TREE)
        )
        for search in ("apriori", "local")
    }
    assert done["local"].facts["ncp"] < done["apriori"].facts["ncp"]
    assert done["local"].facts["groups"] == 3


def test_local_generalisation_makes_groups_of_k_and_stays_true() -> None:
    """Check 25."""
    for seed in range(100):
        data, tree, k, _ = random_case(seed)
        made = apply(LocalGeneralisation(k=k), data, tree)
        assert smallest_group(made.sets()) >= k
        for before, after in zip(data.sets(), made.sets(), strict=True):
            chains = [tree.chain(tree.labels.index(item)) for item in before]
            # Every item is covered, and nothing is published that covers none.
            for chain in chains:
                assert any(tree.labels[node] in after for node in chain)
            assert all(any(tree.labels.index(x) in chain for chain in chains) for x in after)


def test_a_wide_node_gets_nodes_below_it() -> None:
    items = [f"x{number}" for number in range(100)]
    wide = ItemTree.of(Hierarchy.from_paths([(item, "*") for item in items]))
    narrow = wide.narrow()
    assert max(map(len, narrow.children)) <= 8
    assert narrow.labels[:100] == wide.labels[:100]
    assert narrow.sizes[narrow.root] == 100
    sets = [[items[(n * 7 + j) % 100] for j in range(4)] for n in range(60)]
    assert smallest_group(apply(LocalGeneralisation(k=5), Transactions.of(sets), wide).sets()) >= 5


@pytest.mark.parametrize("seed", some(range(12), 4))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_kernel_finds_the_rare_sets_that_plain_counting_finds(seed: int, size: int) -> None:
    data, _, k, _ = random_case(seed)
    none = np.full(len(data.labels), -1, dtype=np.int32)
    found = _kernels.rare_sets(
        data.offsets, data.items, len(data.labels), size, k, none, 0, 1, 1, False, 1000
    )
    expected = {
        each
        for each, count in set_counts(data.sets(), size).items()
        if len(each) == size and count < k
    }
    assert {tuple(data.labels[item] for item in row) for row in found.tolist()} == expected
    few = _kernels.rare_sets(
        data.offsets, data.items, len(data.labels), size, k, none, 0, 1, 1, False, 1
    )
    assert len(few) == min(1, len(expected))


def test_bits_of_a_node_are_the_transactions_below_it() -> None:
    data, tree, _, _ = random_case(5)
    leaf_of = tree.leaf_places(data)
    bits = _kernels.node_bits(data.offsets, data.items, leaf_of, tree.parents, 1)
    for node in range(len(tree.labels)):
        below = {leaf for leaf in range(tree.leaves) if node in tree.chain(leaf)}
        expected = sum(
            1 << number
            for number, row in enumerate(data.rows())
            if below & {int(leaf_of[item]) for item in row}
        )
        assert int(bits[node, 0]) == expected


@pytest.mark.parametrize(
    ("sets", "tree", "method", "code"),
    [
        ([["a1"], ["zz"]], TREE, KmAnonymity(k=2), "CEL-U031"),
        ([["a1"], ["A"]], TREE, KmAnonymity(k=2), "CEL-U032"),
        ([["a1"], ["a2"]], TREE, KmAnonymity(k=3), "CEL-U040"),
        ([["a1"], ["a2"]], None, KmAnonymity(k=2), "CEL-U033"),
        ([["a1"], ["a2"]], None, LocalGeneralisation(k=2), "CEL-U033"),
    ],
)
def test_bad_input_is_refused_with_a_count_and_without_a_value(
    sets: list[list[str]], tree: ItemTree | None, method: SetMethod[Transactions], code: str
) -> None:
    with pytest.raises(CelosiaError) as caught:
        method.apply(Transactions.of(sets), SetContext(tree=tree, rng=Seeded(1)))
    assert caught.value.code == code
    assert "zz" not in str(caught.value)


@pytest.mark.parametrize("given", [{"k": 1}, {"k": 5, "m": 0}, {"k": 5, "m": 6}])
def test_parameters_out_of_range_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        KmAnonymity(**given)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


def test_an_item_with_the_name_of_a_group_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        ItemTree.of(Hierarchy.from_paths([("A", "B", "*"), ("x", "A", "*")]))
    assert caught.value.code == "CEL-U030"


def test_a_label_that_is_repeated_upwards_is_one_node() -> None:
    tree = ItemTree.of(Hierarchy.from_paths([("a", "A", "A", "*"), ("b", "B", "A", "*")]))
    assert [tree.labels[node] for node in tree.chain(0)] == ["a", "A", "*"]
    assert [tree.labels[node] for node in tree.chain(1)] == ["b", "B", "A", "*"]
    assert list(combinations(tree.labels, 2))  # no label twice
    assert len(set(tree.labels)) == len(tree.labels)
