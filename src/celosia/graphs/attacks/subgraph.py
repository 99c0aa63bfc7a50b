"""The subgraph attack: search the release for known edges around a person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.result import GraphAttack, Numbers, checked_targets, checked_truth
from celosia.graphs.graph import Graph
from celosia.graphs.sampling import subset

MOST_EDGES = 20
"""A piece is looked for at every vertex, and large ones take too long."""
MOST_TARGETS = 200
"""Targets drawn where none are named: each is looked for at every vertex of the release."""

_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BySubgraph(AttackMethod[GraphAttack]):
    """The attacker knows some edges around each target; see `subgraph`."""

    edges: int = parameter(5, least=1, most=MOST_EDGES)
    """How many edges."""

    method_name = "subgraph"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> GraphAttack:
        return subgraph(
            pair.original,
            pair.release,
            edges=self.edges,
            rng=rng,
            numbers=pair.numbers,
            progress=progress,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A small connected graph, its vertices in an order in which each hangs on an earlier one."""

    vertices: tuple[int, ...]
    """Their numbers in the original, the target first."""
    parents: Numbers
    needed: NDArray[np.bool_]

    @property
    def degrees(self) -> Numbers:
        """How many edges of the pattern each vertex has."""
        return np.asarray(self.needed.sum(axis=1), dtype=np.int64)


def known_piece(graph: Graph, target: int, edges: int, rng: Source) -> Pattern:
    """A random connected piece of at most `edges` edges around a target, one edge after the other.

    Each edge is drawn from those that touch what is known so far; a small part of the graph may
    have fewer.
    """
    place, parents = {target: 0}, [-1]
    border = {_pair(target, other) for other in graph.neighbours_of(target).tolist()}
    known: set[tuple[int, int]] = set()
    while border and len(known) < edges:
        ranked = sorted(border)
        pair = ranked[int(rng.integers(len(ranked), 1)[0])]
        known.add(pair)
        for new, old in (pair, pair[::-1]):
            if new not in place:
                place[new] = len(place)
                parents.append(place[old])
                border |= {_pair(new, far) for far in graph.neighbours_of(new).tolist()}
        border -= known
    needed = np.zeros((len(place), len(place)), dtype=np.bool_)
    for one, other in known:
        needed[place[one], place[other]] = needed[place[other], place[one]] = True
    return Pattern(tuple(place), np.array(parents, dtype=np.int64), needed)


def subgraph(
    original: Graph,
    release: Graph,
    *,
    edges: int,
    rng: Source,
    targets: Iterable[int] | None = None,
    numbers: Numbers | None = None,
    progress: Progress = silent,
) -> GraphAttack:
    """The attacker knows some edges around each target, not that there are no others.

    Candidates are the vertices of the release around which the known piece can be found. A search
    that takes too long counts as found: the attacker could not rule the vertex out.

    Args:
        original: where the known edges are.
        release: what is published.
        edges: how many edges the attacker knows, at most 20.
        rng: which edges, and which targets where none are named.
        targets: the vertices attacked; 200 drawn at random where none are named.
        numbers: the number in the release of each vertex of the original, the same by default.
        progress: called now and then.

    Raises:
        InputError: CEL-I060 the number of edges is not in 1 .. 20.

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    from celosia.graphs.attacks._kernels import embeds_everywhere

    count = BySubgraph(edges=edges).edges
    truth = checked_truth(original, release, numbers)
    if targets is None and original.order > MOST_TARGETS:
        chosen = subset(original.order, MOST_TARGETS, rng)
    else:
        chosen = checked_targets(original, targets)
    sizes = np.zeros(chosen.size, dtype=np.int64)
    hit = np.zeros(chosen.size, dtype=np.bool_)
    cut = 0
    for turn, target in enumerate(chosen.tolist()):
        progress(Step(Message("graphs.stage.look"), turn, chosen.size))
        piece = known_piece(original, target, count, rng)
        given = (release.starts, release.neighbours, piece.parents, piece.needed, piece.degrees)
        found = embeds_everywhere(*given, _MOST_STEPS)
        sizes[turn] = np.count_nonzero(found)
        hit[turn] = truth[target] >= 0 and found[truth[target]] != 0
        cut += int(np.count_nonzero(found < 0))
    return GraphAttack(
        name=Message("graphs.attack.subgraph", edges=count),
        assumption=Message("graphs.attack.subgraph_knows", edges=count),
        mitigation=Message("graphs.attack.subgraph_prevent"),
        targets=chosen,
        sizes=sizes,
        hit=hit,
        facts={Message("graphs.fact.cut_short"): cut} if cut else {},
    )


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
