"""Random graphs, and choices without listing all there is to choose from."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs._kernels import shared_keys
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.sampling import keys_to_pairs, non_edges, subset


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 10**6), st.data())
def test_a_random_graph_has_the_size_asked_for(order: int, seed: int, data: st.DataObject) -> None:
    pairs = order * (order - 1) // 2
    size = data.draw(st.integers(0, pairs))
    graph = random_graph(order, size, Seeded(seed))
    assert (graph.order, graph.size) == (order, size)
    assert len(set(map(tuple, graph.edges.tolist()))) == size
    assert all(0 <= u < v < order for u, v in graph.edges.tolist())


@pytest.mark.statistical
def test_every_graph_of_a_size_is_equally_likely() -> None:
    rng, runs = Seeded(2026), 3000
    seen = Counter(tuple(random_graph(4, 2, rng).keys.tolist()) for _ in range(runs))
    wanted = [runs / 15] * 15  # the choices of 2 of 6 pairs
    assert len(seen) == 15
    square = sum((seen[key] - wanted[0]) ** 2 / wanted[0] for key in seen)
    assert square < 14 + 7 * np.sqrt(28)


@pytest.mark.statistical
@pytest.mark.parametrize("count", [2, 4], ids=["few", "many"])
def test_a_subset_is_any_of_all_with_the_same_chance(count: int) -> None:
    rng, runs = Seeded(7), 3000
    seen = Counter(tuple(subset(5, count, rng).tolist()) for _ in range(runs))
    every = list(combinations(range(5), count))
    expected = runs / len(every)
    square = sum((seen[each] - expected) ** 2 / expected for each in every)
    assert square < len(every) - 1 + 7 * np.sqrt(2 * (len(every) - 1))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.data())
def test_non_edges_are_pairs_without_an_edge(order: int, seed: int, data: st.DataObject) -> None:
    pairs = order * (order - 1) // 2
    graph = random_graph(order, data.draw(st.integers(0, pairs)), Seeded(seed))
    count = data.draw(st.integers(0, pairs - graph.size))
    found = keys_to_pairs(non_edges(graph, count, Seeded(seed)), order)
    assert len(set(map(tuple, found.tolist()))) == count
    assert not graph.has_edges(found).any()
    with pytest.raises(InputError, match="do not fit"):
        non_edges(graph, pairs - graph.size + 1, Seeded(seed))


def test_a_power_law_graph_has_the_tail_of_its_exponent() -> None:
    graph = power_law(100_000, 500_000, 3.0, Seeded(1))
    assert graph.size == 500_000
    # Degrees beyond d make up a share of about d ** -(exponent - 1): four times fewer at 2 d.
    beyond = [int((graph.degrees > d).sum()) for d in (40, 80)]
    assert beyond[0] / beyond[1] == pytest.approx(4, rel=0.2)
    assert graph.degrees.max() > 20 * graph.degrees.mean()


def test_vertex_numbers_of_a_power_law_graph_say_nothing_of_their_degrees() -> None:
    graph = power_law(2000, 10_000, 2.5, Seeded(1))
    hub = int(graph.degrees.argmax())
    assert hub != 0
    assert np.corrcoef(np.arange(2000), graph.degrees)[0, 1] == pytest.approx(0, abs=6 / 2000**0.5)


@pytest.mark.parametrize(
    ("order", "size", "exponent"), [(100, 100, 2.0), (10, 30, 2.5), (9, 3, float("nan"))]
)
def test_a_power_law_that_cannot_be_drawn_is_refused(
    order: int, size: int, exponent: float
) -> None:
    with pytest.raises(InputError) as error:
        power_law(order, size, exponent, Seeded(1))
    assert error.value.code == "CEL-G051"


@pytest.mark.parametrize(
    ("order", "size"), [(-1, 0), (3, -1), (2.0, 1), (2**31, 0), (True, 0)], ids=str
)
def test_sizes_of_graphs_are_whole_numbers(order: int, size: int) -> None:
    with pytest.raises(InputError) as error:
        random_graph(order, size, Seeded(1))
    assert error.value.code == "CEL-G052"


def test_a_ring_joins_each_vertex_with_the_next() -> None:
    assert ring(6).same_edges(Graph.of([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]))
    assert ring(7, reach=3).degrees.tolist() == [6] * 7
    assert [ring(n).size for n in range(4)] == [0, 0, 1, 3]


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_shared_keys_counts_the_intersection(one: set[int], other: set[int]) -> None:
    arrays = [np.array(sorted(each), dtype=np.int64) for each in (one, other)]
    assert shared_keys(*arrays) == len(one & other)
