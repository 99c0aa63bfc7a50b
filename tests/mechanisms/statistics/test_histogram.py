"""Noisy counts of declared bins."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, nan, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exact_laws import (
    RELATIONS,
    Release,
    measured,
    pairs,
    worst_log_ratio,
)
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.losses import ComposedLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.statistics.histogram import Histogram

__all__ = ["measured"]


@RELATIONS
@pytest.mark.parametrize("other", [False, True])
def test_the_exact_loss_of_all_bins_together_is_epsilon(
    neighbours: Neighbours, other: bool, measured: Release
) -> None:
    histogram = Histogram(
        epsilon=0.7, edges=[0, 1, 2, 3], other=other, neighbours=neighbours, may_be_empty=True
    )
    bins = len(histogram.labels)
    worst = 0.0
    for one, two in pairs([-1, 0, 1, 3, 7], 2, neighbours.relation):
        exact = [measured(histogram, table, [0] * bins).value.tolist() for table in (one, two)]
        worst = max(worst, worst_log_ratio(exact[0], exact[1], [histogram.noise.scale] * bins))
    assert worst == pytest.approx(0.7, rel=1e-12)
    assert histogram.privacy_loss().pure == 0.7


def test_disjoint_bins_run_in_parallel_unless_rows_are_changed(measured: Release) -> None:
    # Counts at (0.1, 0.7, 0.3) of a partition into three cost 0.7 together if a row is added or
    # removed, and 0.7 + 0.3 if one is changed.
    histogram = Histogram(epsilon=1, categories=[0, 1, 2], may_be_empty=True)
    scales = [1 / Fraction(price) for price in ("0.1", "0.7", "0.3")]
    for relation, expected in ((ADD_REMOVE, 0.7), (CHANGE_ONE, 1.0)):
        losses = [
            worst_log_ratio(
                measured(histogram, one, [0] * 3).value.tolist(),
                measured(histogram, two, [0] * 3).value.tolist(),
                scales,
            )
            for one, two in pairs([0, 1, 2], 3, relation.relation)
        ]
        assert max(losses) == pytest.approx(expected, rel=1e-12)


def test_one_row_more_moves_one_bin_by_one(measured: Release) -> None:
    histogram = Histogram(epsilon=1, edges=[0, 10, 20, 30], other=True)
    rows = [5.0, 5.0, 15.0, 99.0]
    before = measured(histogram, rows, [0] * 4).value
    assert before.tolist() == [2, 1, 0, 1]
    for row in (0, 10, 29.9, 30, -1, 31):
        change = measured(histogram, [*rows, row], [0] * 4).value - before
        assert sorted(change.tolist()) == [0, 0, 0, 1]


def test_changing_a_row_doubles_the_noise() -> None:
    bins: dict[str, Any] = {"epsilon": 0.5, "categories": ["a", "b", "c"]}
    added, changed = Histogram(**bins), Histogram(**bins, neighbours=CHANGE_ONE)
    assert [float(each.noise.scale) for each in (added, changed)] == [2, 4]
    assert (added.sensitivity, changed.sensitivity) == (1, 2)
    assert added.privacy_loss() == LaplaceLoss(Fraction(2), 1)
    assert changed.privacy_loss() == ComposedLoss((LaplaceLoss(Fraction(4), 1),) * 2)
    alone = Histogram(epsilon=0.5, categories=["a"], neighbours=CHANGE_ONE)
    assert alone.noise.scale == 2  # with one bin there is no second one to move


@pytest.mark.statistical
def test_empty_bins_get_the_same_noise_as_full_ones() -> None:
    bins, scale = 4000, 5.0
    histogram = Histogram(epsilon=1 / scale, categories=list(range(bins)))
    rows = np.repeat(np.arange(bins // 2), 3)
    found = histogram.release(rows, rng=Seeded(4)).astype(float)
    for noise in (found[: bins // 2] - 3, found[bins // 2 :]):
        # E|Z| = 2 q / (1 - q^2), and its standard deviation is below 1.05 of the scale.
        q = exp(-1 / scale)
        error = 4 * 1.05 * scale / sqrt(bins / 2)
        assert abs(np.abs(noise).mean() - 2 * q / (1 - q * q)) < error
        assert abs(noise.mean()) < error * sqrt(2)


@given(
    st.lists(st.floats(-10, 10), max_size=40),
    st.sets(st.floats(-9, 9), min_size=2, max_size=8),
)
def test_rows_fall_into_the_bins_that_numpy_says(rows: list[float], edges: set[float]) -> None:
    histogram = Histogram(epsilon=1, edges=sorted(edges), other=True, may_be_empty=True)
    expected, _ = np.histogram(rows, bins=sorted(edges))
    counts = histogram.counts(rows)
    assert counts[:-1].tolist() == expected.tolist()
    assert counts.sum() == len(rows)
    plain = Histogram(epsilon=1, edges=sorted(edges), may_be_empty=True)
    assert plain.counts(rows).tolist() == expected.tolist()


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.booleans())
def test_rows_fall_into_their_category_or_into_none(rows: list[str], other: bool) -> None:
    histogram = Histogram(epsilon=1, categories=["c", "a"], other=other, may_be_empty=True)
    expected = [rows.count("c"), rows.count("a"), len(rows) - rows.count("a") - rows.count("c")]
    for column in (rows, pl.Series(rows, dtype=pl.String)):
        assert histogram.counts(column).tolist() == expected[: 3 if other else 2]


def test_a_row_of_no_bin_is_never_an_error() -> None:
    release = Histogram(epsilon=1, categories=[1, 2]).release
    assert release([1, 2, 3], rng=Seeded(1)).shape == (2,)
    assert Histogram(epsilon=1, edges=[0, 1]).release([-1e300, 5], rng=Seeded(1)).shape == (1,)


def test_rows_of_another_kind_than_the_categories_are_refused() -> None:
    for rows in (["1", "2"], [True, False]):
        with pytest.raises(InputError) as caught:
            Histogram(epsilon=1, categories=[1, 2]).release(rows, rng=ForbiddenSource())
        assert caught.value.code == "CEL-M083"


@pytest.mark.parametrize(
    "bins",
    [
        {},
        {"edges": [0, 1], "categories": ["a"]},
        {"edges": [0]},
        {"edges": [0, 0]},
        {"edges": [1, 0]},
        {"edges": [0, nan]},
        {"edges": [0, inf]},
        {"edges": ["0", 1]},
        {"edges": 5},
        {"categories": []},
        {"categories": "ab"},
        {"categories": ["a", "a"]},
        {"categories": ["a", 1]},
        {"categories": [1, True]},
        {"categories": [None]},
        {"categories": [0.5]},
        {"categories": ["a", "other"], "other": True},
    ],
)
def test_bins_that_are_none_are_refused(bins: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Histogram(epsilon=1, **bins)
    assert caught.value.code == "CEL-M086"


def test_bins_cannot_be_changed_after_they_were_checked() -> None:
    edges = [0.0, 1.0]
    histogram = Histogram(epsilon=1, edges=edges)
    edges.append(nan)
    assert histogram.labels == ("[0, 1]",)


def test_ten_thousand_names_are_off_by_about_twelve() -> None:
    # The continuous bound is ln(10000 / 0.05) = 12.206 at epsilon 1 (12.18 without the union
    # bound); on whole numbers q^(t+1) 2 / (1 + q) <= 1 - 0.95^(1/10000) first holds at t = 12.
    histogram = Histogram(epsilon=1, categories=list(range(10_000)))
    q = exp(-1)
    outside = [2 * q ** (t + 1) / (1 + q) for t in (11, 12)]
    assert (1 - outside[1]) ** 10_000 >= 0.95 > (1 - outside[0]) ** 10_000
    assert histogram.accuracy(0.95) == 12


@pytest.mark.statistical
def test_bounds_of_all_bins_hold_together() -> None:
    runs, confidence = 800, 0.9
    rng = Seeded(17)
    histogram = Histogram(epsilon=0.2, categories=["a", "b", "c", "d"], neighbours=CHANGE_ONE)
    rows = ["a"] * 70 + ["b"] * 60 + ["d"]
    hits = 0
    for _ in range(runs):
        found = histogram.measure(rows, rng=rng)
        low, high = histogram.interval(found, confidence)
        assert np.all(low >= np.minimum(found.value, 0))
        assert high.min() >= 0
        exact = np.array([70, 60, 0, 1])
        hits += bool(np.all((low <= exact) & (exact <= high)))
    # Two of the bins are cut off at zero, so they may hold a little more often.
    assert hits / runs > confidence - 4 * sqrt(confidence * (1 - confidence) / runs)


def test_a_million_rows_take_one_vectorised_call() -> None:
    rows = np.tile(np.arange(1000.0), 1000)
    found = Histogram(epsilon=1, edges=list(range(1001))).release(rows, rng=Seeded(1))
    assert np.abs(found - 1000).max() < 40  # a draw beyond it: 1000 e^-40
