"""Each metric against networkx on random graphs, connected or not."""

from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.randomness import Seeded
from celosia.graphs.examples import karate
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import (
    betweenness,
    clustering,
    communities,
    coreness,
    distances,
    measure,
    modularity,
    pagerank,
    sources_of,
    spectral_metrics,
)


def theirs(graph: Graph) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(graph.order))
    made.add_edges_from(graph.edges.tolist())
    return made


def by_vertex(found: dict[int, float]) -> list[float]:
    return [found[vertex] for vertex in sorted(found)]


GRAPHS = {
    "club": karate(),
    "sparse, in parts": random_graph(60, 45, Seeded(1)),
    "with hubs": power_law(120, 500, 2.5, Seeded(2)),
    "ring": ring(30, reach=2),
    "star": Graph.of([(0, each) for each in range(1, 8)]),
    "alone": Graph.of([(0, 1)], order=4),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())


@every_graph
def test_triangles_and_clustering_are_those_of_networkx(graph: Graph) -> None:
    found, other = clustering(graph), theirs(graph)
    assert found.corners.tolist() == by_vertex(nx.triangles(other))
    assert found.local == pytest.approx(by_vertex(nx.clustering(other)))
    assert found.transitivity == pytest.approx(nx.transitivity(other))
    assert found.mean == pytest.approx(nx.average_clustering(other))


@every_graph
def test_betweenness_and_closeness_are_those_of_networkx(graph: Graph) -> None:
    everywhere = sources_of(graph, Seeded(1))
    assert everywhere.tolist() == list(range(graph.order))
    other = theirs(graph)
    found = betweenness(graph, sources=everywhere)
    assert found.batches is None
    assert found.values == pytest.approx(by_vertex(nx.betweenness_centrality(other)))
    close = distances(graph, sources=everywhere).closeness
    assert close.values == pytest.approx(by_vertex(nx.closeness_centrality(other)))


@every_graph
def test_distances_are_over_the_connected_pairs(graph: Graph) -> None:
    found = distances(graph, sources=sources_of(graph, Seeded(1)))
    lengths = [
        far
        for _, row in nx.all_pairs_shortest_path_length(theirs(graph))
        for far in row.values()
        if far
    ]
    pairs = graph.order * (graph.order - 1)
    assert found.average.value == pytest.approx(np.mean(lengths))
    assert found.diameter.value == max(lengths)
    assert found.harmonic.value == pytest.approx(pairs / sum(1 / far for far in lengths))
    assert found.connected.value == pytest.approx(len(lengths) / pairs)


@every_graph
def test_cores_and_pagerank_are_those_of_networkx(graph: Graph) -> None:
    other = theirs(graph)
    assert coreness(graph).tolist() == by_vertex(nx.core_number(other))
    # Ours is within 1e-8 * 0.85 / 0.15 of the answer in sum, theirs within n * tol * 6.
    exact = by_vertex(nx.pagerank(other, tol=1e-12, max_iter=1000))
    assert pagerank(graph) == pytest.approx(exact, abs=1e-7)


@every_graph
def test_eigenvalues_are_those_of_dense_algebra(graph: Graph) -> None:
    found = spectral_metrics(graph, rng=Seeded(1))
    dense = nx.to_numpy_array(theirs(graph), nodelist=range(graph.order))
    values = np.linalg.eigvalsh(dense)
    laplacian = np.linalg.eigvalsh(np.diag(dense.sum(axis=1)) - dense)
    assert found.largest.value == pytest.approx(values[-1])
    assert found.connectivity.value == pytest.approx(laplacian[1], abs=1e-9)
    assert found.subgraph_centrality.value == pytest.approx(np.exp(values).mean())


@every_graph
def test_modularity_of_the_communities_is_that_of_networkx(graph: Graph) -> None:
    found = communities(graph, rng=Seeded(1))
    groups = [set(np.flatnonzero(found.of_vertex == at).tolist()) for at in range(found.count)]
    assert found.modularity == pytest.approx(nx.community.modularity(theirs(graph), groups))
    assert found.modularity == modularity(graph, found.of_vertex)
    again = communities(graph, rng=Seeded(1))
    assert np.array_equal(found.of_vertex, again.of_vertex)


