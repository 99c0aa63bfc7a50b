"""Vertices with isomorphic neighbourhoods: compared by a hash first, then exactly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.graphs.attacks.result import Numbers, classes
from celosia.graphs.graph import Graph

_ROUNDS = 3
MOST_STEPS = 100_000
"""Tries to map one neighbourhood to another, after which they count as different: the attacker
may tell them apart, and a risk is rather overstated."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A small graph as sets of neighbours, with colours that any isomorphism must keep."""

    around: tuple[frozenset[int], ...]
    colours: tuple[int, ...]

    @classmethod
    def of(cls, order: int, edges: Numbers) -> Shape:
        """From pairs of vertices 0 .. order - 1; colours are refined until they stay."""
        sets: list[set[int]] = [set() for _ in range(order)]
        for one, other in edges.tolist():
            sets[one].add(other)
            sets[other].add(one)
        colours, count = [0] * order, 1
        while True:
            # The tuple, not its place in a list of this graph alone: both graphs must agree.
            keys = [(colours[at], *sorted(colours[b] for b in sets[at])) for at in range(order)]
            colours = [hash(key) for key in keys]  # of whole numbers: the same in every process
            found = len(set(colours))
            if found <= count:
                break
            count = found
        return cls(tuple(map(frozenset, sets)), tuple(colours))

    def same_shape(self, other: Shape, *, most_steps: int = MOST_STEPS) -> bool | None:
        """Whether a renaming of the vertices makes the two equal; None if the search is cut.

        >>> path = Shape.of(3, np.array([[0, 1], [1, 2]]))
        >>> path.same_shape(Shape.of(3, np.array([[2, 0], [0, 1]])))
        True
        """
        if Counter(self.colours) != Counter(other.colours):
            return False
        rarity = Counter(self.colours)
        order = sorted(range(len(self.around)), key=lambda at: (rarity[self.colours[at]], at))
        by_colour: dict[int, list[int]] = {}
        for at, colour in enumerate(other.colours):
            by_colour.setdefault(colour, []).append(at)
        return _find_mapping(self, other, order, by_colour, most_steps)


def _find_mapping(
    one: Shape, other: Shape, order: list[int], by_colour: dict[int, list[int]], most_steps: int
) -> bool | None:
    """Depth first: each vertex of `order` to one of its colour that fits those before it."""
    choices = [iter(by_colour[one.colours[at]]) for at in order[:1]]
    image: dict[int, int] = {}
    used: set[int] = set()
    steps = 0
    while choices:
        at = order[len(choices) - 1]
        if at in image:
            used.discard(image.pop(at))
        for there in choices[-1]:
            steps += 1
            if steps > most_steps:
                return None
            if there not in used and (
                {image[near] for near in one.around[at] if near in image}
                == other.around[there] & used
            ):
                image[at] = there
                used.add(there)
                break
        else:
            choices.pop()
            continue
        if len(choices) == len(order):
            return True
        choices.append(iter(by_colour[one.colours[order[len(choices)]]]))
    return not order


def neighbourhood_classes(
    *graphs: Graph, progress: Progress = silent
) -> tuple[tuple[Numbers, ...], int]:
    """Classes by the graph among the neighbours, numbered alike; and comparisons that were cut.

    Neighbourhoods with no edge or one are alike if their degrees are; others are distinguished by a
    hash, and compared exactly within the same hash.
    """
    from celosia.graphs.attacks._kernels import neighbourhood_hashes
    from celosia.graphs.metrics.clustering import triangle_corners

    edges = [triangle_corners(graph) for graph in graphs]
    hashes = [
        neighbourhood_hashes(graph.starts, graph.neighbours, count, _ROUNDS)
        for graph, count in zip(graphs, edges, strict=True)
    ]
    rows = [
        np.stack([graph.degrees, count, value.view(np.int64)], axis=1)
        for graph, count, value in zip(graphs, edges, hashes, strict=True)
    ]
    codes = np.concatenate(classes(*rows))
    everything = np.concatenate(edges)
    owner = np.repeat(np.arange(len(graphs)), [graph.order for graph in graphs])
    vertex = np.concatenate([np.arange(graph.order) for graph in graphs])
    sizes = np.bincount(codes)
    marks = [np.full(graph.order, -1, dtype=np.int32) for graph in graphs]
    doubtful = np.flatnonzero((everything > 1) & (sizes[codes] > 1))
    known: dict[int, _Class] = {}
    fresh, undecided = len(sizes), 0
    for turn, place in enumerate(doubtful.tolist()):
        if turn % 4096 == 0:
            progress(Step(Message("graphs.stage.compare"), turn, len(doubtful)))
        here = owner[place]
        inside = _around(graphs[here], int(vertex[place]), int(everything[place]), marks[here])
        alike = known.setdefault(int(codes[place]), _Class(int(codes[place])))
        size = int(graphs[here].degrees[vertex[place]])
        codes[place], unsure = alike.code_of(size, inside, fresh)
        fresh += int(codes[place]) == fresh
        undecided += unsure
    ends = np.cumsum([graph.order for graph in graphs])[:-1]
    return tuple(np.split(codes, ends)), undecided


@dataclass(slots=True, eq=False)
class _Class:
    """Neighbourhoods of one hash, and the shapes found among them."""

    first: int
    by_edges: dict[bytes, int] = field(default_factory=dict)
    """Codes by the edges as they are numbered: equal ones need no search."""
    waiting: tuple[Numbers, int] | None = None
    """The only one so far: most are never compared, so it gets no colours yet."""
    shapes: list[tuple[Shape, int]] = field(default_factory=list)

    def code_of(self, size: int, edges: Numbers, fresh: int) -> tuple[int, int]:
        """The code of a neighbourhood, `fresh` for a new shape; and comparisons that were cut."""
        key = edges.tobytes()
        if key in self.by_edges:
            return self.by_edges[key], 0
        if not self.by_edges:
            self.waiting = edges, self.first
            self.by_edges[key] = self.first
            return self.first, 0
        if self.waiting is not None:
            self.shapes.append((Shape.of(size, self.waiting[0]), self.waiting[1]))
            self.waiting = None
        shape, cut = Shape.of(size, edges), 0
        for other, code in self.shapes:
            alike = shape.same_shape(other)
            cut += alike is None
            if alike:
                self.by_edges[key] = code
                return code, cut
        self.shapes.append((shape, fresh))
        self.by_edges[key] = fresh
        return fresh, cut


def _around(graph: Graph, vertex: int, count: int, mark: NDArray[np.int32]) -> Numbers:
    """The edges among the neighbours of a vertex, by their places in its row, sorted."""
    from celosia.graphs.attacks._kernels import edges_among

    found = np.empty((count, 2), dtype=np.int32)
    edges_among(graph.starts, graph.neighbours, vertex, mark, found)
    pairs = found.astype(np.int64)
    return pairs[np.lexsort(pairs.T[::-1])]
