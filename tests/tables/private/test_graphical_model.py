"""Junction trees against the whole table, which small domains allow to write down."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from celosia.core.randomness import Seeded
from celosia.tables.private.graphical_model import (
    Axes,
    GraphicalModel,
    Measured,
    cells_of,
    fit,
    junction_tree,
)

SHAPES = st.lists(st.integers(1, 3), min_size=1, max_size=6)


@st.composite
def sets_of_columns(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Axes]]:
    sizes = draw(SHAPES)
    places = st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=3)
    return tuple(sizes), [tuple(sorted(each)) for each in draw(st.lists(places, max_size=6))]


def whole_table(sizes: tuple[int, ...], potentials: dict[Axes, np.ndarray]) -> np.ndarray:
    """The twin: the product of all potentials over every combination of codes."""
    logs = np.zeros(sizes)
    for codes in np.ndindex(*sizes):
        for axes, table in potentials.items():
            logs[codes] += table[tuple(codes[axis] for axis in axes)]
    cells = np.exp(logs)
    return np.asarray(cells / cells.sum())


def margin(table: np.ndarray, axes: Axes) -> np.ndarray:
    gone = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=gone))


@settings(max_examples=60, deadline=None)
@given(given_sets=sets_of_columns(), seed=st.integers(0, 2**31))
def test_every_marginal_is_that_of_the_whole_table(
    given_sets: tuple[tuple[int, ...], list[Axes]], seed: int
) -> None:
    sizes, sets = given_sets
    rng = np.random.default_rng(seed)
    potentials = {axes: rng.normal(0, 3, [sizes[axis] for axis in axes]) for axes in sets}
    model = GraphicalModel.of(sizes, 50.0, potentials)
    whole = 50 * whole_table(sizes, potentials)
    for size in range(len(sizes) + 1):
        for axes in combinations(range(len(sizes)), size):
            assert np.allclose(model.marginal(axes), margin(whole, axes), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(given_sets=sets_of_columns())
def test_a_tree_has_every_set_in_a_clique_and_every_column_in_one_part(
    given_sets: tuple[tuple[int, ...], list[Axes]],
) -> None:
    sizes, sets = given_sets
    tree = junction_tree(sizes, sets)
    for axes in sets:
        assert any(set(axes) <= set(clique.axes) for clique in tree)
    for place, clique in enumerate(tree):
        assert clique.parent == -1 if place == 0 else 0 <= clique.parent < place
        seen = {axis for before in tree[:place] for axis in before.axes}
        # What it has in common with all cliques before it is in its parent.
        assert {*clique.axes} & seen == {*clique.separator}
        if place:
            assert {*clique.separator} <= {*tree[clique.parent].axes}
    assert {axis for clique in tree for axis in clique.axes} == set(range(len(sizes)))
    assert cells_of(sizes, sets) == sum(
        prod(sizes[axis] for axis in clique.axes) for clique in tree
    )


def test_the_fit_is_the_nearest_of_all_tables() -> None:
    rng = np.random.default_rng(3)
    sizes = (2, 3, 2)
    truth = rng.poisson(9, sizes).astype(float)
    total = float(truth.sum())
    variances = {(0, 1): 4.0, (1, 2): 9.0, (0,): 1.0, (0, 2): 25.0}  # a cycle of three pairs
    measured = {
        axes: Measured.of(
            margin(truth, axes) + rng.normal(0, variance**0.5, [sizes[axis] for axis in axes]),
            variance,
        )
        for axes, variance in variances.items()
    }

    def loss(cells: np.ndarray) -> float:
        table = cells.reshape(sizes)
        return sum(
            float((each.precision * (margin(table, axes) - each.counts) ** 2).sum()) / 2
            for axes, each in measured.items()
        )

    wanted = minimize(
        loss,
        np.full(truth.size, total / truth.size),
        bounds=[(0, None)] * truth.size,
        constraints={"type": "eq", "fun": lambda cells: cells.sum() - total},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    found = fit(GraphicalModel.of(sizes, total, {}), measured, steps=5000)
    assert loss(found.marginal((0, 1, 2)).ravel()) == pytest.approx(wanted.fun, rel=1e-3)


def test_columns_that_were_measured_apart_are_independent_in_the_fit() -> None:
    measured: dict[Axes, Measured] = {
        (0,): Measured.of(np.array([30.0, 70.0]), 1.0),
        (1,): Measured.of(np.array([20.0, 30.0, 50.0]), 1.0),
    }
    found = fit(GraphicalModel.of((2, 3), 100.0, {}), measured, steps=300)
    assert np.allclose(found.marginal((0, 1)), np.outer([30, 70], [0.2, 0.3, 0.5]), atol=0.01)


def test_two_measurements_are_weighted_by_their_precision() -> None:
    both = Measured.of(np.array([10.0]), 1.0).and_also(Measured.of(np.array([20.0]), 4.0))
    assert both.counts.tolist() == [12.0]
    assert both.precision.tolist() == [1.25]


def test_drawn_rows_follow_the_model() -> None:
    rng = np.random.default_rng(5)
    pairs: list[Axes] = [(0, 1), (1, 2), (2, 3), (0, 3)]
    potentials = {axes: rng.normal(0, 1, (3, 3)) for axes in pairs}
    model = GraphicalModel.of((3,) * 4, 1.0, potentials)
    rows = 40_000
    drawn = model.draw(rows, Seeded(2))
    whole = model.marginal((0, 1, 2, 3))
    cells = np.ravel_multi_index(drawn, whole.shape)
    counts = np.bincount(cells, minlength=whole.size)
    # Evenly spread draws vary less than independent ones; so at most as these: six deviations.
    assert np.all(np.abs(counts - rows * whole.ravel()) < 6 * np.sqrt(rows * whole.ravel()) + 2)
    # The cells of the root are drawn as evenly as can be: one off for each end of a cell.
    root = model.tree[0].axes
    found = np.bincount(
        np.ravel_multi_index([drawn[axis] for axis in root], model.beliefs[0].shape),
        minlength=model.beliefs[0].size,
    )
    assert np.all(np.abs(found - rows * model.beliefs[0].ravel()) <= 2)


def test_no_rows_and_impossible_codes_are_drawn_as_they_are() -> None:
    counts = Measured.of(np.array([[0.0, 80.0], [20.0, 0.0]]), 1.0)
    measured: dict[Axes, Measured] = {(0, 1): counts}
    found = fit(GraphicalModel.of((2, 2), 100.0, {}), measured, steps=2000)
    assert [codes.size for codes in found.draw(0, Seeded(1))] == [0, 0]
    one, two = found.draw(100, Seeded(1))
    assert int((one == two).sum()) <= 2
