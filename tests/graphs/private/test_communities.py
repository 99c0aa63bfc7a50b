"""What is released of communities moves as little as stated, and the graph made of it has them."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.graphs.private.small_graphs import (
    Edges,
    all_edge_sets,
    graph_of,
    one_edge_away,
    random_edge_sets,
    triangle_total,
)

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs._edge_set import edge_set
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.metrics.clustering import clustering, communities, modularity, triangle_corners
from celosia.graphs.private import PrivateGraph, community_structure
from celosia.graphs.private._community_kernels import close_triangles
from celosia.graphs.private.community_graph import with_triangles
from celosia.graphs.private.community_structure import (
    SLACK,
    UNIT,
    CommunityStrength,
    DampedSpectrum,
    eigenvalues,
    vector_modularity,
)
from celosia.graphs.private.synthetic_graph import SPLIT


def spectra(order: int, damping: float) -> dict[Edges, NDArray[np.float64]]:
    """The falling eigenvalues of every graph, by the definition."""
    found: dict[Edges, NDArray[np.float64]] = {}
    for edges in all_edge_sets(order):
        matrix = np.zeros((order, order))
        for u, v in edges:
            matrix[u, v] = matrix[v, u] = 1
        scale = np.sqrt(matrix.sum(axis=0) + damping)
        found[edges] = np.asarray(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[::-1])
    return found


@pytest.mark.parametrize("damping", [1.0, 3.0])
def test_an_edge_moves_the_damped_spectrum_by_no_more_than_stated(damping: float) -> None:
    order = 5
    mechanism = DampedSpectrum(epsilon=1, damping=damping, depth=2)
    exact = spectra(order, damping)
    worst = max(
        float(np.abs(exact[edges] - exact[other]).sum())
        for edges in exact
        for other in one_edge_away(edges, order)
    )
    assert worst <= mechanism.sensitivity < 2 * worst
    assert worst >= 2 / (1 + damping), "the first edge of two vertices"
    for edges in random_edge_sets(order, 20, seed=1):
        sums = mechanism.sums(graph_of(edges, order))
        first = exact[edges]
        assert np.allclose(sums, [first[0], first[1], first[2:4].sum()])


def test_noise_of_the_spectrum_is_for_all_sums_and_the_errors_of_computing_them() -> None:
    mechanism = DampedSpectrum(epsilon=0.5, damping=4.0, depth=6)
    bare = DampedSpectrum(epsilon=0.5, damping=4.0, depth=0)
    computed = 2 * 10 * community_structure.TOLERANCE * 63
    assert mechanism.sensitivity - bare.sensitivity >= computed + 5 / UNIT
    assert mechanism.law.scale == 2 * mechanism.shift
    assert mechanism.privacy_loss() == PureLoss(Fraction(1, 2))


def test_large_graphs_have_the_eigenvalues_that_a_dense_solver_finds() -> None:
    graph = power_law(420, 1300, 2.5, Seeded(3))
    weights = 1 / np.sqrt(graph.degrees + 6.0)
    dense = np.zeros((420, 420))
    dense[tuple(graph.edges.T)] = 1
    dense = (dense + dense.T) * np.outer(weights, weights)
    exact = np.linalg.eigvalsh(dense)[::-1][:64]
    found = eigenvalues(graph, 6.0, 64)
    assert np.abs(found - exact).max() < 10 * community_structure.TOLERANCE


def test_an_edge_moves_the_vector_modularity_by_no_more_than_stated() -> None:
    stated = CommunityStrength(epsilon=1, slack=0)
    assert stated.sensitivity == 9, "8 and 1 for rounding"
    worst = 0.0
    for edges in random_edge_sets(6, 8, seed=5):
        here = vector_modularity(graph_of(edges, 6))
        for other in one_edge_away(edges, 6):
            worst = max(worst, abs(here - vector_modularity(graph_of(other, 6))))
    assert 1 < worst <= 8
    wide = CommunityStrength(epsilon=1, slack=7)
    assert wide.law.scale == wide.sensitivity == 16


@pytest.mark.parametrize("seed", [1, 2])
def test_the_vector_modularity_is_nearly_the_greatest_by_its_dual(seed: int) -> None:
    graph = random_graph(300, 900, Seeded(seed)) if seed == 1 else planted(300, Seeded(2))
    value = vector_modularity(graph)
    found = communities(graph, rng=Seeded(1))
    assert value > 2 * graph.size * found.modularity, "a partition is one choice of vectors"
    # For any y, no vectors have a value above sum(y) + 2 m t, where t is the greatest eigenvalue
    # of (A - d d' / 2 m - diag(y)) scaled by degrees. The best y is the pull on each vector.
    degrees = graph.degrees.astype(float)
    matrix = np.zeros((300, 300))
    matrix[tuple(graph.edges.T)] = 1
    matrix += matrix.T - np.outer(degrees, degrees) / degrees.sum()
    best = _dual(matrix, degrees, value)
    assert best - value <= SLACK * 2 * graph.size


def _dual(matrix: NDArray[np.float64], degrees: NDArray[np.float64], value: float) -> float:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(degrees.size, 12))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    for _ in range(150):  # one vector after another, as plainly as can be
        for vertex in range(degrees.size):
            pull = matrix[vertex] @ vectors - matrix[vertex, vertex] * vectors[vertex]
            vectors[vertex] = pull / max(float(np.linalg.norm(pull)), 1e-12)
    y = np.einsum("ij,ij->i", matrix @ vectors, vectors)
    held = degrees > 0
    scale = np.sqrt(degrees[held])
    rest = (matrix - np.diag(y))[np.ix_(held, held)] / np.outer(scale, scale)
    return float(y.sum() + degrees.sum() * max(np.linalg.eigvalsh(rest)[-1], 0))


def planted(order: int, rng: Seeded) -> Graph:
    """Neighbourhoods on a ring, in twelve parts with little between them."""
    part = order // 12
    near = ring(part, reach=4).edges
    inside = np.concatenate([near + part * number for number in range(12)])
    between = random_graph(order, order, rng).edges
    return Graph.of(np.concatenate([inside, between]), order=order)


def test_switches_bring_triangles_and_keep_degrees() -> None:
    graph = power_law(300, 1200, 2.5, Seeded(4))
    before = int(triangle_corners(graph).sum()) // 3
    for wanted in (2 * before, before // 2):
        made = with_triangles(graph, wanted, 2, Seeded(1))
        assert made.degrees.tolist() == graph.degrees.tolist()
        assert abs(int(triangle_corners(made).sum()) // 3 - wanted) < 0.05 * wanted


def test_switches_tell_by_how_many_triangles_they_changed_a_graph() -> None:
    graph = ring(9, reach=2)
    edges = frozenset((int(u), int(v)) for u, v in graph.edges)
    rows, table = graph.neighbours.astype(np.int64), edge_set(graph.keys)
    state = np.array([77], dtype=np.uint64)
    blocks = np.zeros(9, dtype=np.int64)
    changed = close_triangles(graph.starts, rows, table, blocks, -3, 2000, state)
    pairs = {(u, int(v)) for u in range(9) for v in rows[graph.starts[u] : graph.starts[u + 1]]}
    after = frozenset((u, v) for u, v in pairs if u < v)
    assert {(v, u) for u, v in pairs} == pairs
    assert len(after) == len(edges)
    assert triangle_total(after, 9) - triangle_total(edges, 9) == changed < 0


def test_a_private_graph_keeps_transitivity_and_modularity() -> None:
    graph = planted(1200, Seeded(1))
    known = np.arange(1200) // 100
    assert modularity(graph, known) > 0.6
    done = PrivateGraph(epsilon=2, model="communities").apply(graph, rng=Seeded(5))
    made = done.graph
    assert made.order == 1200
    assert abs(made.size - graph.size) < 0.05 * graph.size
    kept = clustering(made).transitivity / clustering(graph).transitivity
    assert 0.8 < kept < 1.2
    parts = [communities(each, rng=Seeded(1)).modularity for each in (graph, made)]
    assert 0.8 < parts[1] / parts[0] < 1.2
    assert np.intersect1d(made.keys, graph.keys).size < 0.1 * graph.size
    told = [value for name, value in done.facts.items() if "epsilon" in str(name)]
    assert told == [0.6, 0.5, 0.6, 0.3]


def test_epsilon_is_split_without_rest() -> None:
    assert sum(SPLIT.values()) == 1
    method = PrivateGraph(epsilon=1, model="communities")
    made = method.apply(ring(40), rng=Seeded(1))
    paid = [Fraction(str(value)) for name, value in made.facts.items() if "epsilon" in str(name)]
    assert paid == list(SPLIT.values())
    assert len(method.leaves_open()) == 4


@pytest.mark.parametrize("order", [0, 1, 2, 5, 40])
def test_any_graph_can_be_made_with_communities(order: int) -> None:
    pairs = np.stack(np.triu_indices(order, 1), axis=1)
    for edges in (pairs[:0], pairs):
        for epsilon in (0.01, 50):
            method = PrivateGraph(epsilon=epsilon, model="communities")
            assert method.apply(Graph.of(edges, order=order), rng=Seeded(2)).graph.order == order


def test_an_epsilon_whose_parts_are_too_small_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        PrivateGraph(epsilon=2e-9, model="communities")
    assert caught.value.code == "CEL-I060"
