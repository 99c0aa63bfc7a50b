"""How far a vertex is from well-known hubs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks import result
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.graph import Graph

HUBS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHubs(AttackMethod[result.GraphAttack]):
    """The attacker knows how far each target is from the largest hubs; see `hub_fingerprint`."""

    hubs: int = parameter(HUBS, least=1)
    """How many hubs."""
    reach: int = parameter(2, least=1)
    """Distances up to this are known."""
    closed: bool = True
    """Whether a hub that is not in reach is known to be farther."""

    method_name = "hubs"

    def run(
        self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent
    ) -> result.GraphAttack:
        return hub_fingerprint(
            pair.original,
            pair.release,
            hubs=top_hubs(pair.original, self.hubs).tolist(),
            reach=self.reach,
            closed=self.closed,
            numbers=pair.numbers,
        )


def fingerprints(graph: Graph, hubs: Iterable[int], *, reach: int) -> NDArray[np.int32]:
    """The distance of each vertex to each hub, one column a hub; 0 if it is farther than `reach`.

    >>> from celosia.graphs.generators import ring
    >>> fingerprints(ring(5), [0], reach=1).ravel().tolist()
    [0, 1, 0, 0, 1]
    """
    from celosia.graphs.metrics._kernels import levels

    limit = ByHubs(reach=reach).reach
    columns: list[NDArray[np.int32]] = []
    for hub in result.checked_targets(graph, hubs).tolist():
        depth = np.full(graph.order, -1, dtype=np.int32)
        levels(graph.starts, graph.neighbours, hub, limit, depth, np.empty_like(depth))
        columns.append(np.maximum(depth, 0))
    return np.stack(columns, axis=1) if columns else np.zeros((graph.order, 0), dtype=np.int32)


def top_hubs(graph: Graph, count: int = HUBS) -> result.Numbers:
    """The vertices with most neighbours, the lowest number first among equals."""
    return np.argsort(-graph.degrees, kind="stable")[:count]


def hub_fingerprint(
    original: Graph,
    release: Graph,
    *,
    hubs: Iterable[int] | None = None,
    reach: int = 2,
    closed: bool = True,
    targets: Iterable[int] | None = None,
    numbers: result.Numbers | None = None,
) -> result.GraphAttack:
    """The attacker knows the distances of each target to some hubs, and the hubs in the release.

    Args:
        original: what the attacker knows.
        release: what is published.
        hubs: their numbers in the original; the five with most neighbours by default.
        reach: distances up to this are known.
        closed: a 0 means that the hub is farther than `reach`; otherwise that nothing is known.
        targets: the vertices attacked; all where none are named.
        numbers: the number in the release of each vertex of the original, the same by default.

    Raises:
        InputError: CEL-I060 the reach is below 1; CEL-G406 a hub is not in the release.

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    truth = result.checked_truth(original, release, numbers)
    chosen = top_hubs(original) if hubs is None else result.checked_targets(original, hubs)
    there = truth[chosen]
    if there.size == 0 or there.min() < 0:
        raise InputError("CEL-G406")
    wanted = result.checked_targets(original, targets)
    known = fingerprints(original, chosen, reach=reach)
    published = fingerprints(release, there, reach=reach)
    if closed:
        codes = result.classes(known, published)
        sizes = result.candidate_sizes(*codes)
    else:
        sizes = _compatible_sizes(known, published)
    own = np.zeros_like(known)
    own[truth >= 0] = published[truth[truth >= 0]]
    same = own == known
    hit = (same if closed else same | (known == 0)).all(axis=1) & (truth >= 0)
    return result.GraphAttack(
        name=Message("graphs.attack.hubs_closed" if closed else "graphs.attack.hubs_open"),
        assumption=Message("graphs.attack.hubs_knows", hubs=chosen.size, reach=reach),
        mitigation=Message("graphs.attack.hubs_prevent"),
        targets=wanted,
        sizes=sizes[wanted],
        hit=hit[wanted],
        facts={"hubs": int(chosen.size), "reach": reach},
    )


def _compatible_sizes(known: NDArray[np.int32], published: NDArray[np.int32]) -> result.Numbers:
    """How many published fingerprints agree with each known one where it is not 0."""
    asked, place = np.unique(known, axis=0, return_inverse=True)
    shown, counts = np.unique(published, axis=0, return_counts=True)
    fitting = [int(counts[((one == 0) | (one == shown)).all(axis=1)].sum()) for one in asked]
    return np.array(fitting, dtype=np.int64)[place.ravel()]
