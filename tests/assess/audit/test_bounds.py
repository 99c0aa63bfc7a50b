"""Bounds of probabilities and of epsilon, against their definition."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from celosia.assess.audit.bounds import Estimate, clopper_pearson, epsilon_below, promise


@given(st.integers(1, 400), st.data(), st.sampled_from([0.05, 0.0005, 1e-9]))
def test_each_bound_is_where_the_binomial_tail_is_the_error(
    samples: int, data: st.DataObject, error: float
) -> None:
    seen = data.draw(st.integers(0, samples))
    found = clopper_pearson(seen, samples, error=error)
    assert found.low <= found.share <= found.high
    if seen:
        assert binom.sf(seen - 1, samples, found.low) == pytest.approx(error, rel=1e-6)
    else:
        assert found.low == 0
    if seen < samples:
        assert binom.cdf(seen, samples, found.high) == pytest.approx(error, rel=1e-6)
    else:
        assert found.high == 1


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5, 0.97])
def test_a_bound_is_wrong_no_oftener_than_it_says(probability: float) -> None:
    samples, error = 60, 0.05
    masses = binom.pmf(np.arange(samples + 1), samples, probability)
    bounds = [clopper_pearson(seen, samples, error=error) for seen in range(samples + 1)]
    assert sum(m for m, b in zip(masses, bounds, strict=True) if b.low > probability) <= error
    assert sum(m for m, b in zip(masses, bounds, strict=True) if b.high < probability) <= error


def test_epsilon_is_the_log_ratio_of_the_bounds_less_delta() -> None:
    more, less = Estimate(50, 100, 0.4, 0.6), Estimate(10, 100, 0.05, 0.2)
    assert epsilon_below(more, less, delta=0) == pytest.approx(log(2))
    assert epsilon_below(more, less, delta=0.1) == pytest.approx(log(1.5))
    assert epsilon_below(more, less, delta=0.4) == 0
    assert epsilon_below(less, more, delta=0) == 0


def test_no_two_exact_laws_that_keep_epsilon_violate_it_too_often() -> None:
    # All outcomes of 30 + 30 samples of an event of chance 0.6 and 0.6/e: exhaustive.
    samples, error, epsilon = 30, 0.05, 1.0
    likely = binom.pmf(np.arange(samples + 1), samples, 0.6)
    rare = binom.pmf(np.arange(samples + 1), samples, 0.6 / np.e)
    wrong = sum(
        likely[i] * rare[j]
        for i in range(samples + 1)
        for j in range(samples + 1)
        if epsilon_below(
            clopper_pearson(i, samples, error=error / 2),
            clopper_pearson(j, samples, error=error / 2),
            delta=0,
        )
        > epsilon
    )
    assert wrong <= error


def test_a_promise_orders_events_as_the_exact_bounds_do() -> None:
    more, less = np.array([500, 50, 300, 0]), np.array([180, 18, 0, 0])
    found = promise(more, less, 1000, delta=0.0, error=0.0005)
    exact = [
        epsilon_below(
            clopper_pearson(int(m), 1000, error=0.0005),
            clopper_pearson(int(n), 1000, error=0.0005),
            delta=0,
        )
        for m, n in zip(more, less, strict=True)
    ]
    assert np.argmax(found) == np.argmax(exact) == 2
    assert found[0] > found[1]
    assert found[3] == -inf
    assert promise(more, less, 1000, delta=0.6, error=0.0005).max() == -inf


def test_an_estimate_tells_itself() -> None:
    found = Estimate(1, 4, 0.1, 0.7)
    assert str(found) == "0.25 (from 0.1 to 0.7)"
    assert found.as_dict() == {"seen": 1, "samples": 4, "share": 0.25, "low": 0.1, "high": 0.7}
