"""A simple undirected graph: an array of edges, and the neighbours of each vertex in one array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.numbers import whole

MOST_VERTICES = 2**31 - 1
"""Vertices are numbered by 32-bit integers; an edge as one number, u * n + v, then fits 64 bits."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Graph:
    """Vertices 0 .. n-1 and edges between two of them; no loop, no edge twice, no direction.

    Two graphs are compared by `same_edges`. Arrays are read-only: a method that changes a graph
    makes a new one.

    >>> graph = Graph.of([(0, 1), (2, 1)])
    >>> graph.order, graph.size, graph.degrees.tolist(), graph.neighbours_of(1).tolist()
    (3, 2, [1, 2, 1], [0, 2])
    """

    order: int
    """How many vertices: n."""
    edges: NDArray[np.int32]
    """One row an edge, the smaller vertex first, sorted."""
    labels: pl.Series | None = None
    """The names of the vertices where they have any; otherwise they are their numbers."""
    attributes: pl.DataFrame | None = None
    """What is known of the vertices, one row each."""
    edge_attributes: pl.DataFrame | None = None
    """What is known of the edges, one row each in their order."""

    def __post_init__(self) -> None:
        known = ((self.labels, self.order), (self.attributes, self.order))
        for table, rows in (*known, (self.edge_attributes, len(self.edges))):
            if table is not None and len(table) != rows:
                raise InputError("CEL-G001.table_rows", given=len(table), rows=rows)

    @classmethod
    def of(
        cls,
        edges: Iterable[tuple[int, int]] | NDArray[np.integer],
        *,
        order: int | None = None,
        labels: pl.Series | None = None,
        attributes: pl.DataFrame | None = None,
    ) -> Graph:
        """A graph from pairs of vertex numbers in any order; a pair given twice is one edge.

        Raises:
            InputError: CEL-G001 a loop, a vertex that is not in 0 .. n-1, or too many vertices.
        """
        given = _pairs(edges)
        top = int(given.max(initial=-1)) + 1
        count = top if order is None else whole(order)
        loop = bool((given[:, 0] == given[:, 1]).any())
        if count is None or loop or given.min(initial=0) < 0 or not top <= count <= MOST_VERTICES:
            raise InputError("CEL-G001.loop_or_outside", top=top if order is None else order)
        low, high = np.minimum(*given.T), np.maximum(*given.T)
        keys = np.sort(low * max(count, 1) + high)  # below 2**62: no overflow
        first = np.ones(keys.size, dtype=np.bool_)  # np.unique takes ten times as long
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        return cls.from_keys(keys[first], order=count, labels=labels, attributes=attributes)

    @classmethod
    def from_keys(
        cls,
        keys: NDArray[np.int64],
        *,
        order: int,
        labels: pl.Series | None = None,
        attributes: pl.DataFrame | None = None,
    ) -> Graph:
        """A graph from edges as sorted, distinct numbers u * n + v with u < v, unchecked."""
        ends = np.empty((keys.size, 2), dtype=np.int32)
        ends[:, 0], ends[:, 1] = np.divmod(keys, max(order, 1))
        ends.flags.writeable = False
        return cls(order=order, edges=ends, labels=labels, attributes=attributes)

    def with_edges(self, edges: NDArray[np.integer]) -> Graph:
        """The same vertices with other edges; what was known of the old edges is gone."""
        return Graph.of(edges, order=self.order, labels=self.labels, attributes=self.attributes)

    def with_keys(self, keys: NDArray[np.int64]) -> Graph:
        """The same vertices with the edges of these distinct keys, in any order."""
        ranked = np.sort(keys, kind="stable")  # most are in order still
        return Graph.from_keys(
            ranked, order=self.order, labels=self.labels, attributes=self.attributes
        )

    def without_names(self) -> Graph:
        """The same graph without names and attributes."""
        return replace(self, labels=None, attributes=None, edge_attributes=None)

    @property
    def size(self) -> int:
        """How many edges: m."""
        return len(self.edges)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Each edge as one number, u * n + v with u < v, sorted."""
        return self.edges[:, 0].astype(np.int64) * max(self.order, 1) + self.edges[:, 1]

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each vertex."""
        return np.bincount(self.edges.ravel(), minlength=self.order).astype(np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the neighbours of each vertex begin in `neighbours`; n + 1 numbers."""
        return np.concatenate([[0], np.cumsum(self.degrees)]).astype(np.int64)

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """The neighbours of vertex 0 in order, then those of vertex 1, and so on."""
        from celosia.graphs._kernels import rows_of

        return rows_of(self.edges, self.starts)

    @property
    def edge_attribute_names(self) -> tuple[str, ...]:
        """The names of what is known of the edges."""
        return () if self.edge_attributes is None else tuple(self.edge_attributes.columns)

    @property
    def isolated(self) -> int:
        """How many vertices have no edge."""
        return int((self.degrees == 0).sum())

    def neighbours_of(self, vertex: int) -> NDArray[np.int32]:
        """The neighbours of a vertex in order."""
        return self.neighbours[self.starts[vertex] : self.starts[vertex + 1]]

    def has_edges(self, pairs: NDArray[np.integer]) -> NDArray[np.bool_]:
        """For each pair of vertices, whether there is an edge between them."""
        ends = pairs.astype(np.int64).T
        low, high = np.minimum(*ends), np.maximum(*ends)
        wanted = low * max(self.order, 1) + high
        places = np.searchsorted(self.keys, wanted)
        found = np.zeros(len(wanted), dtype=np.bool_)
        inside = places < self.size
        found[inside] = self.keys[places[inside]] == wanted[inside]
        return found

    def same_edges(self, other: Graph) -> bool:
        """Whether another graph has the same vertices and edges, by number."""
        return self.order == other.order and np.array_equal(self.edges, other.edges)

    def __repr__(self) -> str:
        # Names and attributes are private; a representation ends up in logs and tracebacks.
        return f"Graph({self})"

    def __str__(self) -> str:
        return say("graphs.graph.plain", vertices=self.order, edges=self.size)


def _pairs(edges: Iterable[tuple[int, int]] | NDArray[np.integer]) -> NDArray[np.int64]:
    """Pairs of whole numbers as one array; a decimal is not cut to one."""
    try:
        given = edges if isinstance(edges, np.ndarray) else np.array(list(edges))
        if given.size and (given.dtype.kind not in "iu" or given.shape[1:] != (2,)):
            raise ValueError
        if given.dtype == np.uint64 and given.max(initial=0) >= 2**63:
            raise ValueError
    except ValueError:
        raise InputError("CEL-G001.no_pairs") from None
    return given.astype(np.int64, copy=False).reshape(-1, 2)
