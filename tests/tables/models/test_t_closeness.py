"""t-closeness: distances as fractions, against a transport solver, and what must go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.models.small_classes import NODES, classes_of, column_of, split_classes

from celosia.core.errors import InputError
from celosia.tables.models import SensitiveColumn, TCloseness
from celosia.tables.models.t_closeness import Distance

STOMACH = np.array(
    [[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0] * 6], dtype=np.int32
)
"""Gastric ulcer, gastritis, stomach cancer; flu, bronchitis, pneumonia."""


linprog: Any = pytest.importorskip("scipy.optimize").linprog


def close(distance: Distance, t: float = 0.2) -> TCloseness:
    return TCloseness(t, distance, "disease")


def earth_moved(counts: Any, totals: Any, ground: Any) -> float:
    """The earth mover's distance by linear programming over all flows."""
    width = len(totals)
    rows = [np.kron(np.eye(width)[value], np.ones(width)) for value in range(width)]
    rows += [np.kron(np.ones(width), np.eye(width)[value]) for value in range(width)]
    wanted = np.concatenate([np.array(counts) / sum(counts), np.array(totals) / sum(totals)])
    return float(linprog(np.ravel(ground), A_eq=np.array(rows), b_eq=wanted).fun)


def ground_distance(distance: str, nodes: Any) -> Any:
    width = nodes.shape[1]
    ranks = np.arange(width)
    if distance == "equal":
        return 1 - np.eye(width)
    if distance == "ordered":
        return np.abs(ranks[:, None] - ranks) / (width - 1)
    apart = [[int(np.argmax(nodes[:, one] == nodes[:, other])) for other in ranks] for one in ranks]
    return np.array(apart) / (nodes.shape[0] - 1)


SALARIES = [[0, 2, 6], [3, 8, 5], [1, 4, 7]]
LOW_SALARIES = [[0, 1, 2], [3, 8, 5], [4, 6, 7]]


def by_place(places: list[list[int]], width: int) -> list[list[int]]:
    return [[1 if value in own else 0 for value in range(width)] for own in places]


def test_the_salaries_of_table_17_are_as_far_as_the_example_says() -> None:
    classes = classes_of(column_of([1] * 9), by_place(SALARIES, 9))
    assert close("ordered").distances(classes).tolist() == [12 / 72, 12 / 72, 6 / 72]
    assert close("ordered", 1 / 6).holds(classes).all()
    assert close("ordered", 0.16).holds(classes).tolist() == [False, False, True]


def test_the_salaries_of_table_16_are_as_far_as_the_example_says() -> None:
    classes = classes_of(column_of([1] * 9), by_place(LOW_SALARIES, 9))
    assert close("ordered").distances(classes).tolist() == [27 / 72, 12 / 72, 17 / 72]


PROBLEMS_17 = [[1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0]]
PROBLEMS_16 = [[1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0], [0, 0, 1, 0, 1, 1]]


def test_the_problems_of_table_17_are_as_far_as_the_example_says() -> None:
    column = column_of(np.sum(PROBLEMS_17, axis=0).tolist(), nodes=STOMACH)
    classes = classes_of(column, PROBLEMS_17)
    hierarchical = close("hierarchical").distances(classes) * 27
    assert hierarchical == pytest.approx([7, 8, 5], rel=1e-14)
    assert close("equal").distances(classes) * 9 == pytest.approx([5, 4, 3], rel=1e-14)


def test_the_problems_of_table_16_are_as_far_as_the_example_says() -> None:
    column = column_of(np.sum(PROBLEMS_16, axis=0).tolist(), nodes=STOMACH)
    hierarchical = close("hierarchical").distances(classes_of(column, PROBLEMS_16)) * 27
    assert hierarchical == pytest.approx([12, 8, 8], rel=1e-14)


