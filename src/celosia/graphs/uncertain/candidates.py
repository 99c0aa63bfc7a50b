"""Which pairs become uncertain, and by how much: more around vertices of rare degrees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.sampling import among
from celosia.graphs.uncertain.graph import GRID, UncertainGraph

PATIENCE = 50
"""So many draws for each pair wanted; then the pairs found so far are taken."""

_BATCH = 1 << 21


def uniqueness(degrees: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """How much the degree of each vertex stands out, seen through a blur of width `sigma`.

    The inverse of the sum, over all vertices, of the normal density of the difference in degree.

    >>> uniqueness(np.array([1, 1, 9]), 0.1).round(3).tolist()
    [0.125, 0.125, 0.251]

    Reference: Boldi, Bonchi, Gionis, Tassa 2012, definition 3.
    """
    values, place, counts = np.unique(degrees, return_inverse=True, return_counts=True)
    # Degrees are below 2**31, and their differences floats: no overflow.
    apart = (values[:, None] - values[None, :]) / sigma
    density = np.exp(-0.5 * apart**2) / (sigma * sqrt(2 * pi))
    return np.asarray(1.0 / (density @ counts))[place]


@dataclass(frozen=True, eq=False, kw_only=True)
class UncertainGraphSampler:
    """One graph, and how uncertain versions of it are drawn."""

    graph: Graph
    spared: int
    """How many of the vertices that stand out most get no new pairs: they are given up."""
    target: int
    """How many pairs shall have a chance."""
    uniform: float
    """The share of pairs whose chance is moved by a uniform amount."""

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        from celosia.graphs._edge_set import edge_set

        return edge_set(self.graph.keys, room=self._room)

    @property
    def _room(self) -> int:
        """For how many new pairs there is space: some make up for edges that are taken out."""
        return 2 * max(self.target - self.graph.size, 0) + 64

    def draw(self, sigma: float, rng: Source) -> UncertainGraph:
        """One uncertain graph, its pairs in no order; `sigma` is the mean width of the noise."""
        stands_out = uniqueness(self.graph.degrees, sigma)
        keys, real = self._pairs(stands_out, rng)
        one, other = np.divmod(keys, max(self.graph.order, 1))
        weight = stands_out[one] + stands_out[other]
        width = sigma * weight / (weight.mean() if weight.size else 1.0)
        steps = np.rint(self._noise(width, rng) * GRID).astype(np.int64)
        np.subtract(GRID, steps, out=steps, where=real)
        kept = steps > 0  # a pair with chance 0 is as any other
        return UncertainGraph.from_keys(
            keys[kept], steps[kept], order=self.graph.order, labels=self.graph.labels
        )

    @staticmethod
    def in_order(made: UncertainGraph) -> UncertainGraph:
        """The same graph with its pairs sorted, as one that leaves this folder must be."""
        order = np.lexsort((made.pairs[:, 1], made.pairs[:, 0]))
        pairs, steps = made.pairs[order], made.steps[order]
        pairs.flags.writeable = steps.flags.writeable = False
        return replace(made, pairs=pairs, steps=steps)

    def _pairs(
        self, stands_out: NDArray[np.float64], rng: Source
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The candidates, and which of them are edges."""
        from celosia.graphs.uncertain._kernels import (
            alias_table,
            toggle,
        )

        graph, room = self.graph, self._room
        more = self.target - graph.size
        chosen = np.argsort(-stands_out, kind="stable")[self.spared :]
        counts = np.zeros(2, dtype=np.int64)
        gone, fresh = np.empty(graph.size, dtype=np.int64), np.empty(room, dtype=np.int64)
        if more > 0 and chosen.size > 1:
            table = self._edges.copy()
            kinds = np.zeros(table.size, dtype=np.uint8)
            state = (table, kinds, gone, fresh, chosen, alias_table(stands_out[chosen]))
            left = PATIENCE * more + 64
            while left > 0 and counts[1] - counts[0] < more and counts[1] < room:
                some = min(left, more - int(counts[1] - counts[0]) + 64, _BATCH)
                left -= some
                toggle(*state, rng.words(2 * some), graph.order, counts, more)
        kept = graph.keys[~among(np.sort(gone[: counts[0]]), graph.keys)]
        keys = np.concatenate([kept, fresh[: counts[1]]])
        return keys, np.arange(keys.size) < kept.size

    def _noise(self, width: NDArray[np.float64], rng: Source) -> NDArray[np.float64]:
        """Amounts in 0 .. 1: a few uniform, the others half-normal of these widths, cut at 1."""
        from scipy.special import erf, ndtri

        from celosia.tables.masking.draws import uniforms  # tables are heavy

        drawn = uniforms(rng, width.size)
        flat = np.flatnonzero(drawn < self.uniform)
        # One draw does for both: stretched, it is uniform again below the share and above it.
        spread = drawn[flat] / self.uniform if flat.size else drawn[flat]
        drawn = np.maximum(drawn - self.uniform, 0.0) / max(1.0 - self.uniform, 2.0**-53)
        drawn *= erf(1.0 / (width * sqrt(2.0)))  # the chance of at most 1
        moved = -width * ndtri(0.5 - 0.5 * drawn)
        moved[flat] = spread
        return np.asarray(np.minimum(moved, 1.0))