def test_communities_are_as_good_as_those_of_networkx() -> None:
    # Louvain's outcome depends on the order of visits; 0.40 is below all of networkx's hundred.
    assert communities(karate(), rng=Seeded(1)).modularity > 0.40


def test_planted_communities_are_found() -> None:
    inside = [
        (10 * part + i, 10 * part + j) for part in range(4) for i in range(10) for j in range(i)
    ]
    graph = Graph.of([*inside, (0, 10), (20, 30), (5, 25)])
    found = communities(graph, rng=Seeded(3)).of_vertex.reshape(4, 10)
    assert (found == found[:, :1]).all()
    assert len(set(found[:, 0].tolist())) == 4


edge_sets = st.sets(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1]),
    max_size=40,
)


@given(edges=edge_sets)
@settings(max_examples=60, deadline=None)
def test_any_small_graph_is_measured_as_by_networkx(edges: set[tuple[int, int]]) -> None:
    graph = Graph.of(edges, order=12)
    other = theirs(graph)
    found = measure(graph, rng=Seeded(1))
    assert found.triangles.value == sum(nx.triangles(other).values()) / 3
    assert found.mean_clustering.value == pytest.approx(nx.average_clustering(other))
    assert found.connectivity.value >= 0
    assert (found.connectivity.value > 1e-9) == nx.is_connected(other)
    assert coreness(graph).tolist() == by_vertex(nx.core_number(other))


LARGE = power_law(1001, 4400, 2.6, Seeded(11))


@pytest.mark.statistical
def test_sampled_distances_are_within_their_stated_error() -> None:
    exact = distances(LARGE, sources=np.arange(LARGE.order))
    rng = Seeded(1)
    misses = {"average": 0, "harmonic": 0}
    for _ in range(20):
        sources = sources_of(LARGE, rng, most_steps=1)
        assert len(sources) == 32
        found = distances(LARGE, sources=sources)
        for name in misses:
            one, other = getattr(found, name), getattr(exact, name)
            misses[name] += abs(one.value - other.value) > one.error
            assert one.error < 0.2 * other.value + 1e-9
        assert found.connected == exact.connected
        assert found.diameter.value <= exact.diameter.value
        assert found.diameter.value + found.diameter.error >= exact.diameter.value
    # More than 6 of 20 at 5 % (8 % for Student's tail with 31 degrees) has a chance below 1e-3.
    assert max(misses.values()) <= 6


@pytest.mark.statistical
def test_sampled_betweenness_is_within_its_stated_error() -> None:
    exact = betweenness(LARGE, sources=np.arange(LARGE.order))
    sources = sources_of(LARGE, Seeded(4), most_steps=100 * (LARGE.order + 2 * LARGE.size))
    found = betweenness(LARGE, sources=sources)
    assert found.batches is not None
    apart = found.distance(exact)
    assert 0 < apart.value <= apart.error
    assert apart.error < np.sqrt(np.mean(exact.values**2))


@pytest.mark.statistical
def test_sampled_walks_are_within_their_stated_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = power_law(150, 600, 2.6, Seeded(11))
    exact = spectral_metrics(graph, rng=Seeded(2)).subgraph_centrality
    assert exact.is_exact
    module = import_module("celosia.graphs.metrics.spectrum")
    monkeypatch.setattr(module, "MOST_EXACT", 50)
    steps = 30 * (graph.order + 2 * graph.size)
    rng = Seeded(3)
    many = [spectral_metrics(graph, rng=rng, most_steps=20 * steps) for _ in range(5)]
    found = [each.subgraph_centrality for each in many]
    # With 19 degrees of freedom 4 standard errors are passed with a chance of 8e-4.
    assert all(abs(each.value - exact.value) <= 2 * each.error for each in found)
    assert all(0 < each.error < 0.1 * exact.value for each in found)
    assert len({each.value for each in found}) == 5


def test_iterated_eigenvalues_are_within_what_their_vectors_leave_over() -> None:
    graph = power_law(401, 1600, 2.6, Seeded(11))  # one more than is computed to the last digit
    dense = nx.to_numpy_array(theirs(graph), nodelist=range(graph.order))
    found = spectral_metrics(graph, rng=Seeded(2))
    assert not found.largest.is_exact
    values = np.linalg.eigvalsh(dense)
    assert abs(found.largest.value - values[-1]) <= found.largest.error + 1e-9
    assert found.largest.error < 1e-3
