"""Graphs with wanted degrees: new ones and supergraphs (check 23), by brute force on tiny ones."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Seeded, System
from celosia.graphs.examples import g9, g10, karate
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree._realisation_kernels import worst_shortfall
from celosia.graphs.kdegree.realisation import (
    construct_graph,
    shortfall,
    supergraph,
    try_supergraph,
)
from celosia.graphs.kdegree.sequence import anonymous_degrees, is_graphical
from celosia.graphs.verification import contains


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=9), st.integers(0, 10**6))
def test_a_new_graph_has_exactly_the_degrees_whenever_there_is_one(
    degrees: list[int], seed: int
) -> None:
    wanted = np.array(degrees)
    made = construct_graph(wanted, rng=Seeded(seed))
    if not is_graphical(wanted):
        assert made is None
    else:
        assert made is not None
        assert made.degrees.tolist() == degrees


def test_an_odd_sum_is_no_graph() -> None:
    assert construct_graph(np.array([1, 1, 1]), rng=System()) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_priority_has_the_degrees_too(order: int, seed: int) -> None:
    graph = random_graph(order, order * (order - 1) // 3, Seeded(seed))
    made = construct_graph(graph.degrees, rng=Seeded(seed), near=graph)
    assert made is not None
    assert made.degrees.tolist() == graph.degrees.tolist()


def test_priority_brings_many_edges_back() -> None:
    graph = power_law(300, 900, 2.5, Seeded(1))
    shared = []
    for near in (None, graph):
        made = construct_graph(graph.degrees, rng=Seeded(2), near=near)
        assert made is not None
        shared.append(int(graph.has_edges(made.edges).sum()))
    assert shared[1] > 2 * shared[0]


def test_constructed_graphs_differ_with_the_seed() -> None:
    degrees = karate().degrees
    one, same, other = (construct_graph(degrees, rng=Seeded(s)) for s in (1, 1, 2))
    assert one is not None
    assert same is not None
    assert other is not None
    assert one.same_edges(same)
    assert not one.same_edges(other)


def test_figure_10_is_refused_with_the_reason() -> None:
    targets = anonymous_degrees(g10().degrees, 2)
    graph, missing = g10(), targets - g10().degrees
    ranked = np.flatnonzero(missing)
    alone = worst_shortfall(missing, ranked, graph.starts, graph.neighbours, 1)
    assert ranked.tolist() == [3, 4]  # vertices 4 and 5 of the figure, which are joined
    assert alone == 1  # for l = 1: 1 <= 0 fails
    assert shortfall(graph, targets) == 2
    with pytest.raises(PrivacyError, match="joined already") as error:
        supergraph(g10(), targets, rng=System())
    assert error.value.code == "CEL-G101"
    assert "vertex-addition" in error.value.fix


@pytest.mark.parametrize(
    ("change", "reason"), [([1, 0, 0, 0], "even sum"), ([-1, 1, 0, 0], "below the degree")], ids=str
)
def test_other_impossible_targets_are_refused_with_the_reason(
    change: list[int], reason: str
) -> None:
    graph = ring(4)
    with pytest.raises(PrivacyError, match=reason):
        supergraph(graph, graph.degrees + np.array(change), rng=System())


def test_figure_9_becomes_anonymous_by_one_edge() -> None:
    made = supergraph(g9(), anonymous_degrees(g9().degrees, 4), rng=System())
    assert made.degrees.tolist() == [4, 2, 4, 4, 2, 4, 2, 2, 2]
    assert made.size == 13
    assert contains(g9(), made)


def plain_shortfall(graph: Graph, missing: list[int]) -> int:
    """The necessary condition for every l, as it is written."""
    ranked = sorted(range(graph.order), key=lambda v: -missing[v])
    near = [set(graph.neighbours_of(v).tolist()) for v in range(graph.order)]
    worst = 0
    for count in range(1, graph.order + 1):
        inside = set(ranked[:count])
        spare = sum(count - 1 - len(near[v] & inside) for v in inside)
        spare += sum(min(count - len(near[v] & inside), missing[v]) for v in ranked[count:])
        worst = max(worst, sum(missing[v] for v in inside) - spare)
    return worst


@settings(max_examples=150, deadline=None)
@given(st.integers(3, 6), st.integers(0, 10**6), st.data())
def test_supergraphs_equal_brute_force_over_all_sets_of_new_edges(
    order: int, seed: int, data: st.DataObject
) -> None:
    pairs = list(combinations(range(order), 2))
    graph = random_graph(order, data.draw(st.integers(0, len(pairs) // 2)), Seeded(seed))
    free = [pair for pair in pairs if not graph.has_edges(np.array([pair]))[0]]
    missing = data.draw(st.lists(st.integers(0, 2), min_size=order, max_size=order))
    targets = graph.degrees + np.array(missing)
    possible = any(
        np.bincount(np.array(chosen, dtype=np.int64).ravel(), minlength=order).tolist() == missing
        for chosen in combinations(free, sum(missing) // 2)
    )
    if sum(missing) % 2 == 0:
        short = plain_shortfall(graph, missing)
        assert (shortfall(graph, targets) > 0) == (short > 0)
        assert not (possible and short), "the condition is necessary"
    found = try_supergraph(graph, targets, rng=Seeded(seed))
    if found is None:
        return  # no, or not known
    assert possible
    assert contains(graph, found)
    assert found.degrees.tolist() == targets.tolist()


def test_the_walk_seldom_misses_a_supergraph_that_exists() -> None:
    missed = seen = 0
    for seed in range(200):
        graph = random_graph(7, 6, Seeded(seed))
        more = random_graph(7, 5, Seeded(1000 + seed))
        both = graph.with_edges(np.concatenate([graph.edges, more.edges]))
        seen += 1
        missed += try_supergraph(graph, both.degrees, rng=Seeded(seed)) is None
    assert missed <= seen // 10
