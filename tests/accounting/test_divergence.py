"""Divergences of finite distributions against all events."""

from __future__ import annotations

from itertools import combinations
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.accounting.divergence import (
    approximate_max_divergence,
    both_directions,
    hockey_stick,
    max_divergence,
)
from celosia.core.errors import InputError

weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def normal(values: list[int]) -> list[float]:
    return [value / sum(values) for value in values]


def events(size: int) -> list[tuple[int, ...]]:
    return [event for length in range(1, size + 1) for event in combinations(range(size), length)]


@given(weights, weights, st.sampled_from([0.0, 0.01, 0.1, 0.3]))
def test_the_divergence_is_the_largest_over_all_events_of_the_first_support(
    one: list[int], two: list[int], delta: float
) -> None:
    upper, lower = normal(one), normal(two)
    largest = 0.0
    for event in events(4):
        if any(upper[i] == 0 for i in event):
            continue  # not in the support of the first
        above, below = sum(upper[i] for i in event), sum(lower[i] for i in event)
        if above > delta + 1e-12:
            largest = inf if below == 0 else max(largest, log((above - delta) / below))
        if largest == inf:
            break
    found = approximate_max_divergence(upper, lower, delta=delta)
    assert found == (inf if largest == inf else pytest.approx(largest, abs=1e-9))


@given(weights, weights, st.floats(0, 3))
def test_the_hockey_stick_is_the_largest_excess_over_all_events(
    one: list[int], two: list[int], epsilon: float
) -> None:
    upper, lower = normal(one), normal(two)
    excess = [sum(upper[i] - exp(epsilon) * lower[i] for i in event) for event in events(4)]
    assert hockey_stick(upper, lower, epsilon=epsilon) == pytest.approx(
        max(0.0, *excess), abs=1e-12
    )


@given(weights, weights, st.floats(0.001, 0.6))
def test_the_two_are_inverse(one: list[int], two: list[int], delta: float) -> None:
    upper, lower = normal(one), normal(two)
    epsilon = approximate_max_divergence(upper, lower, delta=delta)
    if epsilon < inf:
        assert hockey_stick(upper, lower, epsilon=epsilon) <= delta + 1e-9


def test_an_outcome_that_only_one_can_give_is_an_infinite_loss() -> None:
    """Events of both supports only (the printed definition) would find a loss of 0 here."""
    one, two = [0.19673, 0.80327, 0.0], [0.0, 0.80327, 0.19673]
    assert max_divergence(one, two) == inf
    assert both_directions(one, two) == inf
    assert approximate_max_divergence(one, two, delta=0.19673) == 0
    assert hockey_stick(one, two, epsilon=800.0) == 0.19673


def test_directions_differ() -> None:
    one, two = [0.5, 0.5], [1.0, 0.0]
    assert max_divergence(one, two) == inf
    assert max_divergence(two, one) == pytest.approx(log(2))


def test_randomised_response_loses_log_three() -> None:
    assert both_directions([0.75, 0.25], [0.25, 0.75]) == pytest.approx(log(3))
    assert both_directions({"yes": 0.75, "no": 0.25}, {"no": 0.75, "yes": 0.25}) == pytest.approx(
        log(3)
    )


def test_mappings_may_lack_outcomes() -> None:
    assert max_divergence({"a": 1.0}, {"a": 0.5, "b": 0.5}) == pytest.approx(log(2))
    assert max_divergence({"a": 0.5, "b": 0.5}, {"a": 1.0}) == inf


@pytest.mark.parametrize(
    ("one", "two", "code"),
    [
        ([1.0], [0.5, 0.5], "CEL-B013"),
        ([0.5, 0.4], [0.5, 0.5], "CEL-B013"),
        ([], [], "CEL-B013"),
        ({"a": 1.0}, [1.0], "CEL-B013"),
        ([1.5, -0.5], [0.5, 0.5], "CEL-I060"),
    ],
)
def test_what_is_no_pair_of_distributions_is_refused(one: object, two: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        max_divergence(one, two)  # type: ignore[arg-type]
    assert caught.value.code == code
