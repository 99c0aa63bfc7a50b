"""Degrees by microaggregation (check 24): the best rounding of all, and that of figure 10."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import G10_EDGE_CHANGE, g9, g10
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree._rewiring_kernels import _least_central
from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.rewiring import rewire
from celosia.graphs.kdegree.sequence import microaggregated_degrees
from celosia.graphs.perturbation.relevance import neighbourhood_centrality
from celosia.tables.masking.microaggregation import optimal_groups


def best_rounding(degrees: np.ndarray, k: int) -> tuple[int, int] | None:
    """The least |s| with s even, then the least change, of all 2 ** groups choices."""
    groups = optimal_groups(degrees, k)
    means = [degrees[groups == g].mean() for g in range(groups.max() + 1)]
    found = []
    for values in product(*(sorted({int(np.floor(m)), int(np.ceil(m))}) for m in means)):
        change = np.array(values)[groups] - degrees
        if change.sum() % 2 == 0:
            found.append((abs(int(change.sum())), int(np.abs(change).sum())))
    return min(found, default=None)


@settings(max_examples=150, deadline=None)
@given(st.integers(4, 24), st.integers(0, 10**6), st.integers(2, 5), st.data())
def test_the_rounding_is_the_best_of_all(
    order: int, seed: int, k: int, data: st.DataObject
) -> None:
    k = min(k, order)
    size = data.draw(st.integers(0, order * (order - 1) // 2))
    degrees = random_graph(order, size, Seeded(seed)).degrees
    wanted = best_rounding(degrees, k)
    if wanted is None:
        with pytest.raises(PrivacyError) as error:
            microaggregated_degrees(degrees, k)
        assert error.value.code == "CEL-G103"
        return
    targets = microaggregated_degrees(degrees, k)
    change = targets - degrees
    assert min(Counter(targets.tolist()).values()) >= k
    assert (abs(int(change.sum())), int(np.abs(change).sum())) == wanted


def test_an_odd_sum_for_every_rounding_is_refused() -> None:
    # Groups {1, 1, 1}, {2, 3}: the pair needs an even sum, so the total stays odd.
    with pytest.raises(PrivacyError, match="even sum") as error:
        microaggregated_degrees(np.array([1, 1, 1, 2, 3]), 2)
    assert error.value.code == "CEL-G103"


def test_the_targets_of_figures_9_and_10() -> None:
    assert tuple(microaggregated_degrees(g10().degrees, 2).tolist()) == G10_EDGE_CHANGE.degrees
    sums = [int((microaggregated_degrees(g9().degrees, k) - g9().degrees).sum()) for k in (2, 3, 4)]
    assert [abs(s) for s in sums] == [0, 0, 2]
    assert sorted(microaggregated_degrees(g9().degrees, 3).tolist()) == [2] * 6 + [4] * 3


def edits(before: Graph, after: Graph) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    """Edges that went and came, by the names of the figure."""
    old, new = (
        {tuple(v + 1 for v in pair) for pair in graph.edges.tolist()} for graph in (before, after)
    )
    return old - new, new - old


def test_figure_10b_is_reached_by_one_rotation_over_any_pivot() -> None:
    pivots = set()
    for seed in range(40):
        method = KDegree(k=2, variant="umga-random")
        changed = method.apply(g10(), rng=Seeded(seed)).graph
        assert tuple(changed.degrees.tolist()) == G10_EDGE_CHANGE.degrees
        (gone,), (come,) = edits(g10(), changed)
        assert 2 in gone
        assert 4 in come
        pivots |= set(gone) & set(come)
    assert pivots == {1, 3, 6}


def test_the_least_central_pivots_of_figure_10_are_1_and_3() -> None:
    pivots = set()
    for seed in range(40):
        method = KDegree(k=2, variant="umga-centrality")
        (gone,), (come,) = edits(g10(), method.apply(g10(), rng=Seeded(seed)).graph)
        pivots |= set(gone) & set(come)
    assert pivots == {1, 3}  # sums of centrality 0.875, and 1.125 for vertex 6


@settings(max_examples=80, deadline=None)
@given(st.integers(3, 12), st.integers(0, 10**6), st.data(), st.booleans())
def test_any_degrees_of_a_graph_are_reached_from_any_other_graph(
    order: int, seed: int, data: st.DataObject, central: bool
) -> None:
    sizes = st.integers(0, order * (order - 1) // 2)
    graph = random_graph(order, data.draw(sizes), Seeded(seed))
    targets = random_graph(order, data.draw(sizes), Seeded(seed + 1)).degrees
    made = rewire(graph, targets, central=central, rng=Seeded(seed))
    assert made.degrees.tolist() == targets.tolist()
    pairs = made.edges.tolist()
    assert all(u < v < order for u, v in pairs)
    assert len(set(map(tuple, pairs))) == len(pairs)


def test_degrees_that_no_graph_has_are_refused() -> None:
    with pytest.raises(PrivacyError) as error:
        rewire(g9(), np.array([8, 8, 1, 1, 1, 1, 1, 1, 2]), rng=Seeded(1))
    assert error.value.code == "CEL-G104"


@settings(max_examples=60, deadline=None)
@given(st.integers(5, 12), st.integers(0, 10**6))
def test_the_chosen_pivot_has_the_least_centrality_of_both_edges(order: int, seed: int) -> None:
    graph = random_graph(order, order * (order - 1) // 4, Seeded(seed))
    loser, winner, *pivots = Seeded(seed).permutation(order).tolist()
    sums = [
        neighbourhood_centrality(graph, np.array([[loser, p], [p, winner]])).sum() for p in pivots
    ]
    chosen = _least_central(loser, winner, np.array(pivots), graph.starts, graph.neighbours)
    assert sums[chosen] == pytest.approx(min(sums))
