"""Groups along a line: the spec's ages, every cut of small lines, and what holds of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.masking.microaggregation.plain_groups import as_groups, error, least_error_of_line

from celosia.core.errors import InputError
from celosia.tables.masking.microaggregation import (
    fixed_groups,
    information_loss,
    mdav_groups,
    optimal_groups,
)

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]

lines = st.integers(2, 4).flatmap(
    lambda k: st.tuples(
        st.just(k), st.lists(st.integers(-50, 50), min_size=k, max_size=12 if k > 2 else 10)
    )
)


def error_of(values: Any, labels: Any) -> float:
    return error([[float(v)] for v in values], as_groups(labels))


def test_the_ages_of_the_worked_example_in_pairs() -> None:
    labels = optimal_groups(AGES, 2)
    groups = sorted(sorted(AGES[r] for r in rows) for rows in as_groups(labels))
    assert groups == [[21, 22], [25, 29], [36, 43], [45, 48], [58, 72]]
    assert error_of(AGES, labels) == pytest.approx(135.5, abs=1e-9)
    assert information_loss(AGES, labels) == pytest.approx(100 * 135.5 / 2492.9, abs=1e-9)
    assert fixed_groups(AGES, 2).tolist() == labels.tolist()


@pytest.mark.parametrize(("k", "best"), [(2, 135.5), (3, 374.083), (4, 724.0), (5, 724.0)])
def test_the_least_error_of_the_worked_example(k: int, best: float) -> None:
    assert error_of(AGES, optimal_groups(AGES, k)) == pytest.approx(best, abs=5e-4)


@pytest.mark.parametrize(("k", "found"), [(2, 135.5), (3, 458.083), (4, 818.083)])
def test_the_error_of_mdav_in_the_worked_example(k: int, found: float) -> None:
    labels = mdav_groups([[age] for age in AGES], k)
    assert error_of(AGES, labels) == pytest.approx(found, abs=5e-4)


@given(lines)
@settings(max_examples=60, deadline=None)
def test_no_cut_has_a_smaller_error(case: tuple[Any, ...]) -> None:
    k, values = case
    labels = optimal_groups(values, k)
    assert error_of(values, labels) == pytest.approx(least_error_of_line(values, k), abs=1e-6)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@given(lines)
@settings(max_examples=60, deadline=None)
def test_the_optimum_is_no_worse_than_fixed_groups_or_mdav(case: tuple[Any, ...]) -> None:
    k, values = case
    best = error_of(values, optimal_groups(values, k))
    assert best <= error_of(values, fixed_groups(values, k)) + 1e-6
    assert best <= error_of(values, mdav_groups([[v] for v in values], k)) + 1e-6


def test_the_least_error_never_falls_as_k_grows() -> None:
    values = np.random.default_rng(5).normal(size=200)
    errors = [error_of(values, optimal_groups(values, k)) for k in range(2, 40)]
    assert errors == sorted(errors)


def test_fixed_groups_leave_the_rest_to_the_last() -> None:
    assert fixed_groups([5, 1, 4, 2, 3, 6, 7], 2).tolist() == [2, 0, 1, 0, 1, 2, 2]
    assert fixed_groups([3, 1, 2], 3).tolist() == [0, 0, 0]


def test_equal_values_are_taken_in_the_order_given() -> None:
    assert fixed_groups([7, 7, 7, 7], 2).tolist() == [0, 0, 1, 1]
    # Every cut of equal values costs nothing; the smaller last group is taken.
    assert optimal_groups([7, 7, 7, 7, 7], 2).tolist() == [0, 0, 0, 1, 1]


def test_far_off_values_with_little_spread_keep_their_digits() -> None:
    small = [0, 1, 10, 11, 20, 21, 22]
    assert (
        optimal_groups([2.0**50 + v for v in small], 2).tolist()
        == optimal_groups(small, 2).tolist()
    )


def test_huge_values_are_cut_as_small_ones() -> None:
    huge = [age * 2.0**1000 for age in AGES]
    assert optimal_groups(huge, 3).tolist() == optimal_groups(AGES, 3).tolist()


def test_many_values_are_cut_into_runs() -> None:
    values = np.random.default_rng(3).normal(size=300_000)
    labels = optimal_groups(values, 5)
    assert np.bincount(labels).min() >= 5
    order = np.argsort(values, kind="stable")
    assert (np.diff(labels[order]) >= 0).all()


@pytest.mark.parametrize("groups", [fixed_groups, optimal_groups])
@pytest.mark.parametrize(
    ("values", "k", "code"),
    [
        ([1, 2, 3], 1, "CEL-V100"),
        ([1, 2, 3], 2.5, "CEL-V100"),
        ([1, 2, 3], True, "CEL-V100"),
        ([1, 2, 3], 4, "CEL-V101"),
        ([], 2, "CEL-V101"),
        ([[1, 2], [3, 4]], 2, "CEL-V102"),
        ([1, float("nan"), 3], 2, "CEL-V103"),
    ],
)
def test_what_cannot_be_grouped_is_refused(
    groups: Callable[..., Any], values: Any, k: int, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        groups(values, k)
    assert caught.value.code == code
