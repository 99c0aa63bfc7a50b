"""Graphs with wanted degrees: new ones, and ones that keep every edge of a given graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import TargetRule, anonymous_degrees, is_graphical
from celosia.graphs.sampling import subset

ATTEMPTS = 5
"""Random orders of service before the neediest are served first."""

_WORK = 1 << 24


def construct_graph(
    degrees: NDArray[np.int64], *, rng: Source, near: Graph | None = None
) -> Graph | None:
    """A random graph with exactly these degrees, or None if there is none.

    A random vertex is joined with those that miss the most edges, until none misses any. Given a
    graph to be `near` to, neighbours in it are taken first (Priority); that walk can get stuck,
    and after some attempts a graph without regard to `near` is made.

    >>> from celosia.core.randomness import Seeded
    >>> construct_graph(np.array([2, 2, 2]), rng=Seeded(1)).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]

    Reference: Liu, Terzi 2008, algorithms ConstructGraph and Priority (a randomised Havel, Hakimi).
    """
    from celosia.graphs.kdegree._realisation_kernels import FREE, PREFER

    if not is_graphical(degrees):
        return None
    if near is not None:
        for _ in range(ATTEMPTS):
            edges = _walk(near, degrees, rng.permutation(near.order), PREFER, rng)
            if edges is not None:
                return near.with_edges(edges)
    empty = Graph.of([], order=len(degrees))
    edges = _walk(empty, degrees, rng.permutation(empty.order), FREE, rng)
    assert edges is not None, "Havel and Hakimi: serving any vertex keeps the rest graphical"
    return empty.with_edges(edges) if near is None else near.with_edges(edges)


def supergraph(graph: Graph, targets: NDArray[np.int64], *, rng: Source) -> Graph:
    """The graph with more edges, so that each vertex reaches its target.

    Raises:
        PrivacyError: CEL-G101 there is no such graph, or none was found.

    Reference: Liu, Terzi 2008, algorithm Supergraph.
    """
    found = try_supergraph(graph, targets, rng=rng)
    if found is not None:
        return found
    missing = targets - graph.degrees
    if missing.min(initial=0) < 0:
        raise PrivacyError("CEL-G101.below")
    if missing.sum() % 2:
        raise PrivacyError("CEL-G101.odd")
    if shortfall(graph, targets):
        raise PrivacyError("CEL-G101.too_few_pairs")
    raise PrivacyError("CEL-G101.not_found")


def try_supergraph(graph: Graph, targets: NDArray[np.int64], *, rng: Source) -> Graph | None:
    """As `supergraph`, but None where there is none or none was found."""
    from celosia.graphs.kdegree._realisation_kernels import AVOID

    missing = targets - graph.degrees
    if missing.min(initial=0) < 0 or missing.sum() % 2 or shortfall(graph, targets):
        return None
    needy = np.flatnonzero(missing)
    orders = [needy[rng.permutation(needy.size)] for _ in range(ATTEMPTS)]
    orders.append(needy[np.argsort(-missing[needy], kind="stable")])
    for service in orders:
        edges = _walk(graph, missing, service, AVOID, rng)
        if edges is not None:
            return graph.with_edges(np.concatenate([graph.edges, edges]))
    return None


def shortfall(graph: Graph, targets: NDArray[np.int64]) -> int:
    """How many edge ends are certainly lacking; above 0 there is no supergraph.

    Looks at the neediest vertex, the two neediest, and so on, in large graphs at the first few.
    """
    from celosia.graphs.kdegree._realisation_kernels import worst_shortfall

    missing = targets - graph.degrees
    needy = np.flatnonzero(missing)
    ranked = needy[np.argsort(-missing[needy], kind="stable")]
    most = _WORK // max(needy.size, 1) + 32
    return int(worst_shortfall(missing, ranked, graph.starts, graph.neighbours, most))


def _walk(
    graph: Graph, missing: NDArray[np.int64], service: NDArray[np.int64], mode: int, rng: Source
) -> NDArray[np.int32] | None:
    from celosia.graphs.kdegree._realisation_kernels import connect

    shuffled = rng.permutation(len(missing))  # ties by lot
    ranked = shuffled[np.argsort(-missing[shuffled], kind="stable")]
    counts = np.bincount(missing, minlength=1)
    above = len(missing) - np.cumsum(counts)
    edges, whole = connect(
        missing.astype(np.int64), ranked, above, service, graph.starts, graph.neighbours, mode
    )
    return edges if whole else None


def probe_supergraph(
    graph: Graph,
    k: int,
    *,
    target_rule: TargetRule,
    probes: int,
    rng: Source,
    progress: Progress = silent,
) -> tuple[Graph, int]:
    """A k-degree anonymous graph with every edge of the given one, and the probes it took.

    Where targets cannot be reached, some low degrees are taken for one more than they are, and the
    targets made anew. How many: what the necessary condition says is lacking; where it says
    nothing, a random number below a bound that grows, so that the sum can become even.

    Raises:
        PrivacyError: CEL-G102 no such graph was found in `probes` rounds.

    Reference: Liu, Terzi 2008, section 5.3.
    """
    taken = graph.degrees.copy()
    for probe in range(probes + 1):
        progress(Step(Message("graphs.stage.probe"), probe, probes))
        targets = anonymous_degrees(taken, k, target_rule=target_rule)
        found = try_supergraph(graph, targets, rng=rng)
        if found is not None:
            return found, probe
        lacking = shortfall(graph, targets)
        count = lacking + lacking // 16 if lacking else _some(probe, graph.order, rng)
        raised = _low(taken, count, rng)
        if not raised.size:
            taken = graph.degrees.copy()  # all are at the top: begin again with another lot
        taken[raised] += 1
    raise no_graph_found(k, probes)


def probe_construction(
    graph: Graph,
    k: int,
    *,
    target_rule: TargetRule,
    near: bool,
    probes: int,
    rng: Source,
    progress: Progress = silent,
) -> tuple[Graph, int]:
    """A new graph with k-degree anonymous degrees near those of the given one, and the probes.

    Raises:
        PrivacyError: CEL-G102 no such graph was found in `probes` rounds.
    """
    taken = graph.degrees.copy()
    for probe in range(probes + 1):
        progress(Step(Message("graphs.stage.probe"), probe, probes))
        targets = anonymous_degrees(taken, k, target_rule=target_rule)
        found = construct_graph(targets, rng=rng, near=graph if near else None)
        if found is not None:
            return graph.with_edges(found.edges), probe
        taken[_low(taken, _some(probe, graph.order, rng), rng)] += 1
    raise no_graph_found(k, probes)


def _some(probe: int, order: int, rng: Source) -> int:
    return 1 + int(rng.integers(min(1 << min(probe // 4, 30), order), 1)[0])


def _low(taken: NDArray[np.int64], count: int, rng: Source) -> NDArray[np.int64]:
    """Some of the vertices with the lower half of the degrees, by lot."""
    low = np.flatnonzero((taken <= np.median(taken)) & (taken < len(taken) - 1))
    return low[subset(low.size, min(count, low.size), rng)] if low.size else low


def no_graph_found(k: int, probes: int) -> PrivacyError:
    """The error where no graph was found."""
    key = "CEL-G102.smaller_k" if k > 2 else "CEL-G102.least_k"
    return PrivacyError(key, k=k, probes=probes)
