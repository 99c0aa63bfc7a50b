"""Errors of estimates: identities, alignment by value, and what is not defined."""

from __future__ import annotations

from math import isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.collect.simulation.results import measure

COUNTS = st.dictionaries(st.text(max_size=3), st.integers(0, 10**6), min_size=2, max_size=20)


@given(COUNTS, st.randoms(use_true_random=False))
def test_the_identities_of_the_metrics_hold_and_order_changes_nothing(
    real: dict[str, int], random: object
) -> None:
    estimated = {value: count + 10 * len(value) - 7.5 for value, count in real.items()}
    users = sum(real.values()) + 1
    found = measure(real, estimated, users=users)
    assert isclose(found.rmse**2, found.mse)
    assert found.percent_error is not None
    assert isclose(found.percent_error, 100 * found.mean_error / users)
    assert isclose(found.errors, found.mean_error * found.values)
    spread = max(real.values()) - min(real.values())
    if spread:
        assert found.nmse is not None
        assert found.nrmse is not None
        assert found.table_nrmse is not None
        assert isclose(found.nmse * spread, found.mse)
        assert isclose(found.nrmse, found.rmse / spread)
        assert isclose(found.table_nrmse, sqrt(found.nmse))
    else:
        assert found.nmse is found.nrmse is found.table_nrmse is found.pearson is None
    shuffled = list(estimated.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert measure(real, dict(shuffled), users=users) == found
    assert measure(dict(reversed(real.items())), estimated, users=users) == found


def test_metrics_agree_with_numpy() -> None:
    random = np.random.default_rng(5)
    truth = random.integers(0, 1000, 40)
    guess = truth + random.normal(0, 30, 40)
    found = measure(
        dict(enumerate(truth.tolist())), dict(enumerate(guess.tolist())), users=int(truth.sum())
    )
    assert found.mse == pytest.approx(np.mean((truth - guess) ** 2))
    assert found.errors == pytest.approx(np.abs(truth - guess).sum())
    assert found.pearson == pytest.approx(np.corrcoef(truth, guess)[0, 1])
    assert found.relative_error == pytest.approx(
        np.median((np.abs(truth - guess) / np.maximum(truth, 1))[truth > 0])
    )


def test_correlating_counts_in_another_order_would_be_found() -> None:
    # Published tables correlated sorted true counts with estimates in the order first seen.
    real = dict(enumerate([50, 30, 10, 5, 5]))
    estimated = {value: float(real[value]) for value in (3, 1, 4, 0, 2)}
    assert measure(real, estimated).pearson == pytest.approx(1)
    assert np.corrcoef(list(real.values()), list(estimated.values()))[0, 1] < 0.9


def test_a_candidate_that_nobody_has_counts_with_zero() -> None:
    found = measure({"a": 10}, {"a": 10, "z": 4}, users=10)
    assert (found.errors, found.values, found.mse) == (4, 2, 8)


def test_precision_looks_at_the_most_common_values() -> None:
    real = {"a": 50, "b": 30, "c": 10, "d": 10, "e": 1}
    assert measure(real, {"a": 9, "b": 8, "c": 7, "d": 6, "e": 5}, top=3).top_precision == 1
    assert (
        measure(real, {"a": 9, "b": 8, "d": 7, "c": 6, "e": 5}, top=3).top_precision == 1
    )  # a tie
    assert measure(real, {"a": 9, "e": 8, "d": 7, "c": 6, "b": 5}, top=3).top_precision == 2 / 3
    assert measure(real, {"q": 1.0}, top=3).top == 1


def test_without_users_or_estimates_nothing_is_made_up() -> None:
    assert measure({"a": 5}, {"a": 6}).percent_error is None
    empty = measure({"a": 5}, {})
    assert (empty.values, empty.errors, empty.pearson, empty.top) == (0, 0, None, 0)
