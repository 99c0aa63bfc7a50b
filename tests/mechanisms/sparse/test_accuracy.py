"""Accuracy bounds: their published numbers, and how often they fail."""

from __future__ import annotations

from math import isclose, log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse import (
    ABOVE,
    BELOW,
    AboveThreshold,
    NumericSparse,
    Sparse,
    SparseMechanism,
    SparseVector,
    comparison_variance,
    optimal_split,
)
from celosia.mechanisms.sparse.analysis import (
    above_threshold_error,
    numeric_sparse_error,
    sparse_error,
    tight_error,
)


def test_the_published_errors() -> None:
    assert isclose(above_threshold_error(1, queries=1000, failure=0.05), 84.7731, rel_tol=1e-6)
    sparse = {"positives": 5, "queries": 1000}
    assert isclose(sparse_error(1, **sparse, failure=0.05), 488.243, rel_tol=1e-6)
    assert isclose(sparse_error(1, **sparse, failure=0.05, delta=1e-6), 2295.51, rel_tol=3e-6)
    assert isclose(numeric_sparse_error(1, **sparse, failure=0.05), 580.465, rel_tol=1e-6)
    numeric = numeric_sparse_error(1, **sparse, failure=0.05, delta=1e-6)
    assert isclose(numeric, 2595.84, rel_tol=3e-6)


