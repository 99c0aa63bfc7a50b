"""k-anonymity of whole transactions by top-down local generalisation (He & Naughton 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step
from celosia.logs.method import MethodResult, SetContext, SetMethod
from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.km_anonymity import check_count, check_tree
from celosia.logs.sets.transactions import Transactions


@dataclass(frozen=True, kw_only=True)
class LocalGeneralisation(SetMethod[Transactions]):
    """Every published transaction is equal to at least k - 1 others, whatever an attacker knows.

    All transactions start as the root. A group is split by the node whose children tell most, into
    the sets of children that its transactions have; parts with fewer than k transactions stay
    together as they were, joined by the smallest other part where they are still too few.

    Guarantee: k-anonymity of transactions, which is k^m-anonymity for every m. The same item may
    be generalised in one group and not in another (local recoding).
    """

    method_name: ClassVar[str] = "local-generalisation"

    k: int = parameter(least=2, start=5, is_main=True)

    def promise(self) -> str:
        return Message("logs.promise.local", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.same_item"),)

    def apply(self, data: Transactions, context: SetContext) -> MethodResult[Transactions]:
        """Split groups while parts of at least k remain.

        Raises:
            InputError: CEL-U033 there is no hierarchy; CEL-U030 to CEL-U032 it does not fit.
            PrivacyError: CEL-U040 fewer than k transactions.
        """
        check_count(data, self.k)
        tree = check_tree(context).narrow()
        leaf_of = tree.leaf_places(data)
        groups = _Splitter(data, tree, leaf_of, self.k).groups(context.progress)
        owners = np.concatenate([np.repeat(group.members, len(group.nodes)) for group in groups])
        nodes = np.concatenate(
            [np.tile(np.array(group.nodes, np.int64), len(group.members)) for group in groups]
        )
        made = Transactions.from_pairs(owners, nodes, tree.labels, count=data.count)
        facts = {
            "ncp": _penalty(data, tree, leaf_of, groups),
            "groups": len(groups),
            "smallest_group": min(len(group.members) for group in groups),
        }
        return MethodResult(data=made, facts=facts)


class _Group(NamedTuple):
    members: NDArray[np.int64]
    """The transactions."""
    nodes: tuple[int, ...]
    """What all of them are published as."""
    closed: frozenset[int]
    """Nodes that cannot be expanded any more."""


class _Split(NamedTuple):
    gain: float
    masks: NDArray[np.int64]
    """Which children of the node each member has, as bits."""


class _Splitter:
    """Groups of transactions, and how the nodes above each leaf split them."""

    def __init__(
        self, data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], k: int
    ) -> None:
        self.data, self.tree, self.k = data, tree, k
        self.leaf_of = leaf_of.astype(np.int64)
        height = int(tree.depths.max())
        self.above = np.full((height + 2, tree.leaves), -1, dtype=np.int64)
        for leaf in range(tree.leaves):
            chain = tree.chain(leaf)[::-1]
            self.above[: len(chain), leaf] = chain
        self.shares = np.where(tree.sizes > 1, tree.sizes / tree.leaves, 0.0)
        self.place = np.zeros(len(tree.labels), dtype=np.int64)
        for below in tree.children:
            self.place[list(below)] = np.arange(len(below))

    def groups(self, progress: Progress) -> list[_Group]:
        """The final groups."""
        # Sets without an item were left out before.
        waiting = [_Group(np.arange(self.data.count), (self.tree.root,), frozenset())]
        done: list[_Group] = []
        while waiting:
            progress(Step(Message("logs.stage.groups"), len(done)))
            group = waiting.pop()
            parts = self._parts(group)
            if parts is None:
                done.append(group)
            else:
                waiting += parts
        return done

    def _parts(self, group: _Group) -> list[_Group] | None:
        """The group with one node expanded; None where none can be."""
        owners, leaves = self._occurrences(group.members)
        closed = set(group.closed)
        while True:
            best: tuple[int, _Split] | None = None
            for node in group.nodes:
                if node in closed or node < self.tree.leaves:
                    continue
                split = self._split(node, owners, leaves, len(group.members))
                if split.gain <= 0:
                    closed.add(node)
                elif best is None or split.gain > best[1].gain:
                    best = node, split
            if best is None:
                return None
            node, split = best
            parts = self._divided(group, node, split.masks, frozenset(closed))
            if parts is not None:
                return parts
            closed.add(node)

    def _occurrences(self, members: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        part = self.data.taken(members)
        return part.owners, self.leaf_of[part.items]

    def _split(
        self, node: int, owners: NDArray[np.int64], leaves: NDArray[np.int64], count: int
    ) -> _Split:
        depth = int(self.tree.depths[node])
        is_under = self.above[depth][leaves] == node
        who, children = owners[is_under], self.above[depth + 1][leaves[is_under]]
        pairs = np.unique(who * LARGEST + self.place[children])
        masks = np.bincount(
            pairs // LARGEST, weights=np.left_shift(1, pairs % LARGEST), minlength=count
        ).astype(np.int64)
        sizes = np.bincount(masks)
        is_good = sizes[masks[who]] >= self.k
        gains = self.shares[node] - self.shares[children]
        return _Split(float(gains[is_good].sum()), masks)

    def _divided(
        self, group: _Group, node: int, masks: NDArray[np.int64], closed: frozenset[int]
    ) -> list[_Group] | None:
        """The parts of a group by the children that they have; None where nothing is gained."""
        sizes = np.bincount(masks)
        good = sorted(np.flatnonzero(sizes >= self.k).tolist(), key=lambda mask: int(sizes[mask]))
        is_left = sizes[masks] < self.k
        while is_left.any() and int(is_left.sum()) < self.k and good:
            is_left |= masks == good.pop(0)
        if not good:
            return None
        kept = tuple(each for each in group.nodes if each != node)
        parts = [
            _Group(
                group.members[masks == mask],
                (*kept, *(c for c in self.tree.children[node] if mask >> int(self.place[c]) & 1)),
                closed,
            )
            for mask in good
        ]
        if is_left.any():
            parts.append(_Group(group.members[is_left], group.nodes, closed | {node}))
        return parts


LARGEST = 64
"""More than the children that a narrow tree has below one node."""


def _penalty(
    data: Transactions, tree: ItemTree, leaf_of: NDArray[np.int32], groups: list[_Group]
) -> float:
    """NCP: the mean share of leaves that an occurrence now stands for."""
    total = 0.0
    chains = [tree.chain(leaf) for leaf in range(tree.leaves)]
    rows = list(data.rows())
    places = leaf_of.tolist()
    for group in groups:
        nodes = set(group.nodes)
        share: dict[int, float] = {}
        for member in group.members.tolist():
            for item in rows[member]:
                if item not in share:
                    node = next(each for each in chains[places[item]] if each in nodes)
                    share[item] = tree.sizes[node] / tree.leaves if tree.sizes[node] > 1 else 0.0
                total += share[item]
    return float(total / len(data.items)) if len(data.items) else 0.0
