"""Distance and rank linkage, on worked examples and against a plain search over all pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata

from celosia.assess.linkage import align, distance_linkage, rank_linkage
from celosia.assess.linkage.distance import nearest, ranks
from celosia.core.errors import InputError

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]
T6 = [32, 46, 28, 38, 48, 61, 59, 20, 24, 55]
T8 = [25, 45, 22, 43, 48, 72, 58, 21, 29, 36]
SALARIES = [45, 30, 99, 92, 73, 27, 84, 94, 62, 14]
T2 = [45, 30, 106, 93, 67, 27, 80, 94, 64, 16]


def _ids(chances: NDArray[np.float64]) -> list[int]:
    return (np.flatnonzero(chances == 1) + 1).tolist()


def _plain(one: list[float], other: list[float], nominal: list[bool]) -> float:
    parts = [
        (float(a != b) if is_code else (a - b) ** 2)
        for a, b, is_code in zip(one, other, nominal, strict=True)
        if not math.isnan(a) and not math.isnan(b)
    ]
    return sum(parts) * len(nominal) / len(parts) if parts else math.inf


def test_noisy_ages_are_linked_in_four_of_ten_records() -> None:
    found = distance_linkage(align({"age": AGES}, {"age": T6}))
    assert _ids(found.chances) == [1, 4, 6, 9]
    assert found.share == pytest.approx(0.4)
    assert found.tied == 0


def test_noisy_salaries_are_linked_in_eight_records_and_one_tie() -> None:
    found = distance_linkage(align({"salary": SALARIES}, {"salary": T2}))
    assert _ids(found.chances) == [1, 2, 3, 6, 7, 8, 9, 10]
    assert found.chances[3] == 0.5
    assert found.candidates[3] == 2
    assert found.nearest[4] == 8  # record 5 is taken for record 9
    assert found.share == pytest.approx(0.85)
    assert (found.certain, found.tied) == (8, 1)


def test_microaggregated_ages_are_ties_within_their_group() -> None:
    means = [27, 46.5, 21.5, 39.5, 46.5, 65, 65, 21.5, 27, 39.5]
    found = distance_linkage(align({"age": AGES}, {"age": means}))
    # Both ages of a group of two are as far from their mean, and all others farther.
    assert found.share == pytest.approx(0.5)
    assert found.candidates.tolist() == [2] * 10


def test_swapped_neighbours_are_never_linked_rightly() -> None:
    assert distance_linkage(align({"age": AGES}, {"age": T8})).share == 0


def test_an_untouched_table_is_linked_wholly_up_to_equal_records() -> None:
    table: dict[str, Any] = {"age": [30, 30, 41], "sex": ["f", "f", "m"]}
    found = distance_linkage(align(table, table))
    assert found.chances.tolist() == [0.5, 0.5, 1.0]


def test_rows_say_which_record_is_the_true_one() -> None:
    shuffled = [T6[row] for row in (9, 0, 5)]
    found = distance_linkage(align({"age": AGES}, {"age": shuffled}, rows=[9, 0, 5]))
    assert found.chances.tolist() == [0, 1, 1]


def test_the_unit_of_a_column_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3))
    y = x + 0.3 * rng.normal(size=x.shape)
    plain = distance_linkage(align(_frame(x), _frame(y)))
    unit = np.array([1e-90, 1.0, 1e90])
    assert (
        distance_linkage(align(_frame(x * unit), _frame(y * unit))).chances == plain.chances
    ).all()


def test_ranks_see_through_a_change_of_scale() -> None:
    cubes = {"pay": [value**3 for value in SALARIES]}
    assert rank_linkage(align({"pay": SALARIES}, cubes)).share == 1


def test_ranks_are_those_of_scipy() -> None:
    values = np.array([3.0, 1.0, 3.0, np.nan, 7.0, 1.0, 1.0])
    known = ~np.isnan(values)
    found = ranks(values[:, None], np.array([False]))[:, 0]
    expected = (rankdata(values[known]) - 0.5) / known.sum()
    np.testing.assert_allclose(found[known], expected)
    assert np.isnan(found[3])


CELL = st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0, math.nan])


@st.composite
def _problem(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]], list[bool]]:
    width = draw(st.integers(1, 3))
    line = st.lists(CELL, min_size=width, max_size=width)
    nominal = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    queries = draw(st.lists(line, min_size=1, max_size=6))
    points = draw(st.lists(line, min_size=1, max_size=8))
    return queries, points, nominal


@given(_problem())
@settings(max_examples=150, deadline=None)
def test_nearest_records_are_those_of_a_plain_search(
    problem: tuple[list[list[float]], list[list[float]], list[bool]],
) -> None:
    queries, points, nominal = problem
    found = nearest(np.array(queries), np.array(points), np.array(nominal))
    for place, query in enumerate(queries):
        distances = [_plain(query, point, nominal) for point in points]
        best = min(distances)
        near = [k for k, each in enumerate(distances) if each <= best * (1 + 1e-9)]
        if math.isinf(best):
            near = list(range(len(points)))
        assert found.squared[place] == pytest.approx(best)
        assert found.ties[place] == len(near)
        assert found.first[place] == near[0]


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("categories", [0, 3, 40])
def test_larger_tables_agree_with_a_plain_search(categories: int, gaps: float) -> None:
    rng = np.random.default_rng(11)
    queries, points = rng.normal(size=(60, 3)).round(1), rng.normal(size=(900, 3)).round(1)
    nominal = np.array([False, False, categories > 0])
    if categories:
        queries[:, 2], points[:, 2] = (rng.integers(0, categories, n) for n in (60, 900))
    for side in (queries, points):
        side[rng.random(side.shape) < gaps] = np.nan
    found = nearest(queries, points, nominal)
    for place, query in enumerate(queries.tolist()):
        distances = np.array([_plain(query, point, nominal.tolist()) for point in points.tolist()])
        near = np.flatnonzero(distances <= distances.min() * (1 + 1e-9))
        assert found.squared[place] == pytest.approx(distances.min())
        assert (found.ties[place], found.first[place]) == (near.size, near[0])


def test_a_pair_is_compared_on_the_columns_that_both_have() -> None:
    before: dict[str, Any] = {"a": [0.0, 1.0, 5.0], "b": [0.0, 2.0, 5.0]}
    after: dict[str, Any] = {"a": [None, 1.0, None], "b": [0.1, None, None]}
    found = distance_linkage(align(before, after))
    # The last record shares nothing: each of three originals may be it.
    assert found.chances.tolist() == [1, 1, pytest.approx(1 / 3)]
    assert found.candidates.tolist() == [1, 1, 3]


def test_the_rows_at_most_risk_are_told_as_numbers_alone() -> None:
    found = distance_linkage(align({"salary": SALARIES}, {"salary": T2}))
    assert found.exposed(3) == (0, 1, 2)
    assert len(found.exposed(100)) == 9  # all but record 5
    assert "0.85" in repr(found)
    assert found.as_dict()["certain"] == 8


def test_a_synthetic_table_cannot_be_linked() -> None:
    tables = align({"age": AGES}, {"age": T6[:5]}, synthetic=True)
    with pytest.raises(InputError) as refused:
        distance_linkage(tables)
    assert refused.value.code == "CEL-A206"


def _frame(matrix: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {f"x{place}": column for place, column in enumerate(matrix.T)}