def test_the_tighter_error_and_that_it_is_the_least_of_its_kind() -> None:
    found = tight_error(2, 4, queries=1000, failure=0.05)
    assert isclose(found, 49.42, abs_tol=0.005)

    def total(share: float) -> float:
        return 2 * log(1 / (share * 0.05)) + 4 * log(1000 / ((1 - share) * 0.05))

    least = minimize_scalar(total, bounds=(1e-6, 1 - 1e-6), method="bounded")
    assert isclose(found, least.fun, rel_tol=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_what_a_mechanism_promises_is_never_worse_than_what_was_published(
    confidence: float,
) -> None:
    failure = 1 - confidence
    for positives, queries in [(1, 50), (5, 1000), (20, 20)]:
        printed = sparse_error(1, positives=positives, queries=queries, failure=failure)
        mechanism: SparseMechanism = Sparse(1.0, threshold=0, positives=positives)
        assert mechanism.accuracy(confidence, size=queries) <= printed + 2
        numbers = numeric_sparse_error(1, positives=positives, queries=queries, failure=failure)
        mechanism = NumericSparse(1.0, threshold=0, positives=positives)
        assert mechanism.accuracy(confidence, size=queries) <= numbers + 2
    tight = tight_error(2, 4, queries=1000, failure=failure)
    assert AboveThreshold(1.0, threshold=0).accuracy(confidence, size=1000) <= tight + 2


def test_the_printed_error_of_numeric_sparse_with_a_delta_leaves_out_its_released_noise() -> None:
    # Scales as printed: sigma(epsilon2) = sqrt(32 c ln(2/delta)) (sqrt(512) + 1) / 2 at epsilon 1.
    printed = numeric_sparse_error(1, positives=5, queries=1000, failure=0.05, delta=1e-6)
    released = sqrt(32 * 5 * log(2 / 1e-6)) * (sqrt(512) + 1) / 2
    missed = 1 - (1 - np.exp(-printed / released)) ** 5
    assert missed > 0.05


@pytest.mark.parametrize("positives", [1, 10, 100])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_optimal_split_minimises_the_variance(positives: int, monotone: bool) -> None:
    def variance(log_ratio: float) -> float:
        ratio = float(np.exp(log_ratio))
        return comparison_variance(1, positives=positives, ratio=ratio, monotone=monotone)

    least = minimize_scalar(variance, bounds=(-5, 10), method="bounded", options={"xatol": 1e-10})
    best = optimal_split(positives, monotone=monotone)
    assert isclose(np.exp(least.x), best, rel_tol=1e-5)
    found = comparison_variance(1, positives=positives, monotone=monotone)
    assert isclose(found, 2 * (1 + best) ** 3, rel_tol=1e-9)
    assert found <= comparison_variance(1, positives=positives, ratio=1, monotone=monotone)


@pytest.mark.parametrize(
    ("positives", "monotone", "best", "even", "fraction"),
    [
        (1, False, 5.89, 6.32, 0.38649),
        (10, False, 34.23, 56.64, 0.11950),
        (100, False, 295.3, 565.7, 0.02841),
        (10, True, 18.95, 28.43, 0.17726),
        (100, True, 151.4, 282.8, 0.04436),
    ],
)
def test_the_published_deviations(
    positives: int, monotone: bool, best: float, even: float, fraction: float
) -> None:
    found = sqrt(comparison_variance(1, positives=positives, monotone=monotone))
    split = sqrt(comparison_variance(1, positives=positives, ratio=1, monotone=monotone))
    assert isclose(found, best, rel_tol=1e-3)
    assert isclose(split, even, rel_tol=1e-3)
    ratio = optimal_split(positives, monotone=monotone)
    assert isclose(1 / (1 + ratio), fraction, rel_tol=1e-4)
    drawn = SparseVector(1.0, threshold=0, positives=positives, monotone=monotone).scales
    assert isclose(drawn.threshold, 1 / fraction, rel_tol=1e-4)
    noise = DiscreteLaplace(drawn.threshold).variance + DiscreteLaplace(drawn.query).variance
    assert isclose(sqrt(noise), best, rel_tol=1e-2)  # discrete noise is narrower by about 1/6


@pytest.mark.statistical
def test_the_optimal_split_finds_more_than_an_even_one() -> None:
    answers = np.where(np.arange(200) % 10 == 0, 150, 0)
    truth = set(range(0, 200, 10))
    missed: dict[str | float, int] = {"optimal": 0, 1: 0}
    for split in missed:
        mechanism = SparseVector(1.0, threshold=75, positives=20, split=split, monotone=True)
        rng = Seeded(20)
        for _ in range(200):
            found = mechanism.measure(answers, rng=rng).parts["positions"]
            missed[split] += len(truth - set(found))
    # A run misses 0 to 20, so its variance is at most 100 however its answers hang together; four
    # deviations of the difference of two sums of 200 runs:
    assert missed[1] - missed["optimal"] > 4 * sqrt(2 * 200 * 100)


RUNS = 400


def allowed(failure: float) -> int:
    """Failures in RUNS that a chance of `failure` exceeds once in a million."""
    return int(binom.isf(1e-6, RUNS, failure))


@pytest.mark.statistical
@pytest.mark.parametrize("published", [True, False])
def test_above_threshold_is_as_accurate_as_it_says(published: bool) -> None:
    mechanism = AboveThreshold(1.0, threshold=0)
    error = above_threshold_error(1, queries=50, failure=0.05)
    if not published:
        error = mechanism.accuracy(0.95, size=50)
    alpha = int(error) + 1
    rng = Seeded(18)
    wanted = (BELOW,) * 49 + (ABOVE,)
    answers = [-alpha] * 49 + [alpha]
    failures = sum(mechanism.release(answers, rng=rng) != wanted for _ in range(RUNS))
    assert failures <= allowed(0.05)
    # A tenth of the distance is not enough, or the check above could not fail.
    near = [-alpha // 10] * 49 + [alpha // 10]
    assert sum(mechanism.release(near, rng=rng) != wanted for _ in range(RUNS)) > allowed(0.05)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [
        Sparse(1.0, threshold=0, positives=3),
        NumericSparse(1.0, threshold=0, positives=3),
        SparseVector(1.0, threshold=0, positives=3),
        SparseVector(1.0, threshold=0, positives=3, numeric=0.5),
        Sparse(1.0, threshold=0, positives=3, delta=1e-6),
    ],
    ids=str,
)
def test_the_others_are_as_accurate_as_they_say(mechanism: SparseMechanism) -> None:
    alpha = int(mechanism.accuracy(0.95, size=50)) + 1
    rng = Seeded(19)
    answers = ([-alpha] * 15 + [alpha]) * 3
    wanted = ([False] * 15 + [True]) * 3
    failures = 0
    for _ in range(RUNS):
        replies = mechanism.release(answers, rng=rng)
        right = [reply is not BELOW for reply in replies] == wanted
        numbers = [reply for reply in replies if isinstance(reply, float)]
        failures += not right or any(abs(number - alpha) > alpha for number in numbers)
    assert failures <= allowed(0.05)
