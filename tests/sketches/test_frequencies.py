"""Bloom filters and tables of counters: the promises of telemetry.md section 4 and check 22."""

from __future__ import annotations

from math import e, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import InputError, Seeded
from celosia.sketches import AmsSketch, BloomFilter, CountingBloomFilter, CountMin, CountSketch
from celosia.sketches.count_min import combine_rows

SKEWED = np.repeat(np.arange(500), [4000 // (1 + rank) for rank in range(500)])
"""500 values whose counts fall as 1 / rank."""

COUNTS = np.bincount(SKEWED)
F2 = float((COUNTS.astype(float) ** 2).sum())


def test_sizes_follow_the_corrected_formulas() -> None:
    assert CountMin.size_for(error=0.01, confidence=0.99) == {"width": 272, "depth": 5}  # C-7
    assert CountSketch.size_for(error=0.1, confidence=0.99) == {"width": 400, "depth": 37}  # C-8
    assert AmsSketch.size_for(error=0.1, confidence=0.95) == {"width": 800, "depth": 24}
    assert BloomFilter.size_for(items=1000, rate=0.02) == {"bits": 8143, "hashes": 6}
    assert CountingBloomFilter.size_for(items=1000, rate=0.02) == {"cells": 8143, "hashes": 6}


@pytest.mark.parametrize("wrong", [0, 1, -0.5, 2, float("nan"), True, "0.1", None])
def test_wishes_out_of_range_are_refused(wrong: Any) -> None:
    for work in (
        lambda: CountMin.size_for(error=wrong),
        lambda: CountMin.size_for(error=0.1, confidence=wrong),
        lambda: CountSketch.size_for(error=wrong),
        lambda: BloomFilter.size_for(items=10, rate=wrong),
        lambda: CountMin(width=9, depth=2).error(wrong),
        lambda: AmsSketch(width=9, depth=2).interval(wrong),
        lambda: BloomFilter(bits=9, hashes=2).interval(wrong),
    ):
        with pytest.raises(InputError) as told:
            work()
        assert told.value.code == "CEL-K008"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3"])
def test_a_number_of_items_is_a_whole_number_from_one(wrong: Any) -> None:
    with pytest.raises(InputError) as told:
        BloomFilter.size_for(items=wrong, rate=0.1)
    assert told.value.code == "CEL-K008"


@given(st.lists(st.text(max_size=5), max_size=40))
def test_a_bloom_filter_knows_every_value_it_has_seen(values: list[str]) -> None:
    assert BloomFilter(bits=64, hashes=2).update(values).contains(values).all()
    assert CountingBloomFilter(cells=64, hashes=2).update(values).contains(values).all()


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
def test_false_positives_come_at_the_rate_of_the_formula(kind: Any) -> None:
    items, wished, asked = 2000, 0.05, 20_000
    rates = []
    for run in range(10):
        seen = kind(**kind.size_for(items=items, rate=wished), key=f"run {run}")
        seen.update(np.arange(items))
        rates.append(seen.contains(np.arange(items, items + asked)).mean())
        assert seen.false_positive_rate() == pytest.approx(wished, rel=0.2)
    assert seen.false_positive_rate(items) == pytest.approx(wished, rel=0.02)
    # Check 22: within 20 %; the answers' own error is sqrt(0.05 / 200,000), 1 % of the rate.
    assert np.mean(rates) == pytest.approx(wished, rel=0.2)


@pytest.mark.statistical
def test_a_bloom_filter_counts_different_values_within_its_interval() -> None:
    runs, held = 400, 0
    for run in range(runs):
        seen = BloomFilter(bits=4096, hashes=3, key=f"run {run}").update(np.arange(1000))
        low, high = seen.interval(0.9)
        held += low <= 1000 <= high
    assert abs(held / runs - 0.9) < 4 * sqrt(0.9 * 0.1 / runs)  # a binomial law


def test_a_full_bloom_filter_says_that_it_knows_nothing() -> None:
    full = BloomFilter(bits=2, hashes=2).update(np.arange(100))
    assert full.estimate() == full.error() == float("inf")
    assert full.interval() == (0, float("inf"))
    assert full.as_dict()["estimate"] is None
    assert "unbounded" in str(full)


def test_the_published_cells_give_eight() -> None:
    cells = np.array([[14], [12], [8], [20]])
    assert combine_rows(cells, total=100, width=50).tolist() == [8]
    assert combine_rows(cells, method="mean", total=100, width=50) == pytest.approx(
        [(13.5 * 50 - 100) / 49]
    )
    assert combine_rows(cells, method="median", total=100, width=50) == pytest.approx(
        [(13 * 50 - 100) / 49]
    )


@given(st.dictionaries(st.integers(0, 99), st.integers(0, 50)))
def test_smallest_cells_are_never_too_low(counts: dict[int, int]) -> None:
    values, often = list(counts), list(counts.values())
    for sketch in (CountMin(width=8, depth=2), CountingBloomFilter(cells=20, hashes=2)):
        sketch.update(values, counts=often)
        found = sketch.estimate(values)
        assert (found >= np.array(often, dtype=int)).all()
        low, high = sketch.interval(values)
        assert (low <= found).all()
        assert (high == found).all()


@pytest.mark.statistical
def test_count_min_is_too_high_by_more_than_its_error_as_seldom_as_promised() -> None:
    error, confidence = 0.02, 0.9
    too_high, too_high_by_one_row = [], []
    for run in range(40):
        size = CountMin.size_for(error=error, confidence=confidence)
        sketch = CountMin(**size, key=f"run {run}").update(SKEWED)
        assert sketch.error(confidence) <= error * SKEWED.size * 1.001
        beyond = sketch.estimate(np.arange(500)) - COUNTS > error * SKEWED.size
        too_high.append(beyond.mean())
        thin = CountMin(width=7, depth=1, key=f"run {run}").update(SKEWED)  # not e / error wide
        off = thin.estimate(np.arange(500)) - COUNTS > error * SKEWED.size
        too_high_by_one_row.append(off.mean())
    assert np.mean(too_high) <= 1 - confidence
    assert np.mean(too_high_by_one_row) > 1 - confidence


@pytest.mark.statistical
def test_the_mean_of_count_min_is_unbiased_with_its_variance() -> None:
    runs, width, depth, value = 1500, 32, 4, 3
    found = np.array(
        [
            CountMin(width=width, depth=depth, key=f"run {run}")
            .update(np.arange(500), counts=COUNTS)
            .estimate([value], method="mean")[0]
            for run in range(runs)
        ]
    )
    variance = (F2 - COUNTS[value] ** 2) / ((width - 1) * depth)
    assert abs(found.mean() - COUNTS[value]) < 4 * sqrt(variance / runs)
    spread = found.var() / variance
    kurtosis = float(((found - found.mean()) ** 4).mean() / found.var() ** 2)
    assert abs(spread - 1) < 4 * sqrt((kurtosis - 1) / runs)


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["min", "mean", "median"])
def test_intervals_of_count_min_hold_the_truth_at_least_as_often_as_promised(method: str) -> None:
    held = []
    for run in range(40):
        sketch = CountMin(width=64, depth=5, key=f"run {run}").update(SKEWED)
        low, high = sketch.interval(np.arange(500), 0.8, method=method)
        held.append(((low - 1e-6 <= COUNTS) & (high + 1e-6 >= COUNTS)).mean())
    assert np.mean(held) >= 0.8


@pytest.mark.statistical
def test_count_min_estimates_the_second_moment() -> None:
    found = [
        CountMin(width=256, depth=5, key=f"run {run}").update(SKEWED).second_moment()
        for run in range(100)
    ]
    # A row has a variance below 2 F2^2 / width, as AMS has: here (5 rows) a deviation of 4 %.
    assert abs(np.mean(found) / F2 - 1) < 4 * sqrt(2 / 256 / 5 / 100)


def test_an_unknown_method_is_refused() -> None:
    for work in (CountMin(width=9, depth=2).estimate, CountMin(width=9, depth=2).interval):
        with pytest.raises(InputError) as told:
            work([1], method="mode")
        assert told.value.code == "CEL-K009"


@pytest.mark.statistical
def test_one_row_of_signs_is_unbiased_with_its_variances() -> None:
    runs, width, value = 1500, 32, 3
    points, moments = [], []
    for run in range(runs):
        row = AmsSketch(width=width, depth=1, key=f"run {run}").update(np.arange(500), COUNTS)
        points.append(row.point([value])[0])
        moments.append(row.estimate())
    for found, truth, variance in (
        (np.array(points), COUNTS[value], (F2 - COUNTS[value] ** 2) / width),
        (np.array(moments), F2, 2 * (F2**2 - float((COUNTS.astype(float) ** 4).sum())) / width),
    ):
        assert abs(found.mean() - truth) < 4 * sqrt(variance / runs)
        kurtosis = float(((found - found.mean()) ** 4).mean() / found.var() ** 2)
        assert abs(found.var() / variance - 1) < 4 * sqrt((kurtosis - 1) / runs)


@pytest.mark.statistical
def test_count_sketch_keeps_its_error_and_is_unbiased() -> None:
    error, confidence, runs = 0.2, 0.8, 60
    size = CountSketch.size_for(error=error, confidence=confidence)
    found, beyond, outside = np.zeros((runs, 500)), [], []
    for run in range(runs):
        sketch = CountSketch(**size, key=f"run {run}").update(np.arange(500), COUNTS)
        found[run] = sketch.estimate(np.arange(500))
        beyond.append((abs(found[run] - COUNTS) > error * sqrt(F2)).mean())
        low, high = sketch.interval(np.arange(500), confidence)
        outside.append(1 - ((low <= COUNTS) & (high >= COUNTS)).mean())
    assert np.mean(beyond) <= 1 - confidence
    assert np.mean(outside) <= 1 - confidence
    # Signs are symmetric, so the median is unbiased; 500 values in 60 runs, 5 standard errors.
    deviations = abs(found.mean(axis=0) - COUNTS) / (found.std(axis=0, ddof=1) / sqrt(runs))
    assert deviations.max() < 5


@pytest.mark.statistical
def test_ams_is_within_its_error_of_the_second_moment() -> None:
    error, confidence, runs = 0.2, 0.8, 60
    beyond = outside = 0
    for run in range(runs):
        size = AmsSketch.size_for(error=error, confidence=confidence)
        sketch = AmsSketch(**size, key=f"run {run}").update(np.arange(500), COUNTS)
        beyond += abs(sketch.estimate() - F2) > error * F2
        low, high = sketch.interval(confidence)
        outside += not low <= F2 <= high
    assert beyond <= (1 - confidence) * runs
    assert outside <= (1 - confidence) * runs


def test_bounds_from_the_sizes_are_no_worse_than_the_wished_error() -> None:
    values = Seeded(5).integers(300, 5000)
    ams_size = AmsSketch.size_for(error=0.1, confidence=0.9)
    ams = AmsSketch(width=ams_size["width"], depth=ams_size["depth"]).update(values)
    assert ams.error(0.9) <= 0.1 * ams.estimate() * (1 + 1e-9)
    row_size = CountSketch.size_for(error=0.1, confidence=0.9)
    rows = CountSketch(width=row_size["width"], depth=row_size["depth"]).update(values)
    assert rows.error(0.9) <= 0.1 * sqrt(rows.second_moment()) * (1 + 1e-9)
    narrow = AmsSketch(width=4, depth=1).update(values)
    assert narrow.interval(0.9)[1] == float("inf")


def test_the_error_of_the_smallest_cell_is_the_published_one_at_the_published_sizes() -> None:
    sketch = CountMin(width=1000, depth=5).update(np.arange(100))
    assert sketch.error(1 - e**-5) == pytest.approx(e * 100 / 1000)
    counting = CountingBloomFilter(cells=1000, hashes=5).update(np.arange(100))
    assert counting.error(1 - e**-5) == pytest.approx(5 * e * 100 / 1000)
