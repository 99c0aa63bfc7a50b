"""k-neighbourhood anonymity: each neighbourhood is isomorphic to k - 1 others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.automorphism import build_alignment
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import check_k
from celosia.graphs.kdegree.vertex_addition import add_fake_vertices
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, additions
from celosia.graphs.verification import contains, neighbourhood_anonymity, neighbourhood_classes

__all__ = ["KNeighbourhood"]

_ROUNDS = 3
"""Rounds of refinement; what they do not tell apart is compared exactly at the end."""

Signature = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Neighbourhoods:
    """Neighbours as sets, and a signature of the graph among the neighbours of each vertex.

    Vertices whose neighbourhoods are isomorphic have equal signatures; the converse holds nearly
    always (Weisfeiler, Leman 1968).
    """

    near: list[set[int]]
    added: list[tuple[int, int]] = field(default_factory=list)
    signatures: list[Signature] = field(init=False)
    _stale: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.signatures = [()] * len(self.near)
        self._stale = set(range(len(self.near)))

    @classmethod
    def of(cls, graph: Graph) -> Neighbourhoods:
        """From a graph."""
        return cls([set(graph.neighbours_of(v).tolist()) for v in range(graph.order)])

    def join(self, one: int, other: int) -> None:
        """Add an edge; those who see it are both ends and their common neighbours."""
        self._stale |= {one, other} | (self.near[one] & self.near[other])
        self.near[one].add(other)
        self.near[other].add(one)
        self.added.append((one, other))

    def refresh(self) -> None:
        """Make the signatures anew of those who saw a change."""
        for vertex in self._stale:
            self.signatures[vertex] = self._signature(vertex)
        self._stale.clear()

    def inner(self, vertex: int) -> dict[int, set[int]]:
        """The graph among the neighbours of a vertex."""
        near = self.near[vertex]
        return {each: self.near[each] & near for each in near}

    def _signature(self, vertex: int) -> Signature:
        inner = self.inner(vertex)
        colours = {each: len(near) for each, near in inner.items()}
        for _ in range(_ROUNDS):
            # Hashes of whole numbers are the same in every run of Python.
            colours = {
                each: hash((colours[each], *sorted(colours[other] for other in near)))
                for each, near in inner.items()
            }
        return tuple(sorted(colours.values()))

    def class_sizes(self) -> list[int]:
        """How many vertices have the signature of each vertex."""
        counts = Counter(self.signatures)
        return [counts[signature] for signature in self.signatures]

    def effort(self, one: int, other: int) -> int:
        """A guess of how many edges it takes to make two neighbourhoods alike."""
        first, second = (
            sorted((len(near) for near in self.inner(v).values()), reverse=True)
            for v in (one, other)
        )
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        padded = shorter + [0] * (len(longer) - len(shorter))
        ends = sum(abs(a - b) for a, b in zip(longer, padded, strict=True))
        return 3 * (len(longer) - len(shorter)) + ends // 2


_SWAPS = 40
"""Neighbourhoods up to this size have their matching improved by exchanges."""


def align(state: Neighbourhoods, one: int, other: int) -> bool:
    """Add edges until some matching of the neighbours is an isomorphism; whether any was added.

    Where an end of a new edge is one of the two vertices, their neighbourhoods have changed, and
    it must be called again: edges are only added, so that comes to an end.
    """
    before = len(state.added)
    _same_number(state, one, other)
    partner = _matching(state, one, other)
    for u, v in combinations(list(partner), 2):
        first, second = v in state.near[u], partner[v] in state.near[partner[u]]
        if first and not second:
            state.join(partner[u], partner[v])
        elif second and not first:
            state.join(u, v)
    return len(state.added) > before


def _same_number(state: Neighbourhoods, one: int, other: int) -> None:
    """New neighbours for the vertex with fewer: those of low degree, strangers to the rest."""
    few, many = sorted((one, other), key=lambda v: len(state.near[v]))
    while len(state.near[few]) < len(state.near[many]):
        strangers = set(range(len(state.near))) - state.near[few] - {few}
        best = min(
            strangers,
            key=lambda v: (
                v == many,
                len(state.near[v] & state.near[few]),
                len(state.near[v]),
                v,
            ),
        )
        state.join(few, best)


def _matching(state: Neighbourhoods, one: int, other: int) -> dict[int, int]:
    """Pair the neighbours by their number of neighbours inside, then exchange where that helps."""
    first, second = state.inner(one), state.inner(other)
    left, right = (
        sorted(inner, key=lambda v, inner=inner: (-len(inner[v]), _fame(inner, v), v))  # type: ignore[misc]
        for inner in (first, second)
    )
    if len(left) <= _SWAPS:
        _improve(left, right, first, second)
    return dict(zip(left, right, strict=True))


def _fame(inner: dict[int, set[int]], vertex: int) -> list[int]:
    return sorted(-len(inner[near]) for near in inner[vertex])


def _improve(
    left: list[int], right: list[int], first: dict[int, set[int]], second: dict[int, set[int]]
) -> None:
    """Exchange partners in `right` as long as fewer pairs differ."""

    def differing(place: int) -> int:
        u, v = left[place], right[place]
        return sum((w in first[u]) != (x in second[v]) for w, x in zip(left, right, strict=True))

    better = True
    while better:
        better = False
        for a, b in combinations(range(len(left)), 2):
            before = differing(a) + differing(b)
            if not before:
                continue
            right[a], right[b] = right[b], right[a]
            # The pair (a, b) itself is counted twice before and after alike.
            if differing(a) + differing(b) < before:
                better = True
            else:
                right[a], right[b] = right[b], right[a]


MOST = 1000
"""The most vertices: every step compares one neighbourhood with all others, in plain Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KNeighbourhood(GraphMethod[Graph]):
    """Add edges until the neighbours of each vertex are joined like those of k - 1 others.

    Vertices are taken by falling size of their neighbourhood. One that is alone is put together
    with the k - 1 that cost the least to make alike, and edges are added to all of them until the
    graphs among their neighbours are isomorphic. That changes others, which are looked at again;
    as edges are only added, it ends. In dense graphs one change brings the next: once that takes
    more edges than method k-automorphism, its graph is taken, which may have up to k - 1 fake
    vertices. For small graphs: hubs need many edges.

    Guarantee: for every vertex of the published graph, at least k - 1 other vertices have an
    isomorphic graph among their neighbours, found by an exact comparison before it is given out.
    An attacker who knows which contacts of a person know each other finds at least k candidates.

    Reference: Zhou, Pei 2008.
    """

    k: int = parameter(least=2, start=2)
    """How many vertices must share each neighbourhood."""

    method_name = "k-neighbourhood"
    randomised = True
    gaps = (Message("graphs.open.contacts_of_contacts"), Message("graphs.open.k_candidates"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        if graph.order > MOST:
            raise InputError("CEL-G111", most=MOST, order=graph.order)
        changed = self._unite_all(graph, rng, progress)
        found = neighbourhood_anonymity(changed)
        if found.k < self.k or not contains(graph, changed):
            raise PrivacyError("CEL-G105.apply_2", k=found.k)
        return MethodResult(
            graph=changed,
            facts=additions(graph, changed)
            | {
                Message("graphs.fact.k_reached"): found.k,
            },
            kept=Message("graphs.kept.every_edge"),
        )

    def _unite_all(self, graph: Graph, rng: Source, progress: Progress) -> Graph:
        """The graph with united neighbourhoods, or the automorphic one if that needs less."""
        state = Neighbourhoods.of(graph)
        table = build_alignment(graph, self.k, rng)
        most = table.size - graph.size
        while _level(state, self.k, most, progress):
            changed = graph
            if state.added:
                changed = graph.with_edges(np.concatenate([graph.edges, np.array(state.added)]))
            alone = [c for c in neighbourhood_classes(changed) if len(c) < self.k]
            if not alone:
                return changed
            for members in alone:  # equal signatures, yet not isomorphic
                _unite(state, members[0], self.k, most, exact=True)
        return add_fake_vertices(graph, table.all_edges(), len(table.place) - graph.order)

    def promise(self, graph: Graph) -> str | None:
        return Message("graphs.promise.k_neighbourhood", k=self.k, others=self.k - 1)


def _level(state: Neighbourhoods, k: int, most: int, progress: Progress) -> bool:
    """Unite vertices until each signature is that of at least k; False beyond `most` edges."""
    while len(state.added) <= most:
        state.refresh()
        sizes = state.class_sizes()
        alone = [v for v, size in enumerate(sizes) if size < k]
        if not alone:
            return True
        progress(Step(Message("graphs.stage.unite"), len(sizes) - len(alone), len(sizes)))
        _unite(state, max(alone, key=lambda v: (len(state.near[v]), -v)), k, most, exact=False)
    return False


def _unite(state: Neighbourhoods, seed: int, k: int, most: int, *, exact: bool) -> None:
    """Make a vertex like the k - 1 others that cost the least, or stop beyond `most` edges.

    Taking one out of a class of just k would leave the others alone: that counts as k edges.
    """
    sizes = state.class_sizes()
    price = {
        v: state.effort(seed, v) + (k if sizes[v] == k else 0)
        for v in range(len(sizes))
        if v != seed
    }
    mates = sorted(price, key=lambda v: (state.signatures[v] != state.signatures[seed], price[v]))
    growing = True
    while growing and len(state.added) <= most:
        growing = False
        for mate in mates[: k - 1]:
            state.refresh()
            if exact or state.signatures[mate] != state.signatures[seed]:
                growing |= align(state, seed, mate)
