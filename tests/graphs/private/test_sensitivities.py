"""Every stated sensitivity is the largest that a search through all small graphs finds."""

from itertools import permutations

import numpy as np
import pytest
from tests.graphs.private.small_graphs import (
    Edges,
    all_edge_sets,
    degrees,
    graph_of,
    histogram,
    one_edge_away,
    random_edge_sets,
    without_vertex,
)

from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.private import (
    BoundedDegreeHistogram,
    BoundedEdgeCount,
    DegreeHistogram,
    DegreeSequence,
    EdgeCount,
    JointDegrees,
)
from celosia.graphs.private.projection import STEPS, Projection


def graphs_with_neighbours(order: int) -> list[tuple[Edges, Edges]]:
    sets = all_edge_sets(order) if order <= 5 else random_edge_sets(order, 40, seed=order)
    return [(edges, other) for edges in sets for other in one_edge_away(edges, order)]


def worst(values: dict[Edges, np.ndarray], order: int) -> int:
    return max(
        int(np.abs(values[edges] - values[other]).sum())
        for edges in values
        for other in one_edge_away(edges, order)
        if other in values
    )


def test_an_edge_moves_the_sorted_degrees_by_two_at_two_places() -> None:
    order = 5
    found = {e: np.sort(degrees(e, order)) for e in all_edge_sets(order)}
    assert worst(found, order) == DegreeSequence(epsilon=1).sensitivity
    moves = {np.abs(found[e] - found[o]).max() for e, o in graphs_with_neighbours(order)}
    assert moves == {1}  # the loss is that of two coordinates that move by one
    for edges, other in graphs_with_neighbours(7):
        moved = np.sort(degrees(edges, 7)) - np.sort(degrees(other, 7))
        assert np.abs(moved).tolist().count(1) == np.abs(moved).sum() == 2


def test_an_edge_moves_the_histogram_by_four_and_cumulated_counts_by_two() -> None:
    order = 5
    bins = {e: histogram(e, order) for e in all_edge_sets(order)}
    assert worst(bins, order) == DegreeHistogram(epsilon=1, strategy="bins").sensitivity == 4
    sums = {e: np.cumsum(counts) for e, counts in bins.items()}
    assert worst(sums, order) == DegreeHistogram(epsilon=1).sensitivity == 2


@pytest.mark.parametrize("cap", [1, 2, 3, 4])
def test_an_edge_moves_joint_degrees_by_no_more_than_stated(cap: int) -> None:
    order = 5
    mechanism = JointDegrees(epsilon=1, cap=cap)
    found = {e: mechanism.counts(graph_of(e, order)) for e in all_edge_sets(order)}
    assert all(found[e].sum() == len(e) for e in found), "every edge is counted"
    assert worst(found, order) <= mechanism.sensitivity
    if cap <= 2:
        assert worst(found, order) == mechanism.sensitivity


def test_the_bound_of_joint_degrees_is_reached() -> None:
    # Two hubs of cap - 1 leaves each, far apart, and an edge between them.
    cap = 4
    leaves = [(0, leaf) for leaf in range(2, 5)] + [(1, leaf) for leaf in range(5, 8)]
    mechanism = JointDegrees(epsilon=1, cap=cap)
    before, after = (
        mechanism.counts(Graph.of(edges, order=8)) for edges in (leaves, [*leaves, (0, 1)])
    )
    assert np.abs(before - after).sum() == mechanism.sensitivity == 4 * cap - 3


def plain_projection(edges: list[tuple[int, int]], order: int, cap: int) -> list[int]:
    found = [0] * order
    for u, v in edges:
        if found[u] < cap and found[v] < cap:
            found[u] += 1
            found[v] += 1
    return found


