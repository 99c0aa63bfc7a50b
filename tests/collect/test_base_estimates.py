"""Estimates and their post-processing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.stats import norm

from celosia.collect.estimates import POSTS, Estimates, post_process
from celosia.core.errors import InputError

COUNTS = arrays(np.float64, st.integers(1, 12), elements=st.floats(-1e6, 1e6))


def example() -> Estimates:
    counts, raw = np.array([60.0, 40.0, 0.0]), np.array([61.0, 44.0, -5.0])
    return Estimates("cms", ("a", "b", 3), counts, np.array([2.0, 1.0, 3.0]), 100, "norm-sub", raw)


def test_intervals_are_around_the_raw_counts() -> None:
    low, high = example().interval(0.9)
    reach = norm.ppf(0.95) * np.array([2.0, 1.0, 3.0])
    assert low == pytest.approx(example().raw - reach)
    assert high == pytest.approx(example().raw + reach)


def test_intervals_that_hold_together_are_wider_by_bonferroni() -> None:
    _, high = example().interval(0.9, together=True)
    assert high - example().raw == pytest.approx(norm.isf(0.05 / 3) * example().errors)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, "high"])
def test_a_confidence_out_of_range_is_refused(confidence: float) -> None:
    with pytest.raises(InputError):
        example().interval(confidence)


def test_estimates_are_read_as_numbers_tables_and_plain_values() -> None:
    found = example()
    assert found["b"] == 40
    assert dict(found) == {"a": 60, "b": 40, 3: 0}
    assert found.shares.tolist() == [0.6, 0.4, 0]
    assert found.frame()["value"].to_list() == ["a", "b", "3"]
    assert found.frame().columns == ["value", "count", "share", "error", "low", "high"]
    assert json.loads(json.dumps(found.as_dict()))["counts"] == [60, 40, 0]
    assert str(found) == "3 estimates from 100 reports (cms)"


@given(COUNTS)
def test_norm_sub_is_the_nearest_histogram(counts: np.ndarray) -> None:
    made = post_process(counts, 1000, kind="norm-sub")
    assert (made >= 0).all()
    assert made.sum() == pytest.approx(1000, rel=1e-6)
    # The conditions of optimality of a projection onto the simplex: one shift for all above 0,
    # and those at 0 would go below it by that shift.
    above = made > 0
    shifts = (counts - made)[above]
    assert shifts == pytest.approx(np.full(above.sum(), shifts[0]), abs=1e-6)
    assert (counts[~above] <= shifts[0] + 1e-6).all()


def test_norm_sub_agrees_with_a_general_optimiser() -> None:
    counts = np.array([500.0, 420.0, 90.0, -60.0, -300.0])
    best = minimize(
        lambda x: ((x - counts) ** 2).sum(),
        np.full(5, 200.0),
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1000},
        method="SLSQP",
    )
    assert post_process(counts, 1000, kind="norm-sub") == pytest.approx(best.x, abs=1e-3)


@given(COUNTS)
def test_clipping_raises_what_is_below_zero_and_raw_changes_nothing(counts: np.ndarray) -> None:
    assert (post_process(counts, 10, kind="clip") == np.maximum(counts, 0)).all()
    raw = post_process(counts, 10, kind="raw")
    assert (raw == counts).all()
    assert raw is not counts


@pytest.mark.parametrize("kind", POSTS)
def test_no_candidates_make_no_estimates(kind: str) -> None:
    assert post_process(np.empty(0), 10, kind=kind).size == 0
