"""The hierarchy of items as a tree of numbered nodes: leaves, then inner nodes, the root last.

A level of a hierarchy that repeats the label below it adds no node, so that branches may have
different depths.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.logs.sets.transactions import Transactions
from celosia.tables.hierarchies import Hierarchy

LARGEST_FAN_OUT = 8
"""Children of a node up to which all their non-empty sets are looked at."""


@dataclass(frozen=True, eq=False)
class ItemTree:
    """Each node's parent; the root is its own.

    >>> tree = ItemTree.of(Hierarchy.from_paths([("a1", "A", "*"), ("a2", "A", "*")]))
    >>> tree.labels, tree.parents.tolist()
    (('a1', 'a2', 'A', '*'), [2, 2, 3, 3])
    """

    labels: tuple[str, ...] = field(repr=False)
    parents: NDArray[np.int32]
    leaves: int
    """How many leaves there are: the nodes from 0."""

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Self:
        """The tree of a hierarchy.

        Raises:
            InputError: CEL-U030 a leaf has the name of an inner node elsewhere.
        """
        parent: dict[tuple[int, str], tuple[int, str]] = {}
        top = len(hierarchy.labels) - 1
        for path in hierarchy.paths():
            # A label that is repeated upwards is one node, known by the highest level that has it;
            # a leaf keeps its own.
            ends = [
                level
                for level, label in enumerate(path)
                if level == top or path[level + 1] != label
            ]
            chain = [(level, path[level]) for level in ends]
            if chain[0][0] == top and top:
                chain.insert(0, (0, path[0]))
            chain[0] = (0, path[0])
            for below, above in itertools.pairwise(chain):
                parent[below] = above
        return cls._numbered(hierarchy, parent, top)

    @classmethod
    def _numbered(
        cls,
        hierarchy: Hierarchy,
        parent: dict[tuple[int, str], tuple[int, str]],
        top: int,
    ) -> Self:
        root = (top, hierarchy.labels[-1][0])
        leaves = [(0, label) for label in hierarchy.leaves]
        inner = sorted({*parent.values()} - {root}) if top else []
        nodes = [*leaves, *inner, *([root] if top else [])]
        number = {node: place for place, node in enumerate(nodes)}
        names = {label for _, label in inner} | {root[1]}
        clashes = sum(label in names for _, label in leaves if top)
        if clashes:
            raise InputError("CEL-U030", count=clashes)
        parents = np.array([number[parent.get(node, node)] for node in nodes], dtype=np.int32)
        return cls(tuple(label for _, label in nodes), parents, len(leaves))

    @property
    def root(self) -> int:
        """The node above all."""
        return len(self.labels) - 1

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """Steps from the root to each node."""
        return np.array([len(self.chain(node)) - 1 for node in range(len(self.labels))], np.int32)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many leaves are under each node; a leaf is under itself."""
        found = np.zeros(len(self.labels), dtype=np.int64)
        for leaf in range(self.leaves):
            found[self.chain(leaf)] += 1
        return found

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes right below each."""
        found: list[list[int]] = [[] for _ in self.labels]
        for node, above in enumerate(self.parents.tolist()):
            if node != above:
                found[above].append(node)
        return tuple(map(tuple, found))

    def chain(self, node: int) -> list[int]:
        """A node and all above it, up to the root."""
        found = [node]
        while (above := int(self.parents[found[-1]])) != found[-1]:
            found.append(above)
        return found

    def leaf_places(
        self, data: Transactions, items: NDArray[np.integer] | None = None
    ) -> NDArray[np.int32]:
        """The leaf of each item of some transactions, or of those that are named.

        Raises:
            InputError: CEL-U031 items are not in the hierarchy; CEL-U032 items are inner nodes.
        """
        leaf = {label: place for place, label in enumerate(self.labels[: self.leaves])}
        inner = set(self.labels[self.leaves :])
        chosen = np.arange(len(data.labels)) if items is None else items
        names = [data.labels[item] for item in chosen.tolist()]
        for code, is_wrong in (
            ("CEL-U032", [name in inner for name in names]),
            ("CEL-U031", [name not in leaf for name in names]),
        ):
            if any(is_wrong):
                first = data.first_with(chosen[is_wrong])
                raise InputError(code, count=sum(is_wrong), first=first)
        return np.array([leaf[name] for name in names], dtype=np.int32)

    def narrow(self, most: int = LARGEST_FAN_OUT) -> ItemTree:
        """The same tree with inner nodes put in where a node has more than `most` children.

        A node that is put in is called by its parent and a number.
        """
        labels = list(self.labels[: self.leaves])
        inner_labels: list[str] = []
        parents: dict[int, int] = {}  # by the new numbers: leaves, then inner nodes as they come
        base = self.leaves

        def add(node: int) -> int:
            """Number a node and all below it."""
            if node < self.leaves:
                return node
            below = [add(child) for child in self.children[node]]
            return join(below, self.labels[node], self.labels[node])

        def join(below: list[int], label: str, name: str) -> int:
            part = 0
            while len(below) > most:
                grouped = []
                for start in range(0, len(below), most):
                    group = below[start : start + most]
                    part += 1
                    grouped.append(
                        group[0] if len(group) == 1 else fresh(group, f"{name} ({part})")
                    )
                below = grouped
            return fresh(below, label)

        def fresh(below: list[int], label: str) -> int:
            inner_labels.append(label)
            number = base + len(inner_labels) - 1
            for child in below:
                parents[child] = number
            return number

        if self.root < self.leaves:
            return self
        root = add(self.root)
        parents[root] = root
        array = np.array([parents[node] for node in range(root + 1)], dtype=np.int32)
        return ItemTree((*labels, *inner_labels), array, self.leaves)


def chains_of(tree: ItemTree | None) -> dict[str, list[tuple[str, int]]]:
    """For each item the labels that may stand for it, with how many items each has.

    With the nodes that local generalisation puts in: each chain of the tree is part of one there.
    """
    if tree is None:
        return {}
    narrow = tree.narrow()
    return {
        narrow.labels[leaf]: [
            (narrow.labels[node], int(narrow.sizes[node])) for node in narrow.chain(leaf)
        ]
        for leaf in range(narrow.leaves)
    }
