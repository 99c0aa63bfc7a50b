"""The verifiers on graphs with known answers (checks 21, 26, 27, 28), and against networkx."""

from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import (
    G10_EDGE_CHANGE,
    G10_EDGES,
    G10_VERTEX_ADDED,
    Edits,
    dan,
    g9,
    g10,
    graph_of_names,
)
from celosia.graphs.generators import random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.verification import (
    Candidates,
    are_automorphisms,
    candidate_sizes,
    contains,
    degree_anonymity,
    is_k_automorphic,
    is_k_isomorphic,
    neighbourhood_anonymity,
    neighbourhood_classes,
)

STAR = Graph.of([(0, v) for v in range(1, 6)])
TRIANGLES = Graph.of([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])


def after(edits: Edits) -> Graph:
    return graph_of_names([*(set(G10_EDGES) - set(edits.delete)), *edits.add])


def names(graph: Graph) -> set[frozenset[object]]:
    labels = graph.labels
    assert labels is not None
    return {frozenset(labels[v] for v in members) for members in neighbourhood_classes(graph)}


@pytest.mark.parametrize(
    ("graph", "k"),
    [
        (g9(), 1),
        (g10(), 1),
        (after(G10_EDGE_CHANGE), 2),
        (after(G10_VERTEX_ADDED), 2),
        (ring(7), 7),
        (STAR, 1),
        (Graph.of([], order=4), 4),
        (Graph.of([], order=0), 0),
    ],
    ids=["g9", "g10", "edge change", "vertex added", "C7", "star", "no edges", "nothing"],
)
def test_degree_anonymity_of_the_figures(graph: Graph, k: int) -> None:
    assert degree_anonymity(graph) == k


def test_candidates_by_degree_are_the_degree_anonymity_of_figure_9() -> None:
    found = candidate_sizes(g9(), lambda graph, v: int(graph.degrees[v]))
    assert found.sizes == (1, 4, 3, 3, 4, 3, 4, 4, 1)
    assert found.k == degree_anonymity(g9())
    assert found.unique == pytest.approx(2 / 9)
    assert found.buckets == {"1": 2, "2-4": 7, "5-10": 0, "11-20": 0, ">20": 0}
    assert found.as_dict()["k"] == 1
    assert str(found) == "at least 1 candidates for every vertex; 22.2% are unique"


def test_refinement_queries_of_figure_9_are_finer_with_every_step() -> None:
    def refined(graph: Graph, vertex: int, depth: int) -> object:
        near = graph.neighbours_of(vertex).tolist()
        if depth == 1:
            return len(near)
        return tuple(sorted((refined(graph, v, depth - 1) for v in near), key=repr))

    graph = g9()
    sizes = [candidate_sizes(graph, lambda g, v, d=d: refined(g, v, d)).sizes for d in (1, 2, 3)]  # type: ignore[misc]
    assert sizes[1] == (1, 2, 1, 1, 2, 1, 2, 2, 1)
    assert sizes[2] == (1,) * 9
    assert all(
        a >= b for coarse, fine in pairwise(sizes) for a, b in zip(coarse, fine, strict=True)
    )


def test_neighbourhood_classes_of_the_figures() -> None:
    assert names(dan()) == {
        frozenset(each)
        for each in (["Dan"], ["Joe"], ["Amy", "Bob"], ["Eva", "Lis", "Tim"], ["Ann", "Tom"])
    }
    assert names(g9()) == {frozenset(each) for each in ([1], [2], [3], [4, 6], [5, 7, 8], [9])}
    assert names(g10()) == {frozenset(each) for each in ([1, 3], [2], [4], [5], [6, 7, 8, 9])}
    assert names(after(G10_VERTEX_ADDED)) == {
        frozenset(each) for each in ([1, 3, 4, 10], [2, 5], [6, 7, 8, 9])
    }
    assert frozenset([2, 5]) in names(after(G10_EDGE_CHANGE))
    assert neighbourhood_anonymity(after(G10_EDGE_CHANGE)).k == 2


def test_dan_is_anonymous_by_degree_and_not_by_neighbourhood() -> None:
    assert degree_anonymity(dan()) == 2
    assert neighbourhood_anonymity(dan()).k == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.data())