def check_projection(edges: list[tuple[int, int]], order: int, cap: int) -> tuple[int, int, int]:
    """By how much each vertex that goes moves edges, cumulated counts and counts, at most."""
    full = plain_projection(edges, order, cap)
    moved = [0, 0, 0]
    for gone in range(order):
        rest = [edge for edge in edges if gone not in edge]
        part = plain_projection(rest, order, cap)
        del part[gone]
        rise = (sum(full) - sum(part)) // 2
        assert 0 <= rise <= cap
        counts = np.bincount(full, minlength=cap + 1) - np.bincount(part, minlength=cap + 1)
        sums = int(np.abs(np.cumsum(counts)).sum())
        moved = [
            max(a, b) for a, b in zip(moved, (rise, sums, int(np.abs(counts).sum())), strict=True)
        ]
    return moved[0], moved[1], moved[2]


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_a_vertex_moves_the_projection_by_no_more_than_stated_in_any_order(cap: int) -> None:
    bound = (
        BoundedEdgeCount(epsilon=1, cap=cap).sensitivity,
        BoundedDegreeHistogram(epsilon=1, cap=cap).sensitivity,
        BoundedDegreeHistogram(epsilon=1, cap=cap, strategy="bins").sensitivity,
    )
    worst_found = np.zeros(3, dtype=np.int64)
    rng = Seeded(cap)
    for edges in all_edge_sets(4):  # every order of every graph on four vertices
        for served in permutations(edges):
            worst_found = np.maximum(worst_found, check_projection(list(served), 4, cap))
    for edges in [*all_edge_sets(5), *random_edge_sets(6, 60, 1), *random_edge_sets(7, 60, 2)]:
        order = max((v for pair in edges for v in pair), default=0) + 1
        listed = sorted(edges)
        for _ in range(2):
            service = rng.permutation(len(listed)).tolist()
            found = check_projection([listed[place] for place in service], order, cap)
            worst_found = np.maximum(worst_found, found)
    assert (worst_found <= bound).all()
    assert worst_found[:2].tolist() == list(bound[:2]), "the bounds are reached"


def test_the_compiled_projection_is_the_plain_one() -> None:
    graph = power_law(80, 300, 2.5, Seeded(2))
    service = Seeded(5).permutation(graph.size)
    listed = [tuple(edge) for edge in graph.edges[service].tolist()]
    for cap in (1, 3, 10, 100):
        found = Projection.of(graph, cap, service)
        assert found.degrees.tolist() == plain_projection(listed, 80, cap)
        assert found.size == found.degrees.sum() // 2
    assert found.size == graph.size, "a cap above all degrees keeps every edge"


@pytest.mark.parametrize("mechanism", [BoundedEdgeCount, BoundedDegreeHistogram])
def test_a_vertex_moves_the_scores_of_caps_by_no_more_than_one(
    mechanism: type[BoundedEdgeCount],
) -> None:
    asked = mechanism(epsilon=1, cap=(1, 2, 3, 5))
    rng = Seeded(9)
    for edges in random_edge_sets(7, 60, seed=3):
        listed = sorted(edges)
        order = [listed[place] for place in rng.permutation(len(listed)).tolist()]
        sizes = [sum(plain_projection(order, 7, cap)) // 2 for cap in asked.caps]
        here = asked.scores(sizes)
        assert min(here) == 0
        for gone in range(7):
            rest = [edge for edge in order if gone not in edge]
            fewer = [sum(plain_projection(rest, 7, cap)) // 2 for cap in asked.caps]
            moves = [abs(a - b) for a, b in zip(here, asked.scores(fewer), strict=True)]
            assert max(moves) <= STEPS + 1


def test_the_numbering_of_vertices_does_not_matter_to_a_vertex_that_goes() -> None:
    # The graph without a vertex, as a Graph, has the projection that the proof speaks of.
    edges = frozenset({(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)})
    rest = without_vertex(edges, 2)
    assert rest == frozenset({(0, 1), (1, 2), (2, 3)})
    service = np.arange(3)
    assert Projection.of(graph_of(rest, 4), 1, service).degrees.tolist() == plain_projection(
        sorted(rest), 4, 1
    )


def test_one_edge_moves_the_number_of_edges_by_one() -> None:
    assert EdgeCount(epsilon=1).sensitivity == 1
