"""k-neighbourhood anonymity, checked against networkx."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import dan, g9, g10, karate
from celosia.graphs.generators import random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.neighbourhood import KNeighbourhood, Neighbourhoods, align
from celosia.graphs.verification import contains


def around(graph: Graph) -> list[nx.Graph]:
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(graph.order))
    return [whole.subgraph(whole[v]).copy() for v in range(graph.order)]


def fewest_alike(graph: Graph) -> int:
    alike = [1] * graph.order  # each with itself
    for (u, one), (v, other) in combinations(enumerate(around(graph)), 2):
        if nx.is_isomorphic(one, other):
            alike[u] += 1
            alike[v] += 1
    return min(alike)


@pytest.mark.parametrize("graph", [g9(), g10(), dan(), karate()], ids=["g9", "g10", "dan", "club"])
@pytest.mark.parametrize("k", [2, 4])
def test_neighbourhoods_come_k_times(graph: Graph, k: int) -> None:
    changed = KNeighbourhood(k=k).apply(graph, rng=Seeded(1))
    after = changed.graph
    assert fewest_alike(after) == changed.facts["k reached"] >= k
    assert contains(graph, after)
    assert changed.facts["edges added"] == after.size - graph.size
    assert changed.facts["fake vertices"] == after.order - graph.order < k


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 10), st.integers(0, 10**6), st.data())
def test_any_graph_is_made_anonymous(order: int, seed: int, data: st.DataObject) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    k = data.draw(st.integers(2, order))
    after = KNeighbourhood(k=k).apply(graph, rng=Seeded(seed)).graph
    assert fewest_alike(after) >= k
    assert contains(graph, after)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 10), st.integers(0, 10**6), st.data())
def test_two_neighbourhoods_are_made_alike(order: int, seed: int, data: st.DataObject) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    state = Neighbourhoods.of(graph)
    while align(state, 0, 1):
        pass
    after = graph.with_edges([*map(tuple, graph.edges.tolist()), *state.added])  # type: ignore[arg-type]
    first, second, *_ = around(after)
    assert nx.is_isomorphic(first, second)
    state.refresh()
    assert state.signatures[0] == state.signatures[1]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10**6), st.data())
def test_signatures_after_changes_equal_fresh_ones_and_those_of_isomorphic_neighbourhoods(
    order: int, seed: int, data: st.DataObject
) -> None:
    graph = random_graph(order, data.draw(st.integers(0, order * (order - 1) // 2)), Seeded(seed))
    state = Neighbourhoods.of(graph)
    state.refresh()
    vertices = st.integers(0, order - 1)
    one, other = data.draw(vertices), data.draw(vertices)
    if one != other and other not in state.near[one]:
        state.join(one, other)
    state.refresh()
    fresh = Neighbourhoods([set(near) for near in state.near])
    fresh.refresh()
    assert state.signatures == fresh.signatures
    after = graph.with_edges([*map(tuple, graph.edges.tolist()), *state.added])  # type: ignore[arg-type]
    seen = around(after)
    for u in range(order):
        for v in range(u):
            if nx.is_isomorphic(seen[u], seen[v]):
                assert state.signatures[u] == state.signatures[v]


def test_a_sparse_graph_needs_few_edges() -> None:
    graph = random_graph(100, 200, Seeded(1))
    changed = KNeighbourhood(k=2).apply(graph, rng=Seeded(1))
    assert changed.facts["edges added"] <= 5
    assert changed.graph.order == 100


def test_what_is_anonymous_already_stays_as_it_is() -> None:
    assert KNeighbourhood(k=5).apply(ring(9), rng=Seeded(1)).graph.same_edges(ring(9))


def test_impossible_and_too_large_wishes_are_refused() -> None:
    with pytest.raises(InputError) as error:
        KNeighbourhood(k=10).apply(g9(), rng=Seeded(1))
    assert error.value.code == "CEL-G100"
    with pytest.raises(InputError) as error:
        KNeighbourhood(k=2).apply(ring(1001), rng=Seeded(1))
    assert error.value.code == "CEL-G111"
    with pytest.raises(InputError):
        KNeighbourhood(k=1)


def test_the_method_tells_its_promise_and_what_it_leaves_open() -> None:
    method = KNeighbourhood(k=3)
    assert "isomorphic" in (method.promise(g9()) or "")
    assert len(method.leaves_open()) == 2
    assert method.as_dict() == {"method": "k-neighbourhood", "k": 3}
