"""Facts of a column by its values and their numbers, against exact fractions and NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.masking.value_counts import NumberCounts, ValueCounts, total

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
MODEST = st.floats(-1e9, 1e9, allow_nan=False)
COUNTED = st.lists(st.tuples(FLOATS, st.integers(1, 2**40)), min_size=1, max_size=12)


def rounded(number: Fraction) -> float:
    try:
        return float(number)  # Python rounds a fraction once, to the nearest
    except OverflowError:
        return math.inf


@given(COUNTED)
def test_a_sum_is_exact_and_rounded_once(counted: list[tuple[float, int]]) -> None:
    values, sizes = np.array([v for v, _ in counted]), np.array([n for _, n in counted])
    exact = sum((Fraction(value) * size for value, size in counted), Fraction())
    found = total(values, sizes)
    # Parts beyond the largest float have no sum, though they may cancel out.
    assert found == rounded(exact) or (math.isinf(found) and np.abs(values).max() > 1e290)
    again = np.arange(len(counted))[::-1]
    assert total(values[again], sizes[again]) == found


@given(st.lists(MODEST, min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    counted = NumberCounts.of(np.array(values))
    assert counted.quantile(share) == np.quantile(values, share)
    # Between two neighbours a and b: b - a is off by 2**-53 |b - a| at most, of which half counts,
    # and both results are rounded once more; the two may nearly cancel out.
    slack = 3 * 2.0**-53 * np.abs(values).max() + 1e-300
    assert math.isclose(counted.quantile(0.5), np.median(values), rel_tol=0, abs_tol=slack)


@given(st.lists(st.tuples(MODEST, st.integers(1, 5)), min_size=1, max_size=20))
def test_moments_are_those_of_all_rows(counted: list[tuple[float, int]]) -> None:
    values, sizes = np.array([v for v, _ in counted]), np.array([n for _, n in counted])
    rows = np.repeat(values, sizes)
    found = NumberCounts.of(values, sizes)
    assert found.count == rows.size
    assert math.isclose(found.mean, math.fsum(rows) / rows.size, rel_tol=1e-15, abs_tol=0)
    # Each square is off by a few units in the last place of the largest number.
    slack = 1e-15 * (1 + np.abs(rows).max()) * 10
    assert math.isclose(found.deviation, np.std(rows), rel_tol=1e-12, abs_tol=slack)


def test_the_mean_of_the_largest_floats_is_a_float() -> None:
    largest = float(np.finfo(np.float64).max)
    assert math.isclose(NumberCounts.of(np.array([largest] * 5)).mean, largest, rel_tol=2.0**-52)
    assert math.isinf(NumberCounts.of(np.array([largest, -largest])).deviation)


def test_equal_values_are_put_together_and_empty_ones_counted() -> None:
    cells = pl.Series("^x$", [0.0, None, -0.0, math.nan, 2.5])
    found = ValueCounts.of(cells, np.array([1, 2, 4, 8, 16]))
    assert found.values.to_list() == [0.0, 2.5]
    assert found.sizes.tolist() == [5, 16]
    assert (found.empty, found.rows) == (10, 31)
    wide = ValueCounts.of(pl.Series([2**60, 2**60 + 1, 5]), np.array([3, 4, 5]))
    numbers = wide.as_numbers("x", "noise")  # floats cannot tell the two apart
    assert numbers.values.tolist() == [5.0, 2.0**60]
    assert numbers.sizes.tolist() == [5, 7]
