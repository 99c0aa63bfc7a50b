"""k-anonymity of degree and triangles, against plain counts and networkx."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import silent
from celosia.core.randomness import Seeded
from celosia.graphs.examples import karate
from celosia.graphs.fuzzy_neighbourhood import PARTS, FuzzyNeighbourhood, Repair
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.verification import triangle_anonymity

SMALL_GRAPHS = st.builds(
    lambda order, share, seed: random_graph(
        order, int(share * order * (order - 1) / 2), Seeded(seed)
    ),
    st.integers(4, 14),
    st.floats(0, 1),
    st.integers(0, 10**6),
)


def plain_sizes(graph: Graph, tolerance: Fraction) -> list[int]:
    """The definition, pair by pair, over networkx's triangles."""
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(graph.order))
    corners, degrees = nx.triangles(whole), dict(whole.degree)
    return [
        sum(
            degrees[u] == degrees[v]
            and abs(corners[u] - corners[v]) <= tolerance * max(corners[u], corners[v])
            for u in range(graph.order)
        )
        for v in range(graph.order)
    ]


@settings(max_examples=20, deadline=None)
@given(SMALL_GRAPHS, st.sampled_from(["0", "0.2", "0.25", "0.5"]))
@example(random_graph(50, 400, Seeded(1)), "0.2")
@example(random_graph(50, 400, Seeded(2)), "0.1")
def test_the_verifier_and_the_repair_count_as_the_definition_says(
    graph: Graph, written: str
) -> None:
    tolerance = Fraction(written)
    stated = plain_sizes(graph, tolerance)
    assert list(triangle_anonymity(graph, tolerance=float(tolerance)).sizes) == stated
    assert Repair(graph, 2, int(tolerance * PARTS)).alike().tolist() == stated


@settings(max_examples=16, deadline=None)
@given(SMALL_GRAPHS, st.integers(2, 3), st.integers(0, 10**6))
def test_repair_keeps_degrees_and_knows_its_triangles(graph: Graph, k: int, seed: int) -> None:
    repair = Repair(graph, k, PARTS // 5)
    repair.run(0, Seeded(seed), silent)
    after = graph.with_edges(repair.edges())
    assert after.degrees.tolist() == graph.degrees.tolist()
    assert Repair(after, k, 0).corners.tolist() == repair.corners.tolist()
    assert after.size == graph.size


@settings(max_examples=16, deadline=None)
@given(SMALL_GRAPHS, st.integers(2, 4), st.integers(0, 10**6))
def test_what_is_published_keeps_the_promise_or_is_refused(graph: Graph, k: int, seed: int) -> None:
    try:
        changed = FuzzyNeighbourhood(k=k).apply(graph, rng=Seeded(seed))
    except PrivacyError:
        return
    assert min(plain_sizes(changed.graph, Fraction(1, 5))) == changed.facts["k reached"] >= k
    assert changed.facts["vertices below k"] == 0


def test_a_network_with_hubs_and_clusters_needs_few_new_edges() -> None:
    clustered = nx.powerlaw_cluster_graph(600, 5, 0.7, seed=1)
    graph = Graph.of(np.array(clustered.edges))
    changed = FuzzyNeighbourhood(k=5).apply(graph, rng=Seeded(1))
    assert triangle_anonymity(changed.graph, tolerance=0.2).k >= 5
    assert changed.facts["edges added"] < 0.3 * graph.size
    assert changed.graph.size <= 1.02 * graph.size


def test_a_share_of_vertices_may_stay_below_k() -> None:
    graph = power_law(400, 1600, 2.5, Seeded(1))
    method = FuzzyNeighbourhood(k=5, share=0.02)
    changed = method.apply(graph, rng=Seeded(1))
    left = sum(size < 5 for size in triangle_anonymity(changed.graph, tolerance=0.2).sizes)
    assert changed.facts["vertices below k"] == left <= 8
    strict = FuzzyNeighbourhood(k=5).apply(graph, rng=Seeded(1))
    assert strict.facts["vertices below k"] == 0
    assert changed.facts["edges deleted"] <= strict.facts["edges deleted"]
    assert "at most 8" in (method.promise(graph) or "")


def test_what_is_anonymous_already_stays_as_it_is() -> None:
    assert FuzzyNeighbourhood(k=5).apply(ring(9), rng=Seeded(1)).graph.same_edges(ring(9))


def test_the_method_refuses_what_cannot_be_and_tells_what_it_promises() -> None:
    with pytest.raises(InputError) as error:
        FuzzyNeighbourhood(k=40).apply(karate(), rng=Seeded(1))
    assert error.value.code == "CEL-G100"
    for wrong in ({"k": 1}, {"k": 2, "tolerance": 0.6}, {"k": 2, "share": -1}):
        with pytest.raises(InputError):
            FuzzyNeighbourhood(**wrong)
    method = FuzzyNeighbourhood(k=3)
    assert "20.0%" in (method.promise(karate()) or "")
    assert len(method.leaves_open()) == 3
