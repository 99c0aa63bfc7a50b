"""The tables of figures 9 and 10 (check 34), and two graphs that are the same."""

import json

import numpy as np
import pytest

from celosia.core.randomness import Seeded
from celosia.core.report import Document
from celosia.graphs import examples
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import compare, measure
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.relabelling import relabel


def edited(graph: Graph, edits: examples.Edits, order: int) -> Graph:
    pairs = {(u + 1, v + 1) for u, v in graph.edges.tolist()}
    pairs -= {(min(pair), max(pair)) for pair in edits.delete}
    pairs |= {(min(pair), max(pair)) for pair in edits.add}
    return Graph.of([(u - 1, v - 1) for u, v in pairs], order=order)


G9 = examples.g9()
G10 = examples.g10()
GRAPHS = {
    "G9": G9,
    "ra": edited(G9, examples.G9_ADD_DELETE, 9),
    "sw": edited(G9, examples.G9_SWITCH, 9),
    "G10": G10,
    "edge change": edited(G10, examples.G10_EDGE_CHANGE, 9),
    "vertex added": edited(G10, examples.G10_VERTEX_ADDED, 10),
}

SCALARS = [
    ("G9", "average_distance", 1.9167),
    ("ra", "average_distance", 2.1111),
    ("sw", "average_distance", 2.0),
    ("G9", "diameter", 3),
    ("ra", "diameter", 4),
    ("sw", "diameter", 4),
    ("G9", "harmonic_distance", 1.6),
    ("ra", "harmonic_distance", 1.6615),
    ("sw", "harmonic_distance", 1.6241),
    ("G9", "transitivity", 0.24),
    ("ra", "transitivity", 0.4444),
    ("sw", "transitivity", 0.24),
    ("G9", "triangles", 2),
    ("ra", "triangles", 4),
    ("sw", "triangles", 2),
    ("G9", "largest_eigenvalue", 3.0465),
    ("ra", "largest_eigenvalue", 3.3084),
    ("sw", "largest_eigenvalue", 3.1016),
    ("G9", "connectivity", 0.6473),
    ("ra", "connectivity", 0.3478),
    ("sw", "connectivity", 0.5876),
    ("G9", "subgraph_centrality", 3.6068),
    ("ra", "subgraph_centrality", 4.1979),
    ("sw", "subgraph_centrality", 3.6817),
    ("G10", "average_distance", 2.1944),
    ("edge change", "average_distance", 2.1944),
    ("vertex added", "average_distance", 2.2444),
    ("G10", "largest_eigenvalue", 2.5055),
    ("edge change", "largest_eigenvalue", 2.3226),
    ("vertex added", "largest_eigenvalue", 2.6751),
    ("G10", "connectivity", 0.4892),
    ("edge change", "connectivity", 0.4679),
    ("vertex added", "connectivity", 0.4558),
    ("G10", "triangles", 1),
    ("edge change", "triangles", 0),
    ("vertex added", "triangles", 2),
]


@pytest.mark.parametrize(
    ("name", "metric", "value"), SCALARS, ids=[f"{name}-{metric}" for name, metric, _ in SCALARS]
)
def test_a_graph_of_a_figure_has_the_number_of_the_table(
    name: str, metric: str, value: float
) -> None:
    found = dict(measure(GRAPHS[name], rng=Seeded(1)).items())[metric]
    assert found.is_exact
    assert found.value == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ra", {"degree": 0.1179, "betweenness": 0.0758, "closeness": 0.0687}),
        ("sw", {"degree": 0.0, "betweenness": 0.0418, "closeness": 0.0406}),
    ],
)
def test_the_vectors_of_figure_9_move_as_in_the_table(
    name: str, expected: dict[str, float]
) -> None:
    found = compare(G9, GRAPHS[name], rng=Seeded(1))
    assert found.edge_intersection == pytest.approx(0.8333, abs=1e-4)
    for vector, value in expected.items():
        assert found.distances[vector].value == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(("name", "kept"), [("edge change", 0.9), ("vertex added", 0.8333)])
def test_figure_10_keeps_the_edges_of_the_text(name: str, kept: float) -> None:
    found = compare(G10, GRAPHS[name], rng=Seeded(1))
    assert found.edge_intersection == pytest.approx(kept, abs=1e-4)
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize("steps", [10**9, 1])
def test_a_graph_compared_with_itself_has_no_error_even_when_sampled(steps: int) -> None:
    graph = power_law(90, 300, 2.5, Seeded(5))
    found = compare(graph, graph, rng=Seeded(1), most_steps=steps)
    assert all(error.value == 0 for error in found.errors.values())
    assert all(distance.value == 0 for distance in found.distances.values())
    assert found.edge_intersection == found.equal_coreness == found.hubs_kept == 1.0
    assert found.communities_matched == found.communities_information == 1.0
    assert found.changed_degrees == found.degree_total_variation == found.degree_earth_mover == 0
    assert (steps == 1) == (not found.before.average_distance.is_exact)


def test_a_relabelled_graph_is_compared_by_its_key() -> None:
    graph = power_law(100, 300, 2.5, Seeded(5))
    made = relabel(graph, Seeded(6))
    found = compare(graph, made.graph, rng=Seeded(1), numbers=made.numbers)
    assert found.edge_intersection == 1.0
    assert compare(graph, made.graph, rng=Seeded(1)).edge_intersection < 0.5


def test_the_report_shows_both_graphs_and_says_when_it_sampled() -> None:
    graph = power_law(90, 300, 2.5, Seeded(5))
    changed = RandomPerturbation(amount=0.1).apply(graph, rng=Seeded(2)).graph
    small = compare(graph, changed, rng=Seeded(1))
    page = Document("t", "s", small.blocks()).html()
    assert "Average distance" in page
    assert "sample" not in page
    large = compare(graph, changed, rng=Seeded(1), most_steps=1)
    assert "sample" in Document("t", "s", large.blocks()).html()
    assert "90.0% of the edges kept" in str(small)
    json.dumps(large.as_dict(), allow_nan=False)


@pytest.mark.parametrize("graph", [Graph.of([]), Graph.of([], order=1), Graph.of([], order=3)])
def test_a_graph_without_edges_can_be_measured(graph: Graph) -> None:
    found = compare(graph, graph, rng=Seeded(1))
    assert found.before.average_distance.value == 0
    assert all(np.isfinite(value.value) for _, value in found.before.items())
