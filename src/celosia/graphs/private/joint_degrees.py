"""Joint degrees: the number of edges between vertices of two degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.mechanism import LaplaceStatistic, check_cap, check_graph
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.values import counts_from_zero

MOST = 2**10
"""The greatest cap: there are about half a million cells then."""


@dataclass(frozen=True, kw_only=True)
class JointDegrees(LaplaceStatistic[dict[str, int]]):
    """The number of edges between vertices of degree a and b, for 1 <= a <= b <= cap.

    Every degree from `cap` on counts as cap, so all edges are counted. A new edge moves the degree
    of an end from a to a + 1, and with it the a other edges of that end from one cell to another,
    if a < cap; so at most 2 (cap - 1) at each end, and 1 for itself: 4 cap - 3 in sum.

    Guarantee: epsilon-DP with delta 0 for one edge; the vertices are public, and the cap must not
    have been taken from the graph.

    Reference: Sala, Zhao, Wilson, Zheng, Zhao 2011 (with local noise, which is not private); Wang,
    Wu 2013. The bound is proved above.

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2), (2, 3)])
    >>> JointDegrees(epsilon=100, cap=2).release(graph, rng=Seeded(1))
    {'1-1': 0, '1-2': 2, '2-2': 1}
    """

    cap: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cap(self.cap, most=MOST)

    @property
    def question(self) -> str:
        return Message("graphs.statistic.joint", cap=self.cap)

    @property
    def shift(self) -> int:
        """By how much an edge moves the counts, in sum."""
        return 4 * self.cap - 3

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The pairs of degrees that are counted."""
        span = range(1, self.cap + 1)
        return [(low, high) for low in span for high in span if low <= high]

    def measure(self, x: Graph, *, rng: Source) -> Measurement[dict[str, int]]:
        """The counts, which may be below 0, by the two degrees."""
        counts = self.counts(check_graph(x))
        found = counts + self.law.draw(counts.size, rng)  # draws are below 2**62
        names = (f"{low}-{high}" for low, high in self.cells)
        return Measurement(dict(zip(names, found.tolist(), strict=True)))

    def counts(self, graph: Graph) -> NDArray[np.int64]:
        """The exact counts in the order of `cells`, which are private."""
        capped = np.minimum(graph.degrees, self.cap)
        ends = np.sort(capped[graph.edges], axis=1)
        square = np.bincount(
            ends[:, 0] * (self.cap + 1) + ends[:, 1], minlength=(self.cap + 1) ** 2
        )
        places = [low * (self.cap + 1) + high for low, high in self.cells]
        return square[places].astype(np.int64)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that no count exceeds with this confidence; all cells are meant, not `size`."""
        return float(self.law.bound(check_confidence(confidence), size=len(self.cells)))

    def interval(
        self, measurement: Measurement[dict[str, int]], confidence: float = 0.95
    ) -> tuple[dict[str, int], dict[str, int]]:
        error = self.law.bound(check_confidence(confidence), size=len(self.cells))
        return counts_from_zero(measurement.value, error)
