"""k-degree anonymity by new vertices; the original graph stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.method import confirm, promise_of
from celosia.graphs.kdegree.sequence import check_k, sort_falling
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, additions
from celosia.graphs.verification import degree_anonymity

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexAddition(GraphMethod[Graph]):
    """Add fake vertices and join them with real ones until every degree comes k times.

    No edge between real vertices is added or deleted. The number of fakes is the greatest raise
    that a vertex needs, which is made as small as possible, or what k asks so that the fakes hide
    among themselves.

    Guarantee: every degree of the published graph, fakes included, is that of at least k vertices;
    whoever knows of a person only how many contacts they have finds k candidates, of which some
    may be fakes.

    Reference: Chester, Kapron, Ramesh, Srivastava, Thomo, Venkatesh 2013.
    """

    k: int = parameter(least=2, start=3)
    """How many vertices must share each degree."""

    method_name = "vertex-addition"
    randomised = True
    gaps = (Message("graphs.open.all_true"), Message("graphs.open.fake_candidates"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        progress(Step(Message("graphs.stage.add_vertices"), 0, 1))
        missing = least_raises(graph.degrees, self.k)
        made, fewest = graph, int(missing.max())
        enough = max(fewest, self.k)
        for fakes, even in ((fewest, False), (enough, True), (enough + 1, True)):
            if degree_anonymity(made) >= self.k:
                break
            made = _with_fakes(graph, missing, fakes, even, rng)
        return MethodResult(
            graph=confirm(made, self.k),
            facts=additions(graph, made)
            | {
                Message("graphs.fact.least_changes"): int(missing.sum()),
                Message("graphs.fact.gap"): made.size - graph.size - int(missing.sum()),
                Message("graphs.fact.k_reached"): degree_anonymity(made),
            },
            kept=Message("graphs.kept.real_pairs"),
        )

    def promise(self, graph: Graph) -> str | None:
        return promise_of(self.k)


def least_raises(degrees: Whole, k: int) -> Whole:
    """How much to raise each degree: the greatest raise first is the least, then their sum.

    >>> least_raises(np.array([2, 4, 2, 1, 3, 2, 2, 2, 2]), 2).tolist()
    [0, 0, 0, 1, 1, 0, 0, 0, 0]
    """
    from celosia.graphs.kdegree._sequence_kernels import (
        cheapest_groups,
        least_span,
    )

    by_rank, ranked = sort_falling(degrees)
    starts = cheapest_groups(ranked, k, False, least_span(ranked, k))
    raises = np.empty_like(ranked)
    raises[by_rank] = ranked[starts] - ranked
    return raises


def _with_fakes(graph: Graph, missing: Whole, fakes: int, even: bool, rng: Source) -> Graph:
    """Serve the missing ends by the fakes in turn; if `even`, make the fakes' degrees alike.

    A vertex gets different fakes, because it misses at most as many as there are.
    """
    needy = np.repeat(np.arange(graph.order), missing)
    turn = graph.order + rng.permutation(fakes)
    edges = np.stack([needy, turn[np.arange(needy.size) % fakes]], axis=1)
    over = needy.size % fakes  # so many fakes have one end more than the others
    if even and over:
        extra = even_degrees(turn[over:].tolist(), turn[:over].tolist())
        edges = np.concatenate([edges, np.array(extra, dtype=np.int64).reshape(-1, 2)])
    return add_fake_vertices(graph, np.concatenate([graph.edges, edges]), fakes)


def even_degrees(low: list[int], full: list[int]) -> list[tuple[int, int]]:
    """Edges among fake vertices that make all their degrees equal.

    Those that miss one are paired. If one is left, it is joined with a full one, and all but that
    full one are paired again, each with another partner than before; this needs an odd number of
    fakes, and otherwise nothing is done.

    >>> even_degrees([1, 2, 3], [4, 5])
    [(1, 2), (3, 4), (2, 3), (5, 1)]
    """
    pairs = list(zip(low[::2], low[1::2], strict=False))
    if len(low) % 2 == 0:
        return pairs
    if len(full) % 2:
        return []
    rest = [*low, *full[1:]]  # a1 b1 a2 b2 ... left f2 f3 ...: partners differ when moved by one
    moved = [*rest[1:], rest[0]]
    return [*pairs, (low[-1], full[0]), *zip(moved[::2], moved[1::2], strict=True)]


def add_fake_vertices(graph: Graph, edges: Whole, fakes: int) -> Graph:
    """The graph with fake vertices and these edges; fakes have no name and no attributes."""
    labels, table = graph.labels, graph.attributes
    if labels is not None:
        labels = pl.concat([labels, labels.clear(fakes)])
    if table is not None:
        table = pl.concat([table, table.clear(fakes)])
    return Graph.of(edges, order=graph.order + fakes, labels=labels, attributes=table)
