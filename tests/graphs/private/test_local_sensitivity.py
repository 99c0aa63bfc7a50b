"""Local sensitivities at a distance are what a search through all graphs finds, and no less."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.graphs.private.small_graphs import (
    Edges,
    all_edge_sets,
    graph_of,
    one_edge_away,
    random_edge_sets,
    star_total,
    triangle_total,
)

from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.private._kernels import best_partners, pairs_with_shared
from celosia.graphs.private.local_sensitivity import (
    Ladder,
    Sensitive,
    smooth_bound,
    smoothness,
    stars,
    triangles,
)

Count = tuple[Callable[[Edges, int], int], Callable[[Edges, int], Sensitive]]

COUNTS: dict[str, Count] = {
    "triangles": (triangle_total, lambda edges, order: triangles(graph_of(edges, order))),
    "2-stars": (
        lambda edges, order: star_total(edges, order, 2),
        lambda edges, order: stars(graph_of(edges, order), 2),
    ),
    "3-stars": (
        lambda edges, order: star_total(edges, order, 3),
        lambda edges, order: stars(graph_of(edges, order), 3),
    ),
}
counts = pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)


def by_search(exact: Callable[[Edges, int], int], order: int) -> dict[Edges, list[int]]:
    """The local sensitivity of every graph at distance 0, 1, ... by widening steps."""
    graphs = list(all_edge_sets(order))
    totals = {edges: exact(edges, order) for edges in graphs}
    near = {edges: list(one_edge_away(edges, order)) for edges in graphs}
    level = {
        edges: max(abs(totals[edges] - totals[other]) for other in near[edges]) for edges in graphs
    }
    found: dict[Edges, list[int]] = {edges: [level[edges]] for edges in graphs}
    for _ in range(2 * order):
        level = {edges: max(level[edges], *(level[o] for o in near[edges])) for edges in graphs}
        for edges in graphs:
            found[edges].append(level[edges])
    return found


@counts
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_widths_are_the_local_sensitivities_of_all_graphs_within_a_distance(
    count: Count, order: int
) -> None:
    exact, ours = count
    for edges, searched in by_search(exact, order).items():
        found = ours(edges, order)
        assert found.count == exact(edges, order)
        last = found.widths.size - 1
        for distance, wanted in enumerate(searched):
            assert found.widths[min(distance, last)] == max(wanted, 1)


@counts
@pytest.mark.parametrize("order", [6, 7])
def test_random_graphs_and_their_neighbours_keep_both_conditions_of_a_ladder(
    count: Count, order: int
) -> None:
    exact, ours = count
    for edges in random_edge_sets(order, 15, seed=order):
        here = ours(edges, order)
        assert here.count == exact(edges, order)
        for other in one_edge_away(edges, order):
            there = ours(other, order)
            assert abs(here.count - there.count) <= here.widths[0]
            assert (here.widths[:-1] <= there.widths[1:]).all()
            assert here.widths[-1] == there.widths[-1]


@counts
@pytest.mark.parametrize("beta", [0.01, 0.2, 1.5])
def test_the_smooth_bound_is_above_the_local_sensitivity_and_smooth(
    count: Count, beta: float
) -> None:
    exact, ours = count
    order = 5
    bounds = {e: smooth_bound(ours(e, order).widths, beta) for e in all_edge_sets(order)}
    totals = {edges: exact(edges, order) for edges in bounds}
    # Rounding up may add a share of 2^-40 at most.
    step = Fraction(np.exp(beta) * (1 + 2.0**-40))
    for edges, bound in bounds.items():
        for other in one_edge_away(edges, order):
            assert abs(totals[edges] - totals[other]) <= bound
            assert bound <= step * bounds[other]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-6), (3, 1e-3)])
def test_smooth_noise_keeps_epsilon_and_delta_on_every_pair_of_small_graphs(
    epsilon: float, delta: float
) -> None:
    # The laws themselves, summed over a range that holds all but 1e-12 of them.
    order = 4
    beta = smoothness(Fraction(epsilon), delta)
    reach = int(2 * 6 / epsilon * 40)
    points = np.arange(-reach, reach + 1)
    for edges in all_edge_sets(order):
        laws = []
        for graph in (edges, *one_edge_away(edges, order)):
            found = stars(graph_of(graph, order), 2)
            scale = float(2 * smooth_bound(found.widths, beta)) / epsilon
            laws.append(np.tanh(1 / (2 * scale)) * np.exp(-np.abs(points - found.count) / scale))
        for other in laws[1:]:
            for one, two in ((laws[0], other), (other, laws[0])):
                assert np.maximum(one - np.exp(epsilon) * two, 0).sum() <= delta


@counts
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_no_answer_of_a_ladder_is_more_than_e_to_epsilon_times_as_likely_next_door(
    count: Count, epsilon: float
) -> None:
    _, ours = count
    order, rate = 4, Fraction(epsilon) / 2
    points = range(-40, 60)
    laws = {}
    for edges in all_edge_sets(order):
        found = ours(edges, order)
        ladder = Ladder(found.count, found.widths)
        laws[edges] = np.array([ladder.mass(point, rate) for point in points])
    worst = 0.0
    for edges, law in laws.items():
        for other in one_edge_away(edges, order):
            worst = max(worst, float(np.max(law / laws[other])))
    assert worst <= np.exp(epsilon) * (1 + 1e-12)
    assert worst > np.exp(epsilon / 3), "the noise is far wider than it need be"


def test_the_kernels_do_what_plain_python_does() -> None:
    graph = power_law(60, 150, 2.5, Seeded(4))
    near = [set(graph.neighbours_of(v).tolist()) for v in range(graph.order)]
    degree = graph.degrees
    joined, apart = np.empty(60, dtype=np.int64), np.empty(60, dtype=np.int64)
    ranked = np.argsort(-degree, kind="stable")
    best_partners(graph.starts, graph.neighbours, degree, ranked, joined, apart)
    for v in range(60):
        others = set(range(60)) - near[v] - {v}
        assert joined[v] == max((int(degree[u]) for u in near[v]), default=-1)
        assert apart[v] == max((int(degree[u]) for u in others), default=-1)
    reach = np.full(60, -1, dtype=np.int64)
    shared = np.zeros(60, dtype=np.int64)
    args = (graph.starts, graph.neighbours, degree)
    found = pairs_with_shared(*args, 0, 30, shared, reach)
    found += pairs_with_shared(*args, 30, 60, shared, reach)
    plain = np.full(60, -1, dtype=np.int64)
    total = 0
    for u in range(60):
        for v in range(u + 1, 60):
            common, edge = len(near[u] & near[v]), v in near[u]
            total += common * edge
            if common:
                plain[common] = max(plain[common], degree[u] + degree[v] - 2 * edge)
    assert found == total
    assert reach.tolist() == plain.tolist()
    assert not shared.any()
