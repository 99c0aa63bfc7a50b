"""Graphs as points and lines: places in the plane, and what became of each edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.drawing import MOST_DRAWN, MOST_NAMED, layout

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.graphs import GeneralisedGraph, Graph, UncertainGraph

HUBS = 200
"""Of a graph that is too large to be drawn: so many vertices with most neighbours are."""
MOST_EDGES = 4_000
"""Edges that a browser draws at once."""
MOST_POINTS = 400
"""Points of a line of degrees."""


def side(
    places: NDArray[np.float64],
    names: list[str],
    degrees: NDArray[np.int64],
    edges: list[list[Any]],
    *,
    total_edges: int,
) -> dict[str, Any]:
    """One drawing as plain values: points as [x, y, name, degree], lines as [u, v, kind, width]."""
    return {
        "points": [
            [round(float(x), 4), round(float(y), 4), name, int(degree)]
            for (x, y), name, degree in zip(places, names, degrees, strict=True)
        ],
        "lines": edges[:MOST_EDGES],
        "edges": total_edges,
    }


def names_of(graph: Graph, order: int) -> list[str]:
    """The names of the vertices, then "+1", "+2" for those that a method made up."""
    known = range(graph.order) if graph.labels is None else graph.labels.to_list()
    return [str(each)[:40] for each in known] + [f"+{at + 1}" for at in range(order - graph.order)]


def chosen(original: Graph, order: int) -> NDArray[np.int64]:
    """The vertices that are drawn: all, or those with most neighbours in the original."""
    if order <= MOST_DRAWN:
        return np.arange(order, dtype=np.int64)
    return np.sort(np.argsort(-original.degrees, kind="stable")[:HUBS])


def one(graph: Graph, *, rng: Source) -> dict[str, Any]:
    """A graph by itself, or its hubs: the drawing is under `before`."""
    facts = both(graph, graph, rng=rng)
    return {name: facts[name] for name in ("drawn", "of", "named", "before")}


def both(original: Graph, release: Graph, *, rng: Source) -> dict[str, Any]:
    """Two graphs with the same places; each line is in both (0), or in this one alone (1).

    Args:
        original: the graph before.
        release: the graph after, its first vertices in the order of the original.
        rng: where the points start from.
    """
    order = max(original.order, release.order)
    some = chosen(original, order)
    old, new = _among(original, some, order), _among(release, some, order)
    places = layout(old.with_edges(np.concatenate([old.edges, new.edges])), rng=rng)
    labels = names_of(original, order)
    names = [labels[at] for at in some.tolist()]
    return {
        "kind": "same",
        "drawn": len(names),
        "of": order,
        "named": len(names) <= MOST_NAMED,
        "before": side(places, names, old.degrees, _lines(old, new), total_edges=original.size),
        "after": side(places, names, new.degrees, _lines(new, old), total_edges=release.size),
        "gone": int((~release.has_edges(original.edges)).sum()),
        "come": int((~_wide(original, order).has_edges(release.edges)).sum()),
    }


def uncertain(original: Graph, release: UncertainGraph, *, rng: Source) -> dict[str, Any]:
    """The original, and beside it each pair by its chance as a width; vertices in one order."""
    from celosia.graphs import Graph

    union = Graph.of(release.pairs, order=release.order)
    facts = both(original, union, rng=rng)
    some = chosen(original, release.order)
    number = np.full(release.order, -1, dtype=np.int64)
    number[some] = np.arange(some.size)
    ends = number[release.pairs]
    inside = (ends >= 0).all(axis=1)
    known = original.has_edges(release.pairs[inside])
    facts["after"]["lines"] = [
        [int(u), int(v), int(not true), round(float(chance), 3)]
        for (u, v), true, chance in zip(
            ends[inside], known, release.probabilities[inside], strict=True
        )
    ][:MOST_EDGES]
    return facts | {"kind": "uncertain", "expected": release.expected_edges}


def groups(original: Graph, release: GeneralisedGraph, *, rng: Source) -> dict[str, Any]:
    """The original, and beside it groups as points: how many vertices, how many edges within."""
    from celosia.graphs import Graph

    facts = both(original, original, rng=rng)
    count = len(release.sizes)
    shape = Graph.of(release.super_edges, order=count)
    some = chosen(shape, count)
    part = _among(shape, some, count)
    weights = {
        (int(u), int(v)): int(between)
        for (u, v), between in zip(release.super_edges, release.between, strict=True)
    }
    lines = [
        [int(u), int(v), 0, weights[int(some[u]), int(some[v])]] for u, v in part.edges.tolist()
    ]
    names = [f"{release.sizes[at]} / {release.internal[at]}" for at in some.tolist()]
    facts["after"] = side(
        layout(part, rng=rng), names, release.sizes[some], lines, total_edges=release.size
    )
    return facts | {"kind": "groups", "groups": count, "groups_named": len(names) <= MOST_NAMED}


def new(original: Graph, release: Graph, *, rng: Source) -> dict[str, Any]:
    """The original, and beside it a graph in which no vertex is anybody."""
    facts = both(original, original, rng=rng)
    facts["after"] = one(release, rng=rng)["before"]
    return facts | {"kind": "new"}


def degree_line(degrees: NDArray[np.number[Any]]) -> list[list[float]]:
    """The degrees from the greatest to the least, by rank; at most 400 of them, evenly."""
    ordered = np.sort(degrees)[::-1]
    places = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, MOST_POINTS)).astype(int))
    return [[int(at) + 1, round(float(ordered[at]), 3)] for at in places.tolist()]


def _wide(graph: Graph, order: int) -> Graph:
    """The same graph with more vertices, so that pairs with new ones can be looked up."""
    from celosia.graphs import Graph as Made

    return graph if graph.order == order else Made.of(graph.edges, order=order)


def _among(graph: Graph, some: NDArray[np.int64], order: int) -> Graph:
    """The edges among some vertices, numbered by their places."""
    from celosia.graphs import Graph as Made

    number = np.full(order, -1, dtype=np.int64)
    number[some] = np.arange(some.size)
    ends = number[graph.edges].reshape(-1, 2)
    return Made.of(ends[(ends >= 0).all(axis=1)], order=some.size)


def _lines(graph: Graph, other: Graph) -> list[list[Any]]:
    """Its edges, those that the other lacks last, so that they lie on top."""
    alone = ~other.has_edges(graph.edges)
    found = [[int(u), int(v), 0, 1] for u, v in graph.edges[~alone].tolist()]
    marked = [[int(u), int(v), 1, 1] for u, v in graph.edges[alone].tolist()]
    return found[: MOST_EDGES - len(marked)] + marked
