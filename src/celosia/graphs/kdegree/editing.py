"""Wanted degrees by the fewest edge changes: delete between too many, add between too few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.rewiring import rewire
from celosia.graphs.kdegree.sequence import anonymous_degrees, sort_falling

Whole = NDArray[np.int64]

PAIRINGS = 20
"""Rounds in which vertices that want edges are paired by lot."""


def edit(graph: Graph, targets: Whole, *, rng: Source, progress: Progress = silent) -> Graph:
    """A graph with exactly these degrees, by few changes.

    An edge deleted between two vertices with too many brings both nearer, as does an edge added
    between two with too few: one change for two ends. Ends that are left are rotated, at two
    changes each.

    Raises:
        PrivacyError: CEL-G104 no graph has these degrees, or none was found.
    """
    wanted = targets - graph.degrees
    fewer = _delete(graph, -wanted, rng)
    more = _add(fewer, targets - fewer.degrees, rng)
    return rewire(more, targets, rng=rng, progress=progress)


def _delete(graph: Graph, surplus: Whole, rng: Source) -> Graph:
    """Without edges between two vertices that have too many, those with most first."""
    from celosia.graphs.kdegree._rewiring_kernels import delete_between

    left = np.maximum(surplus, 0)
    inside = np.flatnonzero((left[graph.edges] > 0).all(axis=1))
    inside = inside[rng.permutation(inside.size)]
    inside = inside[np.argsort(-left[graph.edges[inside]].min(axis=1), kind="stable")]
    gone = delete_between(graph.edges, inside, left)
    return graph.with_keys(graph.keys[~gone])


def _add(graph: Graph, lack: Whole, rng: Source) -> Graph:
    """With edges between two vertices that have too few, paired by lot."""
    left = np.maximum(lack, 0)
    for _ in range(PAIRINGS):
        ends = np.repeat(np.arange(graph.order), left)
        ends = ends[rng.permutation(ends.size)]
        pairs = ends[: ends.size // 2 * 2].reshape(-1, 2)
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        pairs = pairs[~graph.has_edges(pairs)]
        if not len(pairs):
            continue
        graph = graph.with_edges(np.concatenate([graph.edges, pairs]))
        left = left - np.bincount(pairs.ravel(), minlength=graph.order)
        if left.sum() < 2:
            break
    return graph


def even_median_degrees(degrees: Whole, k: int) -> Whole:
    """Degrees with the least sum of changes, each at least k times, and an even sum.

    Where the sum is odd, a group of odd size exists: the one to which one more or one less costs
    the least gets it.

    >>> even_median_degrees(np.array([2, 4, 2, 1, 3, 2, 2, 2, 2]), 2).tolist()
    [2, 3, 2, 1, 3, 2, 2, 2, 1]
    """
    targets = anonymous_degrees(degrees, k, target_rule="median")
    if targets.sum() % 2 == 0:
        return targets
    by_rank, ranked = sort_falling(targets)
    values, starts, sizes = np.unique(-ranked, return_index=True, return_counts=True)
    best: tuple[int, Whole] | None = None
    for value, start, size in zip(-values, starts, sizes, strict=True):
        members = by_rank[start : start + size]
        for step in (1, -1):
            moved = int(value) + step
            if size % 2 == 0 or not 0 <= moved < len(degrees):
                continue
            cost = int((np.abs(degrees[members] - moved) - np.abs(degrees[members] - value)).sum())
            if best is None or cost < best[0]:
                made = targets.copy()
                made[members] = moved
                best = cost, made
    assert best is not None, "an odd sum has a group of odd size"
    return best[1]
