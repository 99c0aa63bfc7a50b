"""Edges brought back by switches: degrees stay, overlap grows, and nothing more is possible."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import karate
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree import method as ways
from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.realisation import construct_graph
from celosia.graphs.kdegree.rewiring import swap_back

Pairs = set[tuple[int, int]]


def pairs(graph: Graph) -> Pairs:
    return {(u, v) for u, v in graph.edges.tolist()}


def can_gain(made: Pairs, given_edges: Pairs, order: int) -> bool:
    """Whether some lost edge {i, j} comes back for two edges that the graph never had."""

    def pair(u: int, v: int) -> tuple[int, int]:
        return min(u, v), max(u, v)

    false = made - given_edges
    return any(
        pair(i, j) in given_edges - made
        and pair(i, p) in false
        and pair(j, q) in false
        and pair(p, q) not in made
        for i, j, p, q in permutations(range(order), 4)
    )


@settings(max_examples=80, deadline=None)
@given(st.integers(4, 9), st.integers(0, 10**6), st.data())
def test_degrees_stay_and_no_switch_could_gain_more(
    order: int, seed: int, data: st.DataObject
) -> None:
    sizes = st.integers(0, order * (order - 1) // 2)
    graph = random_graph(order, data.draw(sizes), Seeded(seed))
    made = random_graph(order, data.draw(sizes), Seeded(seed + 1))
    after = swap_back(made, graph, rng=Seeded(seed))
    assert after.degrees.tolist() == made.degrees.tolist()
    assert len(pairs(after)) == made.size
    kept, before = len(pairs(after) & pairs(graph)), len(pairs(made) & pairs(graph))
    assert kept >= before
    assert not can_gain(pairs(after), pairs(graph), order)


def test_nearly_all_edges_of_a_graph_with_the_same_degrees_come_back() -> None:
    graph = power_law(500, 1500, 2.5, Seeded(1))
    made = construct_graph(graph.degrees, rng=Seeded(2))
    assert made is not None
    assert graph.has_edges(made.edges).mean() < 0.4
    after = swap_back(made, graph, rng=Seeded(3))
    assert graph.has_edges(after.edges).mean() > 0.95
    assert np.array_equal(after.degrees, graph.degrees)


@pytest.mark.parametrize("variant", ["greedy-swap", "simultaneous-swap"])
def test_swapped_graphs_share_more_edges_than_constructed_ones(variant: ways.Variant) -> None:
    shared = {
        name: 78 - KDegree(k=3, variant=name).apply(karate(), rng=Seeded(1)).facts["edges deleted"]
        for name in (variant, "construct")
    }
    assert shared[variant] > 2 * shared["construct"]


def test_too_many_edges_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "MOST_SWAPPED", 77)
    with pytest.raises(InputError, match="at most 77 edges") as error:
        KDegree(k=3, variant="greedy-swap").apply(karate(), rng=Seeded(1))
    assert error.value.code == "CEL-G107"
    # What is anonymous already is given back however large it is.
    assert KDegree(k=3, variant="greedy-swap").apply(ring(99), rng=Seeded(1)).graph.order == 99
