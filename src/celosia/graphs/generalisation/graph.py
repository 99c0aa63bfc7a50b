"""A graph of super-vertices: groups of vertices, and how many edges lie within and between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.randomness import Source
from celosia.graphs.graph import MOST_VERTICES, Graph


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GeneralisedGraph:
    """Sizes of groups and numbers of edges; it holds neither the members of a group nor any edge.

    Arrays are read-only.

    >>> graph = GeneralisedGraph.of(sizes=[3, 2], internal=[2, 1], between={(0, 1): 4})
    >>> print(graph)
    2 super-vertices for 5 vertices and 7 edges
    """

    sizes: NDArray[np.int64]
    """How many vertices each super-vertex stands for."""
    internal: NDArray[np.int64]
    """How many edges lie within each."""
    super_edges: NDArray[np.int32]
    """Pairs of super-vertices with an edge between them, the smaller first, sorted."""
    between: NDArray[np.int64]
    """How many edges each of these pairs has."""
    attributes: pl.DataFrame | None = None
    """What the vertices of each super-vertex have in common, one row each, as texts."""

    def __post_init__(self) -> None:
        for array in (self.sizes, self.internal, self.super_edges, self.between):
            array.flags.writeable = False

    @classmethod
    def of(
        cls,
        *,
        sizes: list[int] | NDArray[np.integer],
        internal: list[int] | NDArray[np.integer],
        between: dict[tuple[int, int], int],
        attributes: pl.DataFrame | None = None,
    ) -> GeneralisedGraph:
        """A generalised graph from plain values, checked.

        Raises:
            InputError: CEL-G210 the numbers contradict each other.
        """
        pairs = sorted(
            (min(pair), max(pair), count) for pair, count in between.items() if count != 0
        )
        table = np.array(pairs, dtype=np.int64).reshape(-1, 3)
        count = len(sizes)
        inside = table[:, :2].min(initial=0) >= 0 and table[:, :2].max(initial=-1) < count
        if not inside or (table[:, 0] == table[:, 1]).any() or len(internal) != count:
            raise InputError("CEL-G210.no_super_vertex")
        made = cls(
            sizes=np.array(sizes, dtype=np.int64),
            internal=np.array(internal, dtype=np.int64),
            super_edges=table[:, :2].astype(np.int32),
            between=table[:, 2].copy(),
            attributes=attributes,
        )
        made.check()
        return made

    def check(self) -> None:
        """Refuse numbers that no graph has.

        Raises:
            InputError: CEL-G210 a size below 1, or more edges than pairs.
        """
        outside = (self.sizes < 1) | (self.sizes > MOST_VERTICES)  # then the sum cannot overflow
        if outside.any() or self.sizes.sum() > MOST_VERTICES:
            raise InputError("CEL-G210.sizes")
        numbers = np.concatenate([self.internal, self.between])
        if (numbers < 0).any() or (numbers > self.capacities()).any():
            raise InputError("CEL-G210.too_many_edges")
        keys = self.super_edges[:, 0].astype(np.int64) * len(self.sizes) + self.super_edges[:, 1]
        if (np.diff(keys) <= 0).any():
            raise InputError("CEL-G210.repeated")
        if self.attributes is not None and len(self.attributes) != len(self.sizes):
            raise InputError("CEL-G210.attributes")

    @property
    def order(self) -> int:
        """How many vertices it stands for: n."""
        return int(self.sizes.sum())

    @property
    def size(self) -> int:
        """How many edges it stands for: m."""
        return int(self.internal.sum() + self.between.sum())

    def capacities(self) -> NDArray[np.int64]:
        """How many pairs of vertices lie within each super-vertex, then along each super-edge.

        Sizes are below 2**31, so that products of two fit 64 bits.
        """
        one, other = self.sizes[self.super_edges].reshape(-1, 2).T
        return np.concatenate([self.sizes * (self.sizes - 1) // 2, one * other])

    def densities(self) -> NDArray[np.float64]:
        """The share of pairs with an edge, within each super-vertex, then along each super-edge.

        A single vertex has no pair, and density 0.

        >>> graph = GeneralisedGraph.of(sizes=[3, 2], internal=[2, 1], between={(0, 1): 3})
        >>> graph.densities().round(3).tolist()
        [0.667, 1.0, 0.5]
        """
        edges = np.concatenate([self.internal, self.between])
        return np.asarray(edges / np.maximum(self.capacities(), 1))

    def to_graph(self) -> Graph:
        """The super-vertices as a plain graph, with sizes and numbers of edges as attributes.

        It is what a drawing shows; its edges are super-edges, not edges of anybody.
        """
        inside, across = np.split(self.densities(), [len(self.sizes)])
        shown = pl.DataFrame(
            {"size": self.sizes, "internal edges": self.internal, "density": inside}
        )
        if self.attributes is not None:
            shown = shown.hstack(self.attributes.select(pl.exclude(shown.columns)))
        return Graph(
            order=len(self.sizes),
            edges=self.super_edges,
            attributes=shown,
            edge_attributes=pl.DataFrame({"edges": self.between, "density": across}),
        )

    def sample_world(self, rng: Source) -> Graph:
        """One graph with these numbers, each that has them equally likely.

        Vertices are numbered super-vertex by super-vertex.
        """
        from celosia.graphs.generalisation.worlds import sample_world  # it uses us

        return sample_world(self, rng)

    def __str__(self) -> str:
        return say(
            "graphs.graph.generalised",
            super_vertices=len(self.sizes),
            order=self.order,
            size=self.size,
        )
