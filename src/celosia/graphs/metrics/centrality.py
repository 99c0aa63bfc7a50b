"""Shortest paths, and how central vertices are: closeness, betweenness, rank, cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import cores
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.metrics.values import BATCHES, MetricValue, VertexVector
from celosia.graphs.sampling import subset

Found = TypeVar("Found")

SMALL = 1 << 18
"""Below so many steps of a loop, starting threads costs more than it saves."""


def in_threads(
    work: Callable[..., Found], parts: Iterable[tuple[Any, ...]], *, steps: int
) -> list[Found]:
    """`work` on each part, in their order; one after the other where there is little to do.

    >>> in_threads(lambda a, b: a + b, [(1, 2), (3, 4)], steps=2)
    [3, 7]
    """
    wanted = list(parts)
    if steps < SMALL or len(wanted) < 2:
        return [work(*part) for part in wanted]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda part: work(*part), wanted))


MOST_STEPS = 150_000_000
"""Steps over edges and vertices, some seconds: up to this all vertices are sources."""

FEWEST_SOURCES = 4 * BATCHES

_Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ShortestPaths:
    """Shortest paths of a graph, over the pairs of vertices that are connected."""

    average: MetricValue
    """The mean distance of two connected vertices."""
    harmonic: MetricValue
    """n (n - 1) over the sum of all inverse distances; that of a pair without a path is 0."""
    diameter: MetricValue
    """The greatest distance of two connected vertices; from a sample, a lower bound, and the
    error is what a bound from above leaves open."""
    connected: MetricValue
    """The share of all pairs that are connected; always exact."""
    closeness: VertexVector
    """The vertices reached over the sum of their distances, times the share of vertices
    reached."""


def sources_of(graph: Graph, rng: Source, *, most_steps: int = MOST_STEPS) -> NDArray[np.int64]:
    """The vertices from which paths are followed: all, or as many as take `most_steps`.

    Those of a sample are in random order, so that any part of them is a sample too.
    """
    count = max(FEWEST_SOURCES, most_steps // max(graph.order + 2 * graph.size, 1))
    if count >= graph.order:
        return np.arange(graph.order, dtype=np.int64)
    chosen = subset(graph.order, count, rng)
    return np.asarray(chosen[rng.permutation(count)])


def distances(
    graph: Graph, *, sources: NDArray[np.int64], progress: Progress = silent
) -> ShortestPaths:
    """Mean, harmonic mean and greatest distance, and closeness, from the given sources.

    >>> path = Graph.of([(0, 1), (1, 2)])
    >>> found = distances(path, sources=np.arange(3))
    >>> found.average.value, found.diameter.value, found.harmonic.value
    (1.3333333333333333, 2.0, 1.2)

    Reference: Eppstein, Wang 2004 (closeness from a sample); Marchiori, Latora 2000 (harmonic).
    """
    from celosia.graphs.metrics._kernels import components
    from celosia.graphs.metrics._kernels import distances as walk

    order, everywhere = graph.order, len(sources) == graph.order
    rows, steps = graph.neighbours, graph.order + 2 * graph.size

    def one(part: NDArray[np.int64]) -> tuple[NDArray[np.float64], _Counts, _Counts]:
        by_source = np.zeros((len(part), 4))
        sums, seen = np.zeros(order, dtype=np.int64), np.zeros(order, dtype=np.int64)
        walk(graph.starts, rows, part, by_source, sums, seen)
        return by_source, sums, seen

    parts = np.array_split(sources, BATCHES)
    found = []
    for done in range(0, BATCHES, cores()):
        progress(Step(Message("graphs.stage.paths"), done, BATCHES))
        batch = [(part,) for part in parts[done : done + cores()]]
        found += in_threads(one, batch, steps=steps * len(sources) // BATCHES)
    by_source = np.concatenate([each[0] for each in found])
    reached, total, inverse, far = by_source.T
    pairs = max(order - 1, 1)
    seen = float(far.max(initial=0.0))
    parts_of = components(graph.starts, graph.neighbours)
    error = _nothing if everywhere else _ratio_error
    return ShortestPaths(
        average=MetricValue(_over(total.sum(), reached.sum()), error(total, reached)),
        harmonic=MetricValue(
            _over((order - 1) * len(sources), float(inverse.sum())),
            error(np.full(len(sources), float(pairs)), inverse),
        ),
        diameter=MetricValue(seen, 0.0 if everywhere else _above(seen, parts_of, sources, far)),
        connected=_connected_share(order, parts_of),
        closeness=_closeness(order, parts, [each[1:] for each in found], exact=everywhere),
    )


def betweenness(
    graph: Graph, *, sources: NDArray[np.int64], progress: Progress = silent
) -> VertexVector:
    """The share of shortest paths between others that go through each vertex.

    Each source tells the part of every vertex in the paths that begin there; those of a sample
    are scaled up.

    >>> betweenness(Graph.of([(0, 1), (1, 2)]), sources=np.arange(3)).values.tolist()
    [0.0, 1.0, 0.0]

    Reference: Brandes 2001; Brandes, Pich 2007 (sampled).
    """
    from celosia.graphs.metrics._kernels import dependencies

    order = graph.order
    rows, steps = graph.neighbours, graph.order + 2 * graph.size
    scale = 1.0 / max((order - 1) * (order - 2), 1)

    def one(part: NDArray[np.int64]) -> NDArray[np.float64]:
        here = np.zeros(order)
        dependencies(graph.starts, rows, part, here)
        return here * scale * order / max(len(part), 1)

    parts = np.array_split(sources, BATCHES)
    found: list[NDArray[np.float64]] = []
    for done in range(0, BATCHES, cores()):
        progress(Step(Message("graphs.stage.count_paths"), done, BATCHES))
        batch = [(part,) for part in parts[done : done + cores()]]
        found += in_threads(one, batch, steps=steps * len(sources) // BATCHES)
    weights = [len(part) for part in parts]
    return VertexVector.from_batches(
        np.array(found), np.array(weights), exact=len(sources) == order
    )


def _connected_share(order: int, parts: _Counts) -> MetricValue:
    """The share of connected pairs, from the sizes of the parts: a sample would miss small ones."""
    sizes = np.bincount(parts)
    return MetricValue(_over(float(sizes @ (sizes - 1)), float(order * (order - 1))))


def _above(seen: float, parts: _Counts, sources: _Counts, far: NDArray[np.float64]) -> float:
    """How much farther two vertices can be: twice any eccentricity, or all of a part in a row."""
    bound = np.bincount(parts).astype(np.float64) - 1
    np.minimum.at(bound, parts[sources], 2.0 * far)
    return max(float(bound.max()) - seen, 0.0)


def _closeness(
    order: int,
    parts: list[NDArray[np.int64]],
    found: list[tuple[NDArray[np.int64], ...]],
    *,
    exact: bool,
) -> VertexVector:
    if exact:  # the parts are not samples of their own
        whole = [np.concatenate(parts)]
        found = [(sum(f[0] for f in found), sum(f[1] for f in found))]  # type: ignore[list-item]
    else:
        whole = parts
    batches = []
    for part, (sums, seen) in zip(whole, found, strict=True):
        others = np.full(order, float(len(part)))
        others[part] -= 1.0  # a vertex says nothing of its own distance
        share = np.divide(seen, others, out=np.zeros(order), where=others > 0)
        batches.append(np.divide(share * seen, sums, out=np.zeros(order), where=sums > 0))
    weights = np.array([len(part) for part in whole])
    return VertexVector.from_batches(np.array(batches), weights, exact=exact)


def _over(above: float, below: float) -> float:
    return float(above / below) if below else 0.0


def _nothing(above: NDArray[np.float64], below: NDArray[np.float64]) -> float:
    return 0.0


def _ratio_error(above: NDArray[np.float64], below: NDArray[np.float64]) -> float:
    """Two standard errors of the ratio of two means, by its linear part (Cochran 1977)."""
    mean = float(below.mean())
    if not mean:
        return float("inf")
    rest = (above - above.mean() / mean * below) / mean
    return float(2.0 * rest.std(ddof=1) / len(rest) ** 0.5)


DAMPING = 0.85
"""The chance to follow an edge rather than to jump anywhere (Brin, Page 1998)."""

TOLERANCE = 1e-8
_MOST_ROUNDS = 1000


def coreness(graph: Graph) -> NDArray[np.int64]:
    """The greatest k for which a vertex has k neighbours among vertices that have k likewise.

    >>> coreness(Graph.of([(0, 1), (0, 2), (1, 2), (2, 3)])).tolist()
    [2, 2, 2, 1]
    """
    from celosia.graphs.metrics import _kernels

    return _kernels.cores(graph.starts, graph.neighbours)


def pagerank(
    graph: Graph, *, damping: float = DAMPING, tolerance: float = TOLERANCE
) -> NDArray[np.float64]:
    """PageRank: the stationary probability of each vertex under a random walk with jumps.

    A vertex without edges is left by a jump. The sum over all vertices of what is wrong is at most
    `tolerance` * damping / (1 - damping).

    >>> pagerank(Graph.of([(0, 1), (1, 2)])).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    from celosia.graphs.metrics._kernels import rank_step

    order, degrees = graph.order, graph.degrees
    if not order:
        return np.empty(0)
    ranks = np.full(order, 1.0 / order)
    shares = np.divide(ranks, degrees, out=np.zeros(order), where=degrees > 0)
    spare = np.empty(order)
    alone = np.flatnonzero(degrees == 0)
    borders = np.searchsorted(graph.starts, np.linspace(0, 2 * graph.size, cores() + 1)[1:-1])
    bounds = np.concatenate([[0], borders, [order]])
    rows = graph.neighbours

    def part(begin: int, end: int) -> float:
        given = (graph.starts, rows, shares, ranks, base, damping)
        return rank_step(*given, begin, end, spare)

    for _ in range(_MOST_ROUNDS):
        base = (1.0 - damping + damping * float(ranks[alone].sum())) / order
        moved = sum(in_threads(part, pairwise(bounds), steps=order + 2 * graph.size))
        shares, spare = spare, shares
        if moved <= tolerance:
            break
    return ranks
