"""k-automorphism: the turns of the table are automorphisms, and the search agrees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.automorphism import (
    AlignmentTable,
    KAutomorphism,
    KIsomorphism,
    PartTable,
    build_alignment,
)
from celosia.graphs.examples import dan, g9, g10, karate
from celosia.graphs.generators import random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.verification import (
    contains,
    degree_anonymity,
    is_k_automorphic,
    is_k_isomorphic,
    neighbourhood_anonymity,
)


@pytest.mark.parametrize("graph", [g9(), g10(), dan()], ids=["g9", "g10", "dan"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_figures_become_automorphic_by_exact_search(graph: Graph, k: int) -> None:
    assert not is_k_automorphic(graph, k)
    changed = KAutomorphism(k=k).apply(graph, rng=Seeded(1))
    assert is_k_automorphic(changed.graph, k)
    assert contains(graph, changed.graph)
    assert changed.facts["edges added"] == changed.graph.size - graph.size
    assert changed.facts["fake vertices"] == changed.graph.order - graph.order == -9 % k


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.integers(2, 5), st.data())
def test_an_automorphic_graph_hides_degrees_and_neighbourhoods_too(
    order: int, seed: int, k: int, data: st.DataObject
) -> None:
    k = min(k, order)
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    after = KAutomorphism(k=k).apply(graph, rng=Seeded(seed)).graph
    assert degree_anonymity(after) >= k
    assert neighbourhood_anonymity(after).k >= k
    assert contains(graph, after)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 14), st.integers(0, 10**6), st.integers(2, 6), st.data())
def test_the_size_told_by_the_table_is_that_of_the_graph_also_after_exchanges(
    order: int, seed: int, k: int, data: st.DataObject
) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    total = -(-order // k) * k
    table = AlignmentTable(graph, k, Seeded(seed).permutation(total).tolist())

    def size() -> int:
        return Graph.of(table.all_edges(), order=total).size

    assert table.size == size()
    one, other = (data.draw(st.integers(0, total - 1)) for _ in range(2))
    before = table.size
    if one != other:
        assert table.exchange(one, other) == table.size - before
    assert table.size == size()


def test_exchanges_make_the_graph_smaller() -> None:
    graph = karate()
    by_number = AlignmentTable(graph, 2, np.arange(34).tolist())
    assert build_alignment(graph, 2, Seeded(1)).size < by_number.size


def test_a_symmetric_graph_needs_nothing_more() -> None:
    two = Graph.of([(0, 1), (1, 2), (3, 4), (4, 5)])
    assert KAutomorphism(k=2).apply(two, rng=Seeded(1)).graph.same_edges(two)


def test_impossible_and_too_large_wishes_are_refused() -> None:
    with pytest.raises(InputError) as error:
        KAutomorphism(k=10).apply(g9(), rng=Seeded(1))
    assert error.value.code == "CEL-G100"
    with pytest.raises(InputError) as error:
        KAutomorphism(k=2).apply(ring(2001), rng=Seeded(1))
    assert error.value.code == "CEL-G112"


def test_the_method_tells_its_promise_and_what_it_leaves_open() -> None:
    method = KAutomorphism(k=3)
    assert "k = 3" in (method.promise(g9()) or "")
    assert len(method.leaves_open()) == 2
    assert method.as_dict() == {"method": "k-automorphism", "k": 3}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.integers(2, 4), st.data())
def test_k_like_parts_are_made(order: int, seed: int, k: int, data: st.DataObject) -> None:
    k = min(k, order)
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    changed = KIsomorphism(k=k).apply(graph, rng=Seeded(seed))
    assert is_k_isomorphic(changed.graph, k)
    assert changed.facts["fake vertices"] == changed.graph.order - order == -order % k
    pairs = {tuple(pair) for pair in graph.edges.tolist()}
    made = {tuple(pair) for pair in changed.graph.edges.tolist()}
    assert changed.facts["edges added"] == len(made - pairs)
    assert changed.facts["edges deleted"] == len(pairs - made)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 14), st.integers(0, 10**6), st.integers(2, 5), st.data())
def test_the_cost_told_by_the_table_of_parts_is_the_number_of_changed_edges(
    order: int, seed: int, k: int, data: st.DataObject
) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    total = -(-order // k) * k
    table = PartTable(graph, k, Seeded(seed).permutation(total).tolist())
    one, other = (data.draw(st.integers(0, total - 1)) for _ in range(2))
    before = table.size
    if one != other:
        assert table.exchange(one, other) == table.size - before
    made = Graph.of(table.common_edges(), order=total)
    wide = Graph.of(graph.edges, order=total)
    assert table.size == np.setxor1d(wide.keys, made.keys).size


def test_two_like_halves_stay_and_two_joined_cliques_lose_the_edge_between_them() -> None:
    cliques = [(a + f, b + f) for f in (0, 5) for a in range(5) for b in range(a)]
    graph = Graph.of([*cliques, (4, 5)])
    changed = KIsomorphism(k=2).apply(graph, rng=Seeded(1))
    assert changed.graph.same_edges(Graph.of(cliques))
    assert "k = 2" in (KIsomorphism(k=2).promise(graph) or "")
    with pytest.raises(InputError) as error:
        KIsomorphism(k=2).apply(ring(2001), rng=Seeded(1))
    assert error.value.code == "CEL-G112"
