"""Anonymous degree sequences: costs of the figures (check 22), and brute force over all others."""

from collections import Counter
from functools import cache
from itertools import product
from statistics import median

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import g9, g10
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import (
    TargetRule,
    anonymous_degrees,
    is_graphical,
    least_edge_changes,
)
from celosia.graphs.kdegree.vertex_addition import least_raises

degree_lists = st.lists(st.integers(0, 9), min_size=2, max_size=10)


def partitions(count: int, k: int) -> list[list[tuple[int, int]]]:
    """All cuts of a sorted list into runs of at least k."""

    @cache
    def cut(start: int) -> list[list[tuple[int, int]]]:
        if start == count:
            return [[]]
        return [[(start, end), *rest] for end in range(start + k, count + 1) for rest in cut(end)]

    return cut(0)


@pytest.mark.parametrize(
    ("graph", "k", "cost"),
    [
        (g10(), 2, 2),
        (g10(), 3, 4),
        (g10(), 4, 6),
        (g9(), 2, 2),
        (g9(), 3, 2),
        (g9(), 4, 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["raise", "greedy"])
def test_the_costs_of_figures_9_and_10(graph: Graph, k: int, cost: int, way: TargetRule) -> None:
    targets = anonymous_degrees(graph.degrees, k, target_rule=way)
    assert (targets - graph.degrees).sum() == cost


def test_the_targets_of_figure_10() -> None:
    ranked = [sorted(anonymous_degrees(g10().degrees, k), reverse=True) for k in (2, 3, 4)]
    assert ranked == [[4, 4, *[2] * 7], [4, 4, 4, *[2] * 6], [4, 4, 4, 4, *[2] * 5]]


@settings(max_examples=150, deadline=None)
@given(degree_lists, st.integers(2, 5))
def test_raised_degrees_cost_the_least_of_all_partitions(given_list: list[int], k: int) -> None:
    degrees = np.array(given_list)
    if k > len(degrees):
        with pytest.raises(InputError) as error:
            anonymous_degrees(degrees, k)
        assert error.value.code == "CEL-G100"
        return
    ranked = sorted(given_list, reverse=True)
    cuts = partitions(len(ranked), k)
    least = min(sum(sum(ranked[a] - d for d in ranked[a:b]) for a, b in cut) for cut in cuts)
    targets = anonymous_degrees(degrees, k)
    assert (targets >= degrees).all()
    assert min(Counter(targets.tolist()).values()) >= k
    assert (targets - degrees).sum() == least
    greedy = anonymous_degrees(degrees, k, target_rule="greedy")
    assert (greedy >= degrees).all()
    assert min(Counter(greedy.tolist()).values()) >= k
    assert (greedy - degrees).sum() >= least


@settings(max_examples=150, deadline=None)
@given(degree_lists, st.integers(2, 5))
def test_medians_cost_the_least_of_all_partitions(given_list: list[int], k: int) -> None:
    k = min(k, len(given_list))
    degrees = np.array(given_list)
    ranked = sorted(given_list)
    least = min(
        sum(sum(abs(d - median(ranked[a:b])) for d in ranked[a:b]) for a, b in cut)
        for cut in partitions(len(ranked), k)
    )
    targets = anonymous_degrees(degrees, k, target_rule="median")
    assert min(Counter(targets.tolist()).values()) >= k
    assert np.abs(targets - degrees).sum() == least
    assert least_edge_changes(degrees, k, additions_only=False) == np.ceil(least / 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=6), st.integers(2, 3))
def test_no_other_targets_at_all_cost_less(given_list: list[int], k: int) -> None:
    k = min(k, len(given_list))
    raised, moved = [], []
    for targets in product(range(max(given_list) + 1), repeat=len(given_list)):
        if min(Counter(targets).values()) >= k:
            moved.append(sum(abs(t - d) for t, d in zip(targets, given_list, strict=True)))
            if all(t >= d for t, d in zip(targets, given_list, strict=True)):
                raised.append(moved[-1])
    degrees = np.array(given_list)
    assert (anonymous_degrees(degrees, k) - degrees).sum() == min(raised)
    assert np.abs(anonymous_degrees(degrees, k, target_rule="median") - degrees).sum() == min(moved)


@settings(max_examples=100, deadline=None)
@given(degree_lists, st.integers(2, 5))
def test_the_greatest_raise_is_the_least_and_then_their_sum(given_list: list[int], k: int) -> None:
    k = min(k, len(given_list))
    ranked = sorted(given_list, reverse=True)
    found = []
    for cut in partitions(len(ranked), k):
        raises = [ranked[a] - d for a, b in cut for d in ranked[a:b]]
        found.append((max(raises), sum(raises)))
    told = least_raises(np.array(given_list), k)
    assert (int(told.max()), int(told.sum())) == min(found)


def plain_greedy(ranked: list[int], k: int) -> list[int]:
    """The greedy walk as the paper tells it."""
    groups = [ranked[:k]]
    rest = ranked[k:]
    while len(rest) >= k:
        new = sum(rest[0] - d for d in rest[:k])
        after = rest[1 : 1 + k]
        merge = groups[-1][0] - rest[0] + sum(after[0] - d for d in after) if after else 0
        if len(after) < k or merge > new:
            groups.append(rest[:k])
            rest = rest[k:]
        else:
            groups[-1].append(rest.pop(0))
    groups[-1] += rest
    return [group[0] for group in groups for _ in group]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=25), st.integers(2, 6))
def test_the_greedy_walk_equals_its_plain_twin(given_list: list[int], k: int) -> None:
    k = min(k, len(given_list))
    found = sorted(anonymous_degrees(np.array(given_list), k, target_rule="greedy"), reverse=True)
    assert found == plain_greedy(sorted(given_list, reverse=True), k)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-1, 8), max_size=8))
def test_graphical_degrees_are_those_of_networkx(degrees: list[int]) -> None:
    assert is_graphical(np.array(degrees, dtype=np.int64)) == nx.is_graphical(degrees)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_degrees_of_a_graph_are_graphical(order: int, seed: int) -> None:
    graph = random_graph(order, order * (order - 1) // 3, Seeded(seed))
    assert is_graphical(graph.degrees)
    assert not is_graphical(graph.degrees + np.eye(order, dtype=np.int64)[0])


@pytest.mark.parametrize("k", [1, 0, -3, True, 2.0, "5", None], ids=repr)
def test_k_is_a_whole_number_of_at_least_two(k: object) -> None:
    with pytest.raises(InputError, match="at least 2") as error:
        anonymous_degrees(np.array([1, 1]), k)  # type: ignore[arg-type]
    assert error.value.code == "CEL-G100"
