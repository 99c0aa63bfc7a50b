"""How much two graphs on the same vertices have in common: edges, degrees, hubs, communities.

Where one has more vertices than the other, the first ones are the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say_of
from celosia.core.methods import PlainValues
from celosia.graphs.graph import Graph

TOP = 10
"""Number of hubs that are compared by default."""

Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EdgeChanges(PlainValues):
    """What became of the edges of a graph, and how many are new.

    >>> print(EdgeChanges(kept=78, removed=0, added=3))
    100.0% of the edges kept (78 of 78), 0 removed, 3 added
    """

    kept: int
    removed: int
    added: int

    @property
    def before(self) -> int:
        """How many edges there were."""
        return self.kept + self.removed

    @property
    def share_kept(self) -> float:
        """The edges that were kept, over those that there were; 1 where there were none."""
        return self.kept / self.before if self.before else 1.0

    def __str__(self) -> str:
        return say_of("graphs.metric.edges_line", self)


def edge_changes(before: Graph, after: Graph) -> EdgeChanges:
    """How many edges a change kept, removed and added.

    >>> edge_changes(Graph.of([(0, 1), (1, 2)]), Graph.of([(0, 1), (0, 2), (1, 2)]))
    EdgeChanges(kept=2, removed=0, added=1)
    """
    from celosia.graphs._kernels import shared_keys

    order = max(before.order, after.order)
    shared = int(shared_keys(*(_keys(graph, order) for graph in (before, after))))
    return EdgeChanges(kept=shared, removed=before.size - shared, added=after.size - shared)


def edge_intersection(one: Graph, other: Graph) -> float:
    """The edges that both have, over those of the larger; 1 for two graphs without edges.

    >>> edge_intersection(Graph.of([(0, 1), (1, 2)]), Graph.of([(0, 1), (0, 2)]))
    0.5
    """
    most = max(one.size, other.size)
    return edge_changes(one, other).kept / most if most else 1.0


def _keys(graph: Graph, order: int) -> NDArray[np.int64]:
    if graph.order == order:
        return graph.keys
    return graph.edges[:, 0].astype(np.int64) * order + graph.edges[:, 1]  # below 2**62


def degree_total_variation(one: Graph, other: Graph) -> float:
    """Half the sum of the differences of the shares of vertices with each degree: in [0, 1]."""
    before, after = _degree_shares(one, other)
    return float(np.abs(before - after).sum() / 2)


def degree_earth_mover(one: Graph, other: Graph) -> float:
    """How many edges a vertex gains or loses on average to turn one distribution to the other."""
    before, after = _degree_shares(one, other)
    return float(np.abs(np.cumsum(before - after)).sum())


def _degree_shares(one: Graph, other: Graph) -> tuple[NDArray[np.float64], ...]:
    most = max(int(one.degrees.max(initial=0)), int(other.degrees.max(initial=0)))
    return tuple(
        np.bincount(graph.degrees, minlength=most + 1) / max(graph.order, 1)
        for graph in (one, other)
    )


def changed_degrees(one: Graph, other: Graph) -> float:
    """The share of the vertices of both graphs whose degree is not the same."""
    both = min(one.order, other.order)
    return float(np.mean(one.degrees[:both] != other.degrees[:both])) if both else 0.0


def hub_retention(one: Graph, other: Graph, *, top: int = TOP) -> float:
    """The share of the hubs of the first graph that are among as many hubs of the second.

    With ties at the border there is more than one choice of hubs; of these the choice that
    keeps most is taken.

    >>> star = Graph.of([(0, 1), (0, 2), (0, 3)])
    >>> hub_retention(star, star, top=1), hub_retention(star, Graph.of([(1, 0), (1, 2)]), top=1)
    (1.0, 0.0)
    """
    wanted = min(top, one.order)
    if not wanted:
        return 1.0
    both = min(one.order, other.order)
    padded = np.full(max(one.order, other.order), -1, dtype=np.int64)
    padded[: other.order] = other.degrees
    bounds = [np.sort(degrees)[-wanted] for degrees in (one.degrees, padded)]
    sure_one, sure_other = one.degrees[:both] > bounds[0], padded[:both] > bounds[1]
    may_one, may_other = one.degrees[:both] >= bounds[0], padded[:both] >= bounds[1]
    free_one = wanted - int((one.degrees > bounds[0]).sum())
    free_other = wanted - int((padded > bounds[1]).sum())
    only_tied = int((may_one & may_other & ~sure_one & ~sure_other).sum())
    from_one = min(int((may_one & ~sure_one & sure_other).sum()), free_one)
    from_other = min(int((may_other & ~sure_other & sure_one).sum()), free_other)
    tied = min(only_tied, free_one - from_one, free_other - from_other)
    kept = int((sure_one & sure_other).sum()) + from_one + from_other + tied
    return kept / wanted


def precision_index(one: Groups, other: Groups) -> float:
    """The share of vertices in matched communities, matched one to one, the greatest overlap first.

    >>> precision_index(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    0.75
    """
    overlaps, first, second = _overlaps(one, other)
    used_first, used_second = set[int](), set[int]()
    matched = 0
    for place in np.lexsort((second, first, -overlaps)).tolist():
        here, there = int(first[place]), int(second[place])
        if here not in used_first and there not in used_second:
            used_first.add(here)
            used_second.add(there)
            matched += int(overlaps[place])
    return matched / _both(one, other) if _both(one, other) else 1.0


def mutual_information(one: Groups, other: Groups) -> float:
    """How much one partition tells of the other, from 0 (nothing) to 1 (all).

    The information shared over the mean of the two entropies; two partitions of one part each
    are the same.

    Reference: Danon, Diaz-Guilera, Duch, Arenas 2005.
    """
    both = _both(one, other)
    overlaps, first, second = _overlaps(one, other)
    if np.array_equal(one[:both], other[:both]):  # to the last digit, whatever logarithms do
        return 1.0
    sizes = [np.bincount(each[:both]) / both for each in (one, other)]
    spread = sum(-float(np.sum(share[share > 0] * np.log(share[share > 0]))) for share in sizes)
    if spread <= 0:
        return 1.0
    joint = overlaps / both
    shared = float(np.sum(joint * np.log(joint / (sizes[0][first] * sizes[1][second]))))
    return min(max(2.0 * shared / spread, 0.0), 1.0)


def _both(one: Groups, other: Groups) -> int:
    return min(one.size, other.size)


def _overlaps(
    one: Groups, other: Groups
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of the parts that two communities share, and the two communities of each."""
    both = _both(one, other)
    width = int(other[:both].max(initial=0)) + 1
    keys, overlaps = np.unique(one[:both] * width + other[:both], return_counts=True)
    first, second = np.divmod(keys, width)
    return overlaps, first, second
