"""k^m-anonymity: whoever knows up to m items of a person finds at least k transactions.

The items are generalised through their hierarchy: everywhere alike (global full-subtree recoding),
or in each part of similar transactions by itself (local recoding).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.logs.method import MethodResult, SetContext, SetMethod
from celosia.logs.sets import _kernels
from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.transactions import Transactions
from celosia.logs.sets.verification import rare_sets

MOST_KNOWN = 5
"""Items that an attacker may know: the sets of more are too many to be counted."""

MOST_INNER = 20
"""Inner nodes of a hierarchy up to which every cut is tried."""

_BITS = 64

_AT_ONCE = 2_000_000
"""Violating sets that are collected before the cut is raised."""


@dataclass(frozen=True, kw_only=True)
class KmAnonymity(SetMethod[Transactions]):
    """Every set of up to m items that occurs in a transaction occurs in at least k of them.

    `apriori` raises the cut set by set, at the least cost for each (Terrovitis, Mamoulis & Kalnis
    2008, Apriori-based anonymisation). `vertical` first raises it below each child of the root by
    itself, then for all together (Terrovitis et al. 2011, VPA). `local` cuts the transactions into
    `parts` of similar ones, each with a cut of its own (LRA). `optimal` tries every cut of a small
    hierarchy and takes the one with the least loss.

    Guarantee: k^m-anonymity of the published transactions. Why it ends and holds: each round
    counts all sets of the current cut; a set with too little support raises the cut; a cut can
    only rise, at worst to the root, which all transactions share; and a cut that rises keeps the
    support of smaller sets, because the transactions of a node contain those of its children.
    In parts: a set of published labels has no or at least k transactions in each part, and supports
    of parts add up, so that the union holds; it is checked on the union.
    """

    method_name: ClassVar[str] = "km-anonymity"

    k: int = parameter(least=2, start=5, is_main=True)
    m: int = parameter(2, least=1, most=MOST_KNOWN, is_main=True)
    search: Literal["apriori", "vertical", "local", "optimal"] = parameter("apriori")
    parts: int = parameter(4, least=1, most=10_000)

    def promise(self) -> str:
        return Message("logs.promise.km", k=self.k, m=self.m)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.more_items", m=self.m), Message("logs.open.same_item"))

    def apply(self, data: Transactions, context: SetContext) -> MethodResult[Transactions]:
        """Generalise the items until the condition holds.

        Raises:
            InputError: CEL-U033 there is no hierarchy; CEL-U030 to CEL-U032 it does not fit.
            PrivacyError: CEL-U040 fewer than k transactions.
        """
        tree = check_tree(context)
        check_count(data, self.k)
        leaf_of = tree.leaf_places(data)
        groups = [np.arange(data.count)]
        if self.search == "local":
            groups = similar_parts(data, tree, leaf_of, parts=min(self.parts, data.count // self.k))
        owners, nodes, loss = [], [], 0.0
        for group in groups:
            part = data.taken(group)
            cut = self._cut(part, tree, leaf_of, context.progress)
            loss += normalised_penalty(part, tree, leaf_of, cut) * len(part.items)
            owners.append(group[part.owners])
            nodes.append(cut[leaf_of[part.items]])
        made = Transactions.from_pairs(
            np.concatenate(owners), np.concatenate(nodes), tree.labels, count=data.count
        )
        facts = {
            "ncp": loss / max(1, len(data.items)),
            "items_before": int((data.supports > 0).sum()),
            "items_after": int((made.supports > 0).sum()),
        }
        if self.search == "local":
            facts["groups"] = len(groups)
        return MethodResult(data=made, facts=facts)

    def _cut(
        self, data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], progress: Progress
    ) -> NDArray[np.int32]:
        if self.search == "optimal":
            return optimal_cut(data, tree, leaf_of, k=self.k, m=self.m)
        cut = finest_cut(tree)
        if self.search == "vertical":
            for child in tree.children[tree.root]:
                is_below = np.array([child in tree.chain(leaf) for leaf in leaf_of.tolist()])
                number = np.where(is_below, np.arange(len(leaf_of)), -1)
                part = data.recoded(number, data.labels)
                if (np.diff(part.offsets) > 0).sum() >= self.k:  # else nothing helps but the root
                    apriori_cut(part, tree, leaf_of, cut, k=self.k, m=self.m, progress=progress)
        apriori_cut(data, tree, leaf_of, cut, k=self.k, m=self.m, progress=progress)
        return cut


def check_tree(context: SetContext) -> ItemTree:
    """The hierarchy of the items.

    Raises:
        InputError: CEL-U033 there is none.
    """
    if context.tree is None:
        raise InputError("CEL-U033")
    return context.tree


def check_count(data: Transactions, k: int) -> None:
    """Refuse fewer than k transactions.

    Raises:
        PrivacyError: CEL-U040 there are fewer.
    """
    if data.count < k:
        raise PrivacyError("CEL-U040", k=k, count=data.count)


def occurrence_costs(
    data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32]
) -> NDArray[np.float64]:
    """For each node: occurrences under it times the share of leaves that it stands for.

    A leaf costs nothing: it says what it said before.
    """
    counts = np.zeros(len(tree.labels), dtype=np.float64)
    supports = data.supports
    for item, leaf in enumerate(leaf_of.tolist()):
        counts[tree.chain(leaf)] += supports[item]
    shares = np.where(tree.sizes > 1, tree.sizes / tree.leaves, 0.0)
    return counts * shares


def normalised_penalty(
    data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], cut: NDArray[np.int32]
) -> float:
    """NCP: the mean share of leaves that an occurrence of the original now stands for.

    Reference: Terrovitis et al. 2008, eq. 1; an item that stands for itself alone costs nothing.
    """
    sizes = tree.sizes[cut[leaf_of]]
    shares = np.where(sizes > 1, sizes / tree.leaves, 0.0)
    total = int(data.supports.sum())
    return float((shares * data.supports).sum() / total) if total else 0.0


def finest_cut(tree: ItemTree) -> NDArray[np.int32]:
    """Every leaf by itself; -1 for the nodes above."""
    cut = np.full(len(tree.labels), -1, dtype=np.int32)
    cut[: tree.leaves] = np.arange(tree.leaves)
    return cut


def similar_parts(
    data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], *, parts: int
) -> list[NDArray[np.int64]]:
    """Parts of equal size, of transactions that are neighbours in the Gray order of their groups.

    The groups are the nodes of the lowest level that has no more of them than a word has bits.
    """
    chains = [tree.chain(leaf)[::-1] for leaf in leaf_of.tolist()]
    depth = 0
    while len({chain[min(depth + 1, len(chain) - 1)] for chain in chains}) <= _BITS and depth < int(
        tree.depths.max()
    ):
        depth += 1
    nodes = np.array([chain[min(depth, len(chain) - 1)] for chain in chains], dtype=np.int64)
    groups = np.searchsorted(np.unique(nodes), nodes)
    bits = np.left_shift(np.uint64(1), groups.astype(np.uint64))[data.items]
    masks = np.zeros(data.count, dtype=np.uint64)
    np.bitwise_or.at(masks, data.owners, bits)
    for shift in (1, 2, 4, 8, 16, 32):  # the place of a word in the Gray order
        masks ^= masks >> np.uint64(shift)
    return np.array_split(np.argsort(masks, kind="stable"), parts)


def apriori_cut(
    data: Transactions,
    tree: ItemTree,
    leaf_of: NDArray[np.int32],
    cut: NDArray[np.int32],
    *,
    k: int,
    m: int,
    progress: Progress = silent,
) -> None:
    """Raise a cut until it holds: for each node the node that replaces it; -1 above the cut."""
    costs = occurrence_costs(data, tree, leaf_of)
    words = (data.count + 63) // 64
    bits = _kernels.node_bits(data.offsets, data.items, leaf_of, tree.parents, words)
    none = np.full(len(tree.labels), -1, dtype=np.int32)
    for size in range(1, m + 1):
        while True:
            progress(Step(Message("logs.stage.sets", size=size), size - 1, m))
            now = data.recoded(cut[leaf_of], tree.labels)
            found = _kernels.rare_sets(
                now.offsets, now.items, len(tree.labels), size, k, none, 0, 1, 1, False, _AT_ONCE
            )
            if not len(found):
                break
            # The deepest first: they are the cheapest to mend, and mend others with them.
            order = np.argsort(-tree.depths[found].sum(axis=1), kind="stable")
            raised = _kernels.raise_cut(
                cut, found[order], bits, tree.parents, tree.depths, costs, k
            )
            assert raised, "the root has k transactions"


def cuts(tree: ItemTree) -> Iterator[NDArray[np.int32]]:
    """Every cut of a tree: each node is replaced by itself or by one above it."""
    for chosen in _antichains(tree, tree.root):
        cut = np.full(len(tree.labels), -1, dtype=np.int32)
        marks = set(chosen)
        for node in range(len(tree.labels)):
            above = [each for each in tree.chain(node) if each in marks]
            if above:
                cut[node] = above[0]
        yield cut


def _antichains(tree: ItemTree, node: int) -> Iterator[tuple[int, ...]]:
    yield (node,)
    below = tree.children[node]
    if below:
        for parts in product(*(list(_antichains(tree, child)) for child in below)):
            yield tuple(each for part in parts for each in part)


def optimal_cut(
    data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], *, k: int, m: int
) -> NDArray[np.int32]:
    """The cut with the least NCP, of all that keep the condition.

    Raises:
        InputError: CEL-U034 the hierarchy has more than 20 inner nodes.
    """
    inner = len(tree.labels) - tree.leaves
    if inner > MOST_INNER:
        raise InputError("CEL-U034", inner=inner, most=MOST_INNER)
    best, lowest = None, np.inf
    for cut in cuts(tree):
        price = normalised_penalty(data, tree, leaf_of, cut)
        if price < lowest:
            made = data.recoded(cut[leaf_of], tree.labels)
            if next(rare_sets(made.sets(), k=k, m=m), None) is None:
                best, lowest = cut, price
    assert best is not None, "the root alone always holds: there are k transactions"
    return best
