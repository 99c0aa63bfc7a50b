"""The structure of a Bayesian network: greedy, by mutual information, few parents a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

MOST_CELLS = 2**22
"""Of a conditional table."""
NEAREST = 8
"""Parents are sought among this number of columns, those that tell most about the child."""


@dataclass(frozen=True, slots=True)
class Node:
    """A column and the columns it depends on, by their places."""

    child: int
    parents: tuple[int, ...]


def cases(columns: Sequence[Codes], sizes: Sequence[int], places: Sequence[int]) -> Codes:
    """The codes of several columns as one, the last varying fastest; 0 for no columns."""
    found = np.zeros(len(columns[0]), dtype=np.int64)
    for place in places:
        found = found * sizes[place] + columns[place]  # below MOST_CELLS, see `learn`
    return found


def information(columns: Sequence[Codes], sizes: Sequence[int], node: Node) -> float:
    """The mutual information of a column and its parents, in nats.

    >>> coin = np.array([0, 1, 0, 1])
    >>> round(information([coin, coin], [2, 2], Node(0, (1,))), 4)
    0.6931
    """
    case = cases(columns, sizes, node.parents)
    width = sizes[node.child]
    joint = np.bincount(case * width + columns[node.child])
    joint = np.pad(joint, (0, -joint.size % width)).reshape(-1, width)
    total = joint.sum()
    return (
        _entropy(joint.sum(axis=0), total)
        + _entropy(joint.sum(axis=1), total)
        - _entropy(joint.ravel(), total)
    )


def _entropy(counts: Codes, total: int) -> float:
    shares = counts[counts > 0] / total
    return float(-(shares * np.log(shares)).sum())


def learn(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    *,
    degree: int,
    on_node: Callable[[int], None] = lambda _: None,
) -> list[Node]:
    """Columns in an order in which each depends on earlier ones only, on `degree` at most.

    Beginning with the column that tells most about the others, the next is always the column and
    the set of earlier ones with most information about it, less what a table of its size gains by
    chance (Akaike: one nat a free number). A set of columns that tells less is no parent.

    Reference: Chow & Liu 1968 (trees); Zhang et al. 2017, PrivBayes, Alg. 2 (the greedy order).
    """
    rows = len(columns[0])

    @cache
    def gain(child: int, parents: tuple[int, ...]) -> float:
        width = int(np.prod([sizes[each] for each in parents], dtype=object))
        if width * sizes[child] > MOST_CELLS:
            return -np.inf
        free = (sizes[child] - 1) * (width - 1)
        return rows * information(columns, sizes, Node(child, parents)) - free

    def told_of(one: int) -> float:
        return sum(max(gain(one, (other,)), 0.0) for other in every if other != one)

    every = range(len(columns))
    first = max(every, key=told_of)
    nodes, left = [Node(first, ())], [place for place in every if place != first]
    while left:
        on_node(len(nodes))
        earlier = [node.child for node in nodes]
        best, most = Node(left[0], ()), 0.0
        for child in left:
            ranked = sorted((-gain(child, (one,)), one) for one in earlier)
            near = [one for _, one in ranked[:NEAREST]]
            for count in range(1, degree + 1):
                for parents in combinations(sorted(near), count):
                    if gain(child, parents) > most:
                        best, most = Node(child, parents), gain(child, parents)
        nodes.append(best)
        left.remove(best.child)
    return nodes
