"""Uniform samples of pairs of vertices, without a list of all pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph

DENSE = 4
"""Below this many pairs an edge, all pairs are listed: that takes memory in proportion to edges."""


def pairs_of(order: int) -> int:
    """How many pairs of vertices there are: n (n - 1) / 2."""
    return order * (order - 1) // 2


def random_pairs(order: int, count: int, rng: Source) -> NDArray[np.int64]:
    """Keys of `count` random pairs, each independent of the others; n must be at least 2.

    An ordered pair is one number below n (n - 1) < 2**62, and each edge is two of them.
    """
    drawn = rng.integers(order * (order - 1), count)
    one, other = np.divmod(drawn, order - 1)
    other += other >= one  # skips the loop
    return np.minimum(one, other) * order + np.maximum(one, other)


def subset(total: int, count: int, rng: Source) -> NDArray[np.int64]:
    """A uniform choice of `count` of the numbers 0 .. total - 1, sorted.

    >>> from celosia.core.randomness import Seeded
    >>> subset(5, 5, Seeded(1)).tolist()
    [0, 1, 2, 3, 4]
    """
    if 2 * count > total:  # cheaper to choose those that stay out
        inside = np.ones(total, dtype=np.bool_)
        inside[subset(total, total - count, rng)] = False
        return np.flatnonzero(inside)
    return distinct(lambda missing: rng.integers(total, missing), count)


def distinct(draw: Callable[[int], NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """Different numbers from a uniform draw, sorted; `draw` may give fewer than it is asked for.

    No round asks for more than is missing, so nothing is ever dropped: the numbers found are
    alike for the draw, and each set of them is equally likely.
    """
    found = np.empty(0, dtype=np.int64)
    while found.size < count:
        merged = np.sort(np.concatenate([found, draw(count - found.size)]), kind="stable")
        first = np.ones(merged.size, dtype=np.bool_)
        np.not_equal(merged[1:], merged[:-1], out=first[1:])
        found = merged[first]
    return found


def keys_to_pairs(keys: NDArray[np.int64], order: int) -> NDArray[np.int64]:
    """The two vertices of each key, the smaller one first."""
    return np.stack(np.divmod(keys, max(order, 1)), axis=1)


def among(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of `wanted` are in `keys`; fast where both are sorted."""
    if not keys.size:
        return np.zeros(wanted.size, dtype=np.bool_)
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.asarray(keys[places] == wanted)


def all_non_edges(graph: Graph) -> NDArray[np.int64]:
    """Keys of every pair that is no edge, sorted; only for graphs that are `DENSE`."""
    low, high = np.triu_indices(graph.order, 1)
    keys = low.astype(np.int64) * graph.order + high
    return keys[~among(graph.keys, keys)]


def non_edges(graph: Graph, count: int, rng: Source) -> NDArray[np.int64]:
    """Keys of `count` different pairs that are no edges, chosen uniformly, sorted."""
    pairs = pairs_of(graph.order)
    if count > pairs - graph.size:
        raise InputError(
            "CEL-G050", pairs=pairs, order=graph.order, wanted=count, free=pairs - graph.size
        )
    if pairs <= DENSE * graph.size:
        free = all_non_edges(graph)
        return free[subset(free.size, count, rng)]

    def draw(missing: int) -> NDArray[np.int64]:
        keys = np.sort(random_pairs(graph.order, missing, rng))
        return keys[~among(graph.keys, keys)]

    return distinct(draw, count)
