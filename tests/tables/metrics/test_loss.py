"""Information loss: by hand, at its ends, and its rules."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.recoding.strategies import coded, paths

from celosia.tables.metrics import Loss, LossScale
from celosia.tables.metrics.loss import LossMeasure, Mean
from celosia.tables.models import KAnonymity
from celosia.tables.recoding import Lattice

TEN_DECIMALS = 1e-10
"""The loss of a column is cut after ten decimals."""

# Four records; a column of two leaves and one of four, each with everybody apart.
TWO = LossScale(rows=4, leaves=(2, 4), leaf_sums=((4, 8), (4, 8, 16)), widest=((1, 2), (1, 2, 4)))
MEASURE = LossMeasure(TWO, np.ones(2))


def test_raw_cells_lose_nothing() -> None:
    assert TWO.total((4, 4)) == 0.0


def test_fully_general_cells_lose_everything() -> None:
    assert TWO.total((8, 16)) == pytest.approx(1.0, abs=TEN_DECIMALS)


@pytest.mark.parametrize(
    ("column", "leaf_sum", "loss"), [(0, 4, 0), (0, 6, 0.5), (0, 8, 1), (1, 8, 1 / 3), (1, 16, 1)]
)
def test_the_loss_of_a_column_is_its_share_of_the_way_up(
    column: int, leaf_sum: int, loss: float
) -> None:
    assert TWO.column(column, leaf_sum) == pytest.approx(loss, abs=TEN_DECIMALS)


def test_the_loss_of_the_table_is_the_shifted_geometric_mean() -> None:
    # (1 + 1/2)(1 + 1/3) = 2; of two columns the square root.
    assert TWO.total((6, 8)) == pytest.approx(sqrt(2) - 1, abs=TEN_DECIMALS)
    assert MEASURE.score_of((6, 8)) == pytest.approx(2, abs=2 * TEN_DECIMALS)


def test_the_loss_of_a_column_is_cut_after_ten_decimals() -> None:
    assert TWO.column(1, 8) == 0.3333333333


def test_a_column_of_one_leaf_has_nothing_to_lose() -> None:
    one = LossScale(rows=3, leaves=(1,), leaf_sums=((3, 3),), widest=((1, 1),))
    assert one.column(0, 3) == 0.0
    assert one.total((3,)) == 0.0


def test_bounds_cover_every_node() -> None:
    assert MEASURE.floors.shape == (2, 3)
    assert MEASURE.floors[0, 0] == 1.0
    assert MEASURE.floors[1, 2] == pytest.approx(4, abs=4 * TEN_DECIMALS)


def test_suppressing_everybody_is_as_bad_as_the_top() -> None:
    assert MEASURE.floor((0, 0), 4) == MEASURE.floor((1, 2), 0)


@given(st.integers(4, 8), st.integers(4, 8), st.integers(4, 16), st.integers(4, 16))
def test_more_leaves_never_mean_less_loss(a: int, b: int, c: int, d: int) -> None:
    low, high = (min(a, b), min(c, d)), (max(a, b), max(c, d))
    assert MEASURE.score_of(low) <= MEASURE.score_of(high)
    assert TWO.total(low) <= TWO.total(high) + 1e-12  # roots round, products do not


@given(st.integers(4, 8), st.integers(4, 16))
def test_loss_lies_between_nothing_and_everything(first: int, second: int) -> None:
    assert 0 <= TWO.total((first, second)) <= 1 + 1e-12


@given(paths(), st.data())
def test_each_level_loses_at_least_as_much_as_the_one_below(
    column: list[tuple[str, ...]], data: st.DataObject
) -> None:
    cells = st.sampled_from([path[0] for path in column]).map(lambda cell: (cell,))
    lattice = Lattice(coded([column], data.draw(st.lists(cells, min_size=1, max_size=10))))
    losses = [lattice.loss.column(0, total) for total in lattice.loss.leaf_sums[0]]
    assert losses == sorted(losses)
    assert losses[0] == 0.0
    assert losses[-1] == (1.0 if len(column) > 1 else 0.0)


def test_the_floor_is_the_score_where_all_labels_are_equally_wide() -> None:
    # Four leaves in two groups of two: whoever goes costs the same, so the bound is no slack one.
    halves: list[tuple[str, ...]] = [(str(leaf), str(leaf // 2), "*") for leaf in range(4)]
    rows: list[tuple[str, ...]] = [("0", "0"), ("1", "1"), ("2", "3"), ("3", "3"), ("0", "2")]
    lattice = Lattice(coded([halves, halves], rows))
    measure = Loss().over(lattice)
    outcome = lattice.evaluate((1, 1), [KAnonymity(2)])
    assert outcome.suppressed == outcome.must_go == 1
    assert measure.floor((1, 1), outcome.must_go) == measure.score(outcome)


@pytest.mark.parametrize("mean", ["geometric", "arithmetic"])
@pytest.mark.parametrize("rows", [1_000, 2**50])
def test_floors_of_many_nodes_are_the_floors_of_each(mean: Mean, rows: int) -> None:
    random = np.random.default_rng(rows)
    levels, leaves = (2, 4, 3), (3, 1, 90)
    widest = [
        sorted(random.integers(1, most + 1, of)) for of, most in zip(levels, leaves, strict=True)
    ]
    sums = [[rows * int(most) - int(most) // 2 for most in of] for of in widest]
    scale = LossScale(rows, leaves, tuple(map(tuple, sums)), tuple(map(tuple, widest)))
    measure = LossMeasure(scale, np.array([1, 0.25, 0.7]), mean)
    nodes = [random.integers(0, of, 50) for of in levels]
    must_go = random.integers(0, rows, 50)
    each = zip(zip(*nodes, strict=True), must_go.tolist(), strict=True)
    expected = [measure.floor(node, records) for node, records in each]
    assert measure.forced(nodes, must_go).tolist() == expected
