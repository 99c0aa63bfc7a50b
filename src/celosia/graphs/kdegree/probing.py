"""Probing: raise random low degrees until a supergraph can reach the targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.realisation import construct_graph, shortfall, try_supergraph
from celosia.graphs.kdegree.sequence import TargetRule, anonymous_degrees
from celosia.graphs.sampling import subset


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
