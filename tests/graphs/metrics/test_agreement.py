"""What two graphs have in common."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import g9
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import (
    MetricValue,
    VertexVector,
    align_vertices,
    changed_degrees,
    degree_earth_mover,
    degree_total_variation,
    edge_changes,
    edge_intersection,
    hub_retention,
    mutual_information,
    precision_index,
)
from celosia.graphs.metrics.centrality import in_threads
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.perturbation.exchange import RandomSwitch

partitions = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(pairs=partitions)
def test_mutual_information_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array(each) for each in zip(*pairs, strict=True))
    expected = normalized_mutual_info_score(one, other)
    if len(set(one.tolist())) == len(set(other.tolist())) == 1:
        expected = 1.0
    assert mutual_information(one, other) == pytest.approx(expected, abs=1e-9)


@given(pairs=partitions)
def test_the_precision_index_is_one_only_for_equal_partitions(
    pairs: list[tuple[int, int]],
) -> None:
    one, other = (np.array(each) for each in zip(*pairs, strict=True))
    same = len(set(pairs)) == len(set(one.tolist())) == len(set(other.tolist()))
    found = precision_index(one, other)
    assert (found == 1.0) == same
    assert 0 < found <= 1
    assert found == pytest.approx(precision_index(other, one), abs=0.5)


def test_as_many_edges_as_were_not_exchanged_are_kept() -> None:
    graph = power_law(200, 800, 2.5, Seeded(1))
    changed = RandomPerturbation(amount=80).apply(graph, rng=Seeded(2)).graph
    assert edge_intersection(graph, changed) == 0.9
    assert edge_intersection(changed, graph) == 0.9


def test_edges_are_compared_by_their_ends_when_vertices_were_added() -> None:
    more = Graph.of([*g9().edges.tolist(), (0, 9)], order=12)
    assert edge_intersection(g9(), more) == 12 / 13
    found = edge_changes(g9(), more)
    assert (found.kept, found.removed, found.added, found.share_kept) == (12, 0, 1, 1.0)


def test_edges_that_went_and_edges_that_came_are_counted_apart() -> None:
    before, after = Graph.of([(0, 1), (1, 2), (2, 3)]), Graph.of([(0, 1), (0, 2)], order=4)
    assert edge_changes(before, after).as_dict() == {"kept": 1, "removed": 2, "added": 1}
    assert edge_changes(after, before).as_dict() == {"kept": 1, "removed": 1, "added": 2}
    empty = Graph.of([], order=4)
    assert edge_changes(empty, before).share_kept == 1.0


def test_degrees_stay_in_a_switch_and_move_otherwise() -> None:
    graph = power_law(200, 800, 2.5, Seeded(1))
    switched = RandomSwitch(amount=100).apply(graph, rng=Seeded(2)).graph
    assert changed_degrees(graph, switched) == degree_total_variation(graph, switched) == 0
    assert hub_retention(graph, switched) == 1.0
    added = Graph.of([*ring(6).edges.tolist(), (0, 3)])
    assert changed_degrees(ring(6), added) == pytest.approx(2 / 6)
    assert degree_total_variation(ring(6), added) == pytest.approx(2 / 6)
    assert degree_earth_mover(ring(6), added) == pytest.approx(2 / 6)


def best_retention(one: Graph, other: Graph, top: int) -> float:
    """Over every choice of hubs that the degrees allow."""

    def choices(graph: Graph) -> list[set[int]]:
        least = sorted(graph.degrees.tolist())[-top]
        return [
            set(chosen)
            for chosen in combinations(range(graph.order), top)
            if sum(graph.degrees[list(chosen)]) == sum(sorted(graph.degrees.tolist())[-top:])
            and min(graph.degrees[list(chosen)]) >= least
        ]

    return max(len(a & b) for a in choices(one) for b in choices(other)) / top


@given(
    first=st.sets(st.integers(0, 14), min_size=1),
    second=st.sets(st.integers(0, 14), min_size=1),
    top=st.integers(1, 4),
)
def test_hubs_kept_are_the_most_that_ties_allow(
    first: set[int], second: set[int], top: int
) -> None:
    pairs = list(combinations(range(6), 2))
    one, other = (Graph.of([pairs[at] for at in each], order=6) for each in (first, second))
    assert hub_retention(one, other, top=top) == pytest.approx(best_retention(one, other, top))


def test_aligned_vertices_come_first_and_new_ones_after() -> None:
    changed = Graph.of([(0, 3), (1, 2)], order=5)
    found = align_vertices(changed, np.array([3, 0, 4]))
    assert found.edges.tolist() == [[0, 1], [3, 4]]


@pytest.mark.parametrize("numbers", [[0, 0], [0, 9], [-1, 0], [0, 1, 2, 3]])
def test_numbers_that_do_not_fit_are_refused(numbers: list[int]) -> None:
    with pytest.raises(InputError) as caught:
        align_vertices(Graph.of([(0, 1)], order=3), np.array(numbers))
    assert caught.value.code == "CEL-G400"


def test_the_distance_of_a_sampled_vector_has_an_error() -> None:
    exact = VertexVector(np.array([1.0, 2.0]))
    drawn = VertexVector.from_batches(
        np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([1, 1]), exact=False
    )
    found = drawn.distance(exact)
    # Variances 0 and 2 over two batches: the mean has 0 and 1, their mean 1 / 2.
    assert found.value == 0
    assert found.error == pytest.approx(2 * np.sqrt(0.5))


def test_a_measured_number_tells_its_error() -> None:
    assert str(MetricValue(1234.5678)) == "1,234.57"
    assert str(MetricValue(2.0, float("inf"))) == "2 ± ?"
    assert MetricValue(3.0, 0.5).difference(MetricValue(1.0, 0.25)) == MetricValue(-2.0, 0.75)
    assert MetricValue(float("inf"), float("inf")).as_dict() == {"value": None, "error": None}


def test_parts_of_a_loop_come_back_in_order_from_threads() -> None:
    assert in_threads(lambda at: at * at, [(at,) for at in range(9)], steps=10**9) == [
        at * at for at in range(9)
    ]
