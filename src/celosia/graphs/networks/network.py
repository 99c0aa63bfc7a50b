"""A network whose edges have a direction, a weight, two sides or a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.graphs.graph import Graph

Kind = Literal["directed", "weighted", "bipartite", "temporal"]
"""What a network has beyond a simple graph."""

KINDS: dict[str, Message] = {
    "simple": Message("graphs.kind.simple"),
    "directed": Message("graphs.kind.directed"),
    "weighted": Message("graphs.kind.weighted"),
    "bipartite": Message("graphs.kind.bipartite"),
    "temporal": Message("graphs.kind.temporal"),
}
"""What each kind is called."""

SNAPSHOTS = 4
"""Periods into which times are cut where no number is given."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Network:
    """Vertices 0 .. n-1 and edges between two of them, each once in each snapshot; no loop.

    Of an undirected network the smaller vertex of an edge comes first, of a bipartite one the
    vertex of the first side.
    """

    order: int
    edges: NDArray[np.int32]
    """One row an edge, sorted by snapshot, then by its ends."""
    directed: bool = False
    weights: NDArray[np.float64] | None = None
    """A positive number for each edge."""
    snapshots: NDArray[np.int32] | None = None
    """The period of each edge, from 0."""
    periods: int = 1
    """How many periods there are."""
    sides: NDArray[np.bool_] | None = None
    """For each vertex of a bipartite network whether it is on the second side."""
    labels: pl.Series | None = None
    attributes: pl.DataFrame | None = None
    unprotected: tuple[str, ...] = ()
    """The names of further edge attributes, which a network does not hold."""

    @classmethod
    def of(
        cls,
        edges: NDArray[np.integer],
        *,
        order: int,
        directed: bool = False,
        weights: NDArray[np.float64] | None = None,
        snapshots: NDArray[np.integer] | None = None,
        periods: int = 1,
        sides: NDArray[np.bool_] | None = None,
        labels: pl.Series | None = None,
        attributes: pl.DataFrame | None = None,
        unprotected: tuple[str, ...] = (),
    ) -> Network:
        """A network from records in any order; equal ones are one edge, and their weights add up.

        Raises:
            InputError: CEL-G001 a loop, a vertex that is not in 0 .. n-1, or an edge within a side.
        """
        ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        wrong = ends.min(initial=0) < 0 or ends.max(initial=-1) >= order
        if wrong or (ends[:, 0] == ends[:, 1]).any():
            raise InputError("CEL-G001.loop_or_outside", top=order)
        if sides is not None:
            if (sides[ends[:, 0]] == sides[ends[:, 1]]).any():
                raise InputError("CEL-G034.same_side")
            ends = np.where(sides[ends[:, :1]], ends[:, ::-1], ends)
        elif not directed:
            ends = np.sort(ends, axis=1)
        layers = np.zeros(len(ends), dtype=np.int64) if snapshots is None else snapshots
        keys = ends[:, 0] * order + ends[:, 1]
        by_place = np.lexsort((keys, layers))
        keys, layers = keys[by_place], np.asarray(layers)[by_place]
        first = np.ones(len(keys), dtype=np.bool_)
        first[1:] = (keys[1:] != keys[:-1]) | (layers[1:] != layers[:-1])
        totals = None
        if weights is not None and len(keys):
            totals = np.add.reduceat(weights[by_place], np.flatnonzero(first))
        elif weights is not None:
            totals = np.empty(0)
        return cls(
            order=order,
            edges=ends[by_place][first].astype(np.int32),
            directed=directed,
            weights=totals,
            snapshots=None if snapshots is None else layers[first].astype(np.int32),
            periods=periods,
            sides=sides,
            labels=labels,
            attributes=attributes,
            unprotected=unprotected,
        )

    @property
    def size(self) -> int:
        """How many edges, each counted in every snapshot."""
        return len(self.edges)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it has beyond a simple graph."""
        found: tuple[tuple[Kind, bool], ...] = (
            ("directed", self.directed),
            ("weighted", self.weights is not None),
            ("bipartite", self.sides is not None),
            ("temporal", self.snapshots is not None),
        )
        return tuple(kind for kind, there in found if there)

    @property
    def has_ends(self) -> bool:
        """Whether the two ends of an edge differ: by its direction, or by their sides."""
        return self.directed or self.sides is not None

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Each edge as one number: its snapshot, then its ends."""
        ends = self.edges.astype(np.int64)
        keys = ends[:, 0] * max(self.order, 1) + ends[:, 1]
        return keys if self.snapshots is None else self.snapshots * np.int64(self.order**2) + keys

    @cached_property
    def simple(self) -> Graph:
        """The simple graph below: who is joined with whom at any time, in any direction."""
        return Graph.of(self.edges, order=self.order, labels=self.labels)

    def layers(self) -> list[NDArray[np.int64]]:
        """The places of the edges of each snapshot."""
        if self.snapshots is None:
            return [np.arange(self.size)]
        cuts = np.searchsorted(self.snapshots, np.arange(self.periods + 1))
        return [np.arange(*cuts[number : number + 2]) for number in range(self.periods)]

    def renumbered(self, numbers: NDArray[np.int64]) -> Network:
        """The same under other numbers, without names and attributes."""
        sides = None
        if self.sides is not None:
            sides = np.empty_like(self.sides)
            sides[numbers] = self.sides
        return Network.of(
            numbers[self.edges],
            order=self.order,
            directed=self.directed,
            weights=self.weights,
            snapshots=self.snapshots,
            periods=self.periods,
            sides=sides,
        )

    def table(self) -> pl.DataFrame:
        """One row an edge: source, target, and its weight and snapshot where it has any."""
        ends = pl.DataFrame(self.edges, schema=["source", "target"])
        if self.labels is not None:
            ends = ends.select(self.labels.gather(column).alias(column.name) for column in ends)
        if self.weights is not None:
            ends = ends.with_columns(pl.Series("weight", self.weights))
        if self.snapshots is not None:
            ends = ends.with_columns(pl.Series("snapshot", self.snapshots))
        return ends

    def __repr__(self) -> str:
        return f"Network({self})"

    def __str__(self) -> str:
        kinds = [KINDS[kind] for kind in self.kinds]
        return say("graphs.graph.network", vertices=self.order, edges=self.size, kinds=kinds)
