"""Statistics of a numeric column against NumPy and SciPy, and what intervals count as."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from celosia import InputError
from celosia.assess.utility import statistics
from celosia.frames import as_text

numbers = st.lists(st.integers(-1000, 1000), min_size=2, max_size=60)


@given(numbers)
def test_numbers_are_described_as_numpy_and_scipy_do(values: list[int]) -> None:
    found = statistics(pl.Series("x", values))
    plain = np.array(values, dtype=float)
    assert found.count == found.cells == len(values)
    assert found.mean == pytest.approx(plain.mean(), abs=1e-9)
    assert found.variance == pytest.approx(plain.var(ddof=1), rel=1e-9, abs=1e-9)
    assert found.standard_deviation == pytest.approx(plain.std(ddof=1), rel=1e-9, abs=1e-9)
    quartiles = [found.first_quartile, found.median, found.third_quartile]
    assert quartiles == pytest.approx(np.percentile(plain, [25, 50, 75]).tolist(), abs=1e-9)
    assert (found.minimum, found.maximum, found.range) == (min(values), max(values), np.ptp(plain))
    _, often = np.unique(plain, return_counts=True)
    assert found.mode_count == often.max()
    assert values.count(int(found.mode or "")) == often.max()
    assert found.entropy == pytest.approx(stats.entropy(often, base=2), abs=1e-9)


@given(numbers.filter(lambda values: len(set(values)) > 1))
def test_the_shape_is_that_of_scipy(values: list[int]) -> None:
    found = statistics(pl.Series("x", values))
    assert found.skewness == pytest.approx(stats.skew(values), rel=1e-6, abs=1e-6)
    assert found.kurtosis == pytest.approx(stats.kurtosis(values), rel=1e-6, abs=1e-6)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60))
def test_geometric_and_harmonic_means_are_those_of_scipy(values: list[int]) -> None:
    found = statistics(pl.Series("x", values))
    assert found.geometric_mean == pytest.approx(stats.gmean(values), rel=1e-9)
    assert found.harmonic_mean == pytest.approx(stats.hmean(values), rel=1e-9)


def test_an_interval_counts_as_its_midpoint_and_its_limits_bound_the_range() -> None:
    found = statistics(["20-39", "20-39", "40-59", "*", None])
    assert (found.cells, found.count) == (5, 3)
    assert found.mean == pytest.approx((29.5 + 29.5 + 49.5) / 3)
    assert (found.minimum, found.maximum, found.range) == (20, 59, 39)
    assert (found.mode, found.mode_count) == ("20-39", 2)
    assert found.entropy == pytest.approx(1.5)  # shares 1/2, 1/4 and, for the star, 1/4


def test_what_cannot_be_said_is_none() -> None:
    nothing = statistics(["*", "*"])
    assert nothing.mean is nothing.median is nothing.variance is nothing.range is None
    assert str(nothing) == "no numbers in 2 cells"
    one = statistics([7])
    assert (one.mean, one.variance, one.skewness) == (7, None, None)
    same = statistics([7, 7, 7])
    assert (same.variance, same.skewness, same.kurtosis) == (0, None, None)
    assert statistics([-1, 4]).geometric_mean is statistics([0, 4]).harmonic_mean is None
    assert statistics(pl.Series("x", [], dtype=pl.Int64)).entropy is None


def test_huge_numbers_do_not_overflow() -> None:
    found = statistics(["1e300", "3e300"])
    assert found.mean == pytest.approx(2e300)
    assert found.variance is None
    assert found.skewness == pytest.approx(0)
    assert found.geometric_mean == pytest.approx(math.sqrt(3) * 1e300)


def test_labels_without_a_number_are_refused_without_showing_them() -> None:
    with pytest.raises(InputError, match="names no number") as caught:
        statistics(pl.Series("age", ["secretly young", "31"]))
    assert caught.value.code == "CEL-A079"
    assert "secretly" not in str(caught.value)


@given(
    st.one_of(
        st.lists(st.integers(-50, 50), min_size=1, max_size=40),
        st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
        st.lists(st.sampled_from([None, 0.5, 2.0, -0.0, 0.0, 1e300]), min_size=1, max_size=40),
    )
)
@settings(max_examples=40)
def test_numbers_are_described_as_their_texts_are(values: list[float | None]) -> None:
    numbers = pl.Series("n", values, dtype=pl.Float64)
    one, other = statistics(numbers).as_dict(), statistics(as_text(numbers)).as_dict()
    assert one.pop("mode") == other.pop("mode")
    for name, value in other.items():
        assert one[name] == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9))
