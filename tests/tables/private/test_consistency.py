"""Noisy counts made consistent: against general solvers on small tables."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from celosia.tables.private.consistency import (
    least_squares,
    project_onto_simplex,
    whole_numbers,
    with_margins,
)

COUNTS = st.lists(st.integers(-20, 40), min_size=1, max_size=8)


@given(COUNTS, st.integers(0, 60))
def test_the_nearest_counts_have_the_total_and_equal_shifts(counts: list[int], total: int) -> None:
    found = project_onto_simplex(np.array([counts], dtype=float), np.array([float(total)]))[0]
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-9)
    # The conditions of Karush, Kuhn and Tucker: what stays above 0 is moved by one number alike,
    # and what is 0 would be moved below 0 by it.
    taken = np.array(counts) - found
    if total:
        shift = taken[found > 0].mean()
        assert np.allclose(taken[found > 0], shift)
        assert np.all(np.array(counts)[found == 0] <= shift + 1e-9)


def test_a_table_with_margins_is_the_nearest_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        truth = rng.poisson(5, (3, 4)).astype(float)
        noisy = truth + rng.normal(0, 4, (3, 4))
        rows, columns = truth.sum(axis=1), truth.sum(axis=0)
        found = with_margins(noisy, rows, columns)
        assert np.allclose(found.sum(axis=1), rows, atol=1e-4)
        assert np.allclose(found.sum(axis=0), columns, atol=1e-4)
        assert found.min() >= 0
        wanted = minimize(
            lambda cells, noisy=noisy: ((cells - noisy.ravel()) ** 2).sum(),
            truth.ravel(),
            bounds=[(0, None)] * 12,
            constraints=[
                {"type": "eq", "fun": lambda t, r=rows: t.reshape(3, 4).sum(axis=1) - r},
                {"type": "eq", "fun": lambda t, c=columns: (t.reshape(3, 4).sum(axis=0) - c)[1:]},
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        assert ((found - noisy) ** 2).sum() == pytest.approx(wanted.fun, rel=1e-4, abs=1e-4)


def test_empty_rows_and_columns_stay_empty() -> None:
    found = with_margins(
        np.array([[3.0, 9.0], [-4.0, 5.0]]), np.array([0.0, 6.0]), np.array([6, 0])
    )
    assert np.allclose(found, [[0, 0], [6, 0]], atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=3, unique=True), st.integers(0, 10**6))
def test_margins_are_combined_as_weighted_least_squares_does(orders: list[int], seed: int) -> None:
    shape = (2, 3, 4)
    rng = np.random.default_rng(seed)
    every = (0, 1, 2)
    axes = [each for size in sorted(orders) for each in combinations(every, size)] + [every]
    variances = {each: float(rng.uniform(0.5, 5)) for each in axes}
    margins, design, goals = {}, [], []
    cells = np.arange(24).reshape(shape)
    for each in axes:
        margins[each] = rng.normal(10, 9, tuple(shape[axis] for axis in each))
        gone = tuple(axis for axis in every if axis not in each)
        for place in np.ndindex(margins[each].shape):
            index: list[Any] = [slice(None)] * 3
            for axis, at in zip(each, place, strict=True):
                index[axis] = at
            row = np.zeros(24)
            row[cells[tuple(index)].ravel()] = 1
            design.append(row / np.sqrt(variances[each]))
            goals.append(margins[each][place] / np.sqrt(variances[each]))
        assert len(gone) + len(each) == 3
    wanted = np.linalg.lstsq(np.array(design), np.array(goals), rcond=None)[0]
    assert np.allclose(least_squares(margins, variances, shape).ravel(), wanted)


@given(st.lists(st.floats(0, 50), min_size=1, max_size=20))
def test_whole_numbers_keep_the_total_and_are_next_to_the_counts(counts: list[float]) -> None:
    found = whole_numbers(np.array(counts))
    assert found.sum() == round(float(np.sum(counts)))
    assert np.all(np.abs(found - np.array(counts)) <= 1)
