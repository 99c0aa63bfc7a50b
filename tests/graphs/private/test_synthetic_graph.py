"""A private graph is simple, has the degrees that were released, and nothing else of the other."""

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs._edge_set import edge_set
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.method import METHODS
from celosia.graphs.private import (
    DegreeSequence,
    JointDegrees,
    PrivateGraph,
    graphical_degrees,
)
from celosia.graphs.private._kernels import guided_switches
from celosia.graphs.private.degree_sequence import is_graphical, isotonic_fit
from celosia.graphs.private.synthetic_graph import Model


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_a_graphical_sequence_is_known_as_such(degrees: list[int]) -> None:
    falling = np.sort(np.array(degrees, dtype=np.int64))[::-1]
    assert is_graphical(falling) == nx.is_graphical(degrees)


@given(st.lists(st.integers(0, 30), max_size=15))
def test_degrees_are_lowered_to_those_of_a_graph_and_left_alone_if_they_are(
    degrees: list[int],
) -> None:
    found = graphical_degrees(np.array(degrees, dtype=np.int64))
    assert nx.is_graphical(found.tolist())
    assert (found <= sorted(degrees, reverse=True)).all()
    assert (np.diff(found) <= 0).all()
    if nx.is_graphical(degrees):
        assert found.tolist() == sorted(degrees, reverse=True)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=30),
    st.lists(st.integers(-5, 5), min_size=30, max_size=30),
)
def test_restoring_an_order_moves_no_number_further_than_the_noise(
    truth: list[int], noise: list[int]
) -> None:
    exact = np.sort(np.array(truth))
    moved = np.array(noise[: exact.size])
    found = isotonic_fit(exact + moved, low=0, high=20)
    assert (np.diff(found) >= 0).all()
    assert np.abs(found - exact).max() <= np.abs(moved).max()


def test_the_private_graph_has_the_released_degrees() -> None:
    graph = power_law(500, 1500, 2.5, Seeded(1))
    released = graphical_degrees(DegreeSequence(epsilon=1).release(graph, rng=Seeded(9)))
    changed = PrivateGraph(epsilon=1).apply(graph, rng=Seeded(9))
    assert np.sort(changed.graph.degrees)[::-1].tolist() == released.tolist()
    assert changed.facts["switches"] == 10 * changed.graph.size
    assert abs(changed.graph.size - graph.size) < 0.1 * graph.size
    shared = np.intersect1d(changed.graph.keys, graph.keys).size
    # Places are drawn anew: an edge falls on an old one with a chance of about m / (n^2 / 2).
    assert shared < 0.1 * graph.size


def two_rings() -> Graph:
    """Vertices of degree 2 among themselves, and of degree 6 among themselves."""
    one, other = ring(600), ring(600, reach=3)
    return Graph.of(np.concatenate([one.edges, other.edges + 600]), order=1200)


def test_joint_degrees_bring_like_to_like() -> None:
    graph = two_rings()
    counted = JointDegrees(epsilon=1, cap=8)
    far = []
    models: tuple[Model, ...] = ("degrees", "joint")
    for model in models:
        made = PrivateGraph(epsilon=20, model=model).apply(graph, rng=Seeded(3)).graph
        assert abs(made.size - graph.size) < 0.02 * graph.size
        far.append(np.abs(counted.counts(made) - counted.counts(graph)).sum() / graph.size)
    assert far[0] > 0.5
    assert far[1] < 0.2


def test_guided_switches_do_what_plain_python_does() -> None:
    graph = power_law(30, 80, 2.5, Seeded(4))
    kinds = np.minimum(graph.degrees, 6)
    rng = Seeded(6)
    half = rng.integers(21, 49).reshape(7, 7) - 10
    excess = half + half.T
    places, turned = rng.integers(80, 800), rng.integers(2, 400) == 1
    edges = [frozenset(edge) for edge in graph.edges.tolist()]
    ordered = [tuple(edge) for edge in graph.edges.tolist()]
    plain, done = excess.copy(), 0
    for attempt in range(400):
        first, second = places[2 * attempt : 2 * attempt + 2]
        (i, j), (k, p) = ordered[first], ordered[second]
        k, p = (p, k) if turned[attempt] else (k, p)
        if len({i, j, k, p}) < 4 or {frozenset((i, p)), frozenset((k, j))} & set(edges):
            continue
        moved = plain.copy()
        for a, b, step in ((i, j, -1), (k, p, -1), (i, p, 1), (k, j, 1)):
            for cell in {(kinds[a], kinds[b]), (kinds[b], kinds[a])}:
                moved[cell] += step
        upper = np.triu_indices(7)
        if np.abs(moved[upper]).sum() >= np.abs(plain[upper]).sum():
            continue
        plain, done = moved, done + 1
        for place, pair in ((first, (i, p)), (second, (k, j))):
            ordered[place] = (min(pair), max(pair))
            edges[place] = frozenset(pair)
    keys = graph.keys.copy()
    found = guided_switches(keys, edge_set(keys), 30, kinds, excess, places, turned)
    assert found == done > 5
    assert keys.tolist() == [u * 30 + v for u, v in ordered]
    assert excess.tolist() == plain.tolist()


def test_names_and_attributes_are_left_out() -> None:
    graph = Graph.of(
        [(0, 1)],
        order=3,
        labels=pl.Series(["a", "b", "c"]),
        attributes=pl.DataFrame({"x": [1, 2, 3]}),
    )
    made = PrivateGraph(epsilon=1).apply(graph, rng=Seeded(1)).graph
    assert made.labels is None
    assert made.attributes is None
    assert made.order == 3


@pytest.mark.parametrize("order", [0, 1, 2, 3, 12])
def test_any_graph_can_be_made_private(order: int) -> None:
    pairs = np.stack(np.triu_indices(order, 1), axis=1)
    for edges in (pairs[:0], pairs, pairs[pairs[:, 0] == 0]):
        models: list[tuple[float, Model]] = [(0.01, "degrees"), (0.01, "joint"), (90, "degrees")]
        for epsilon, model in models:
            graph = Graph.of(edges, order=order)
            method = PrivateGraph(epsilon=epsilon, model=model)
            made = method.apply(graph, rng=Seeded(2)).graph
            assert made.order == order
            if epsilon == 90:
                assert sorted(made.degrees) == sorted(graph.degrees)


def test_the_method_names_itself_and_its_promise() -> None:
    method = PrivateGraph(epsilon=0.5)
    assert METHODS["private-graph"] is PrivateGraph
    assert method.as_dict() == {"method": "private-graph", "epsilon": 0.5}
    assert "0.5-differential privacy for one edge" in method.promise(Graph.of([(0, 1)]))
    assert method.leaves_open()
    joint = PrivateGraph(epsilon=0.5, model="joint", cap=4)
    assert joint.as_dict() == method.as_dict() | {"model": "joint", "cap": 4}
    assert joint.leaves_open() != method.leaves_open()


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"epsilon": 1, "model": "dk"}, "CEL-I060"),
        ({"epsilon": 1, "cap": 8}, "CEL-G306"),
        ({"epsilon": 1, "cap": 0, "model": "joint"}, "CEL-I060"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(wish: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        PrivateGraph(**wish)  # type: ignore[arg-type]
    assert caught.value.code == code
