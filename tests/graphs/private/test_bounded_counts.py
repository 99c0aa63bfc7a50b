"""Triangles and stars under a cap move by no more than stated when a vertex goes."""

from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from tests.graphs.private.small_graphs import (
    Edges,
    all_edge_sets,
    graph_of,
    random_edge_sets,
    triangle_total,
    without_vertex,
)
from tests.graphs.private.test_sensitivities import plain_projection

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.private import (
    ONE_VERTEX,
    BoundedStarCount,
    BoundedTriangleCount,
    star_count,
    triangle_count,
)
from celosia.graphs.private.bounded_counts import bounded_triangles, triangles_of
from celosia.graphs.private.projection import STEPS


def held(edges: Edges, order: int, cap: int) -> int:
    return bounded_triangles(triangles_of(graph_of(edges, order)), order, cap)


def test_triangles_are_listed_once_each() -> None:
    for edges in random_edge_sets(7, 20, seed=4):
        plain = [
            each
            for each in combinations(range(7), 3)
            if {(each[0], each[1]), (each[0], each[2]), (each[1], each[2])} <= edges
        ]
        found = triangles_of(graph_of(edges, 7)).tolist()
        assert sorted(map(tuple, found)) == plain


@pytest.mark.parametrize("cap", [1, 2, 4])
def test_a_vertex_moves_the_shares_of_triangles_by_no_more_than_the_cap(cap: int) -> None:
    worst = 0
    for edges in random_edge_sets(7, 25, seed=cap):
        here = held(edges, 7, cap)
        assert here <= triangle_total(edges, 7)
        for gone in range(7):
            rise = here - held(without_vertex(edges, gone), 6, cap)
            assert -1 <= rise <= cap + 1, "rounding"
            worst = max(worst, rise)
    assert worst >= cap
    assert BoundedTriangleCount(epsilon=1, cap=cap).sensitivity == cap + 2


def test_shares_of_triangles_are_the_best_and_all_where_no_cap_binds() -> None:
    full = frozenset(combinations(range(5), 2))  # ten triangles, six at each vertex
    assert held(full, 5, 6) == held(full, 5, 100) == 10
    # Three corners a triangle: five vertices with shares of 3 each hold 5 in sum.
    assert held(full, 5, 3) == 5
    star = frozenset({(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)})
    assert held(star, 5, 1) == 1


@pytest.mark.parametrize(("cap", "k"), [(2, 2), (3, 2), (3, 3)])
def test_a_vertex_moves_stars_by_no_more_than_stated_in_any_order(cap: int, k: int) -> None:
    def stars(served: list[tuple[int, int]], order: int) -> int:
        return sum(comb(degree, k) for degree in plain_projection(served, order, cap))

    worst = 0
    listed = [list(served) for edges in all_edge_sets(4) for served in permutations(edges)][::7]
    rng = Seeded(cap)
    for edges in random_edge_sets(7, 60, seed=k):
        service = rng.permutation(len(edges)).tolist()
        listed.append([sorted(edges)[place] for place in service])
    for served in listed:
        for gone in range(7):
            rest = [edge for edge in served if gone not in edge]
            worst = max(worst, abs(stars(served, 7) - stars(rest, 7)))
    stated = BoundedStarCount(epsilon=1, cap=cap, k=k).sensitivity
    assert stated == (k + 1) * comb(cap, k)
    assert stated / 3 < worst <= stated


def test_a_vertex_moves_the_scores_of_caps_of_triangles_by_no_more_than_one() -> None:
    asked = BoundedTriangleCount(epsilon=1, cap=(1, 2, 4))
    for edges in random_edge_sets(7, 12, seed=9):
        here = asked.scores([held(edges, 7, cap) for cap in asked.caps])
        for gone in range(7):
            rest = without_vertex(edges, gone)
            fewer = asked.scores([held(rest, 6, cap) for cap in asked.caps])
            assert max(abs(a - b) for a, b in zip(here, fewer, strict=True)) <= STEPS + 1


def test_answers_about_vertices_have_intervals_and_their_own_neighbours() -> None:
    graph = power_law(300, 1500, 2.5, Seeded(1))
    for found in (
        triangle_count(graph, epsilon=2, level="vertex", cap=20, rng=Seeded(1)),
        star_count(graph, epsilon=2, level="vertex", cap=[4, 16], rng=Seeded(1)),
    ):
        assert found.interval is not None
        low, high = found.interval
        assert low <= found.value <= high
    assert BoundedStarCount(epsilon=1).neighbours == ONE_VERTEX
    chosen = BoundedTriangleCount(epsilon=4).measure(graph, rng=Seeded(2))
    assert chosen.parts["cap"] in BoundedTriangleCount(epsilon=4).caps
    assert np.isfinite(chosen.value)


@pytest.mark.parametrize("wish", [{"level": "vertex", "delta": 1e-6}, {"level": "edge", "cap": 3}])
def test_a_delta_beside_a_cap_and_a_cap_beside_an_edge_are_refused(wish: dict[str, Any]) -> None:
    graph = power_law(30, 60, 2.5, Seeded(1))
    functions: tuple[Any, ...] = (triangle_count, star_count)
    for asked in functions:
        with pytest.raises(InputError) as caught:
            asked(graph, epsilon=1, **wish)
        assert str(caught.value.code).startswith("CEL-G302")
