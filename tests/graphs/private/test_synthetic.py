"""A private graph is simple, has the degrees that were released, and nothing else of the other."""

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.private import METHODS, DegreeSequence, PrivateGraph, graphical
from celosia.graphs.private.fitting import is_graphical, rising


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_a_graphical_sequence_is_known_as_such(degrees: list[int]) -> None:
    falling = np.sort(np.array(degrees, dtype=np.int64))[::-1]
    assert is_graphical(falling) == nx.is_graphical(degrees)


@given(st.lists(st.integers(0, 30), max_size=15))
def test_degrees_are_lowered_to_those_of_a_graph_and_left_alone_if_they_are(
    degrees: list[int],
) -> None:
    found = graphical(np.array(degrees, dtype=np.int64))
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
    found = rising(exact + moved, low=0, high=20)
    assert (np.diff(found) >= 0).all()
    assert np.abs(found - exact).max() <= np.abs(moved).max()


def test_the_private_graph_has_the_released_degrees() -> None:
    graph = power_law(500, 1500, 2.5, Seeded(1))
    released = graphical(DegreeSequence(epsilon=1).release(graph, rng=Seeded(9)))
    changed = PrivateGraph(epsilon=1).apply(graph, rng=Seeded(9))
    assert np.sort(changed.graph.degrees)[::-1].tolist() == released.tolist()
    assert changed.facts["switches"] == 10 * changed.graph.size
    assert abs(changed.graph.size - graph.size) < 0.1 * graph.size
    shared = np.intersect1d(changed.graph.keys, graph.keys).size
    # Places are drawn anew: an edge falls on an old one with a chance of about m / (n^2 / 2).
    assert shared < 0.1 * graph.size


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
        for epsilon in (0.01, 90):
            graph = Graph.of(edges, order=order)
            made = PrivateGraph(epsilon=epsilon).apply(graph, rng=Seeded(2)).graph
            assert made.order == order
            if epsilon == 90:
                assert sorted(made.degrees) == sorted(graph.degrees)


def test_the_method_names_itself_and_its_promise() -> None:
    method = PrivateGraph(epsilon=0.5)
    assert PrivateGraph in METHODS
    assert method.as_dict() == {"method": "private-graph", "epsilon": 0.5}
    assert "0.5-differential privacy for one edge" in method.promise(Graph.of([(0, 1)]))
    assert method.leaves_open()


@pytest.mark.parametrize(
    ("wish", "code"), [({"epsilon": 0}, "CEL-M002"), ({"epsilon": 1, "model": "dk"}, "CEL-G306")]
)
def test_a_wish_that_makes_no_sense_is_refused(wish: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        PrivateGraph(**wish)  # type: ignore[arg-type]
    assert caught.value.code == code