def test_neighbourhood_classes_equal_those_of_networkx(
    order: int, seed: int, data: st.DataObject
) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(order))
    around = [whole.subgraph(whole[v]) for v in range(order)]
    classes = neighbourhood_classes(graph)
    assert sorted(v for members in classes for v in members) == list(range(order))
    together = {v: place for place, members in enumerate(classes) for v in members}
    for u in range(order):
        for v in range(u):
            same = nx.is_isomorphic(around[u], around[v])
            assert same == (together[u] == together[v])


def test_what_refinement_cannot_tell_apart_is_told_apart() -> None:
    # One vertex sees a hexagon, the other two triangles: all degrees inside are 2.
    hexagon = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 6)]
    twins = [(8, 9), (9, 10), (8, 10), (11, 12), (12, 13), (11, 13)]
    spokes = [(0, v) for v in range(1, 7)] + [(7, v) for v in range(8, 14)]
    classes = neighbourhood_classes(Graph.of([*hexagon, *twins, *spokes]))
    assert (0,) in classes
    assert (7,) in classes


def test_a_hexagon_is_6_automorphic_and_a_path_not_at_all() -> None:
    path = Graph.of([(0, 1), (1, 2)])
    assert [is_k_automorphic(ring(6), k) for k in (1, 2, 6, 7)] == [True, True, True, False]
    assert is_k_automorphic(path, 1)
    assert not is_k_automorphic(path, 2)
    assert not is_k_automorphic(STAR, 2)
    assert is_k_automorphic(TRIANGLES, 6)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), st.integers(2, 3), st.data())
def test_the_search_for_automorphisms_equals_trying_all_renamings(
    order: int, seed: int, k: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, order * (order - 1) // 2))
    graph = random_graph(order, size, Seeded(seed))
    edges = {frozenset(pair) for pair in graph.edges.tolist()}
    moving = [
        image
        for image in permutations(range(order))
        if {frozenset((image[u], image[v])) for u, v in graph.edges.tolist()} == edges
        and all(image[v] != v for v in range(order))
    ]
    wanted = (
        bool(moving)
        if k == 2
        else any(
            all(a != b for a, b in zip(one, other, strict=True))
            for one in moving
            for other in moving
        )
    )
    assert is_k_automorphic(graph, k) == wanted


def test_automorphisms_are_refused_for_each_thing_that_is_wrong() -> None:
    graph = ring(6)
    turn, half = np.roll(np.arange(6), 1), np.roll(np.arange(6), 3)
    assert are_automorphisms(graph, [turn, half])
    assert not are_automorphisms(graph, [turn, turn])
    assert not are_automorphisms(graph, [np.arange(6)])
    assert not are_automorphisms(graph, [[0, 0, 1, 2, 3, 4]])
    assert not are_automorphisms(graph, [[2, 0, 1, 5, 3, 4]])


def test_the_exact_search_refuses_large_graphs() -> None:
    with pytest.raises(InputError) as error:
        is_k_automorphic(ring(17), 2)
    assert error.value.code == "CEL-G110"


def test_two_triangles_are_2_isomorphic_and_a_hexagon_is_not() -> None:
    assert is_k_isomorphic(TRIANGLES, 2)
    assert not is_k_isomorphic(TRIANGLES, 3)
    assert not is_k_isomorphic(ring(6), 2)
    assert not is_k_isomorphic(Graph.of([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]), 2)
    assert is_k_isomorphic(Graph.of([(0, 1), (2, 3)], order=6), 2)


def test_containment_sees_a_missing_edge_and_a_missing_vertex() -> None:
    graph = g9()
    assert contains(graph, graph)
    assert contains(graph, graph.with_edges(np.concatenate([graph.edges, [[0, 8]]])))
    assert not contains(graph, graph.with_edges(graph.edges[1:]))
    assert not contains(Graph.of([], order=3), Graph.of([], order=2))
    assert contains(Graph.of([], order=2), Graph.of([], order=2))


def test_candidates_of_nothing_are_none() -> None:
    assert Candidates(()).k == 0
    assert Candidates(()).unique == 0