def test_flu_and_pulmonary_oedema_are_two_thirds_apart() -> None:
    nodes = np.array([[0, 1, 2], [0, 1, 2], [0, 0, 1], [0, 0, 0]], dtype=np.int32)
    assert ground_distance("hierarchical", nodes)[0, 1] == 2 / 3
    column = column_of([0, 1, 0], nodes=nodes)  # a table of oedema only, a class of flu only
    found = close("hierarchical").distances(classes_of(column, [[1, 0, 0]]))
    assert found.item() == pytest.approx(2 / 3, rel=1e-14)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances_are_those_of_a_transport_solver(distance: Distance) -> None:
    generator = np.random.default_rng(5)
    ground = ground_distance(distance, NODES)
    for _ in range(15):
        counts = generator.integers(0, 9, 6)
        totals = counts + generator.integers(1, 9, 6)
        counts[generator.integers(6)] += 1
        column = column_of(totals.tolist(), nodes=NODES)
        found = close(distance).distances(classes_of(column, [counts.tolist()])).item()
        assert found == pytest.approx(earth_moved(counts, totals, ground), abs=1e-9)


@given(split_classes(), st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_distances_lie_between_nothing_and_one(found: Any, distance: Distance) -> None:
    parts, _, totals = found
    column = column_of(totals, nodes=NODES)
    assert (close(distance).distances(classes_of(column, parts)) >= 0).all()
    assert (close(distance).distances(classes_of(column, parts)) <= 1 + 1e-15).all()
    assert close(distance).distances(classes_of(column, [totals])).item() == 0


@given(split_classes())
def test_with_a_tree_of_one_level_the_hierarchical_distance_is_the_equal_one(found: Any) -> None:
    parts, _, totals = found
    flat = np.array([range(6), [0] * 6], dtype=np.int32)
    classes = classes_of(column_of(totals, nodes=flat), parts)
    assert close("hierarchical").distances(classes).tolist() == (
        close("equal").distances(classes).tolist()
    )


def test_an_exact_tie_is_within_the_limit() -> None:
    """3 of 10 where the table has 1 of 2: apart by 0.2, which no binary fraction is."""
    classes = classes_of(column_of([5, 5]), [[3, 7], [7, 3]])
    for distance in ("equal", "ordered"):
        assert close(distance, 0.2).holds(classes).all()
        assert not close(distance, 0.2 - 1e-9).holds(classes).any()


def test_a_column_with_one_value_is_close_to_itself() -> None:
    column = SensitiveColumn("disease", np.array([5]), True, np.zeros((1, 1), dtype=np.int32))
    for distance in ("equal", "ordered", "hierarchical"):
        assert close(distance, 0.01).holds(classes_of(column, [[3]])).all()


def test_large_tables_do_not_overflow() -> None:
    half = 4 * 10**9
    classes = classes_of(column_of([half, half]), [[half, half], [half, half // 2]])
    assert close("ordered", 0.1).distances(classes) == pytest.approx([0, 1 / 6])
    assert close("equal", 0.1).distances(classes) == pytest.approx([0, 1 / 6])


def test_what_must_go_can_be_all_but_one_record() -> None:
    """A class of a value that the table has at 1/10 must keep nothing within 0.2 of the table."""
    classes = classes_of(column_of([10, 90]), [[10, 0], [0, 10]])
    assert close("equal", 0.2).judge(classes).must_go.tolist() == [10, 0]


def test_a_distance_that_the_column_does_not_allow_is_refused() -> None:
    plain = SensitiveColumn("disease", np.array([1, 1]))
    for distance in ("ordered", "hierarchical"):
        with pytest.raises(InputError) as caught:
            close(distance).judge(classes_of(plain, [[1, 1]]))
        assert caught.value.code == "CEL-P024"
    assert close("equal").holds(classes_of(plain, [[1, 1]])).all()


@pytest.mark.parametrize("t", [0, -0.1, 1.1, "0.2", None, True, math.nan])
def test_the_limit_is_above_zero_and_at_most_one(t: Any) -> None:
    with pytest.raises(InputError) as caught:
        TCloseness(t)
    assert caught.value.code == "CEL-I060"


def test_an_unknown_distance_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'hierarchical'") as caught:
        TCloseness(0.2, "hierarchic")  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


def test_the_model_says_what_it_is() -> None:
    assert close("hierarchical").promise() == "0.2-closeness (hierarchical distance) of disease"
    assert close("hierarchical").as_dict() == {
        "method": "t-closeness",
        "t": 0.2,
        "distance": "hierarchical",
        "column": "disease",
    }
    assert any("similarity" in gap for gap in close("equal").leaves_open())
    assert not any("similarity" in gap for gap in close("hierarchical").leaves_open())
