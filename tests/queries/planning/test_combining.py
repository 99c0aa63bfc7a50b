"""Means and variances from totals: their bounds hold for every total within its own bounds."""

from __future__ import annotations

import statistics
from fractions import Fraction
from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.queries.algebra import Aggregate
from celosia.queries.planning.aggregates import Derivation
from celosia.queries.results import estimate

UNIT = Fraction(1)
VALUES = st.lists(st.integers(-4, 6), min_size=1, max_size=8)
SLACK = st.integers(0, 6)


def recipe(kind: str, *, sample: bool = False) -> Derivation:
    return Derivation(
        aggregate=Aggregate(kind, "a", sample=sample),  # type: ignore[arg-type]
        label=kind,
        totals=("s", "n") if kind == "mean" else ("s", "q", "n"),
        centre=Fraction(1),
        bounds=(Fraction(-4), Fraction(6)),
    )


@given(values=VALUES, slack=st.tuples(SLACK, SLACK, SLACK), infinite=st.booleans())
def test_bounds_hold_the_exact_mean_and_variance(
    values: list[int], slack: tuple[int, int, int], infinite: bool
) -> None:
    centred = [each - 1 for each in values]
    totals = [sum(centred), sum(each**2 for each in centred), len(values)]
    bounds = [
        (total - off, inf if infinite else total + off)
        for total, off in zip(totals, slack, strict=True)
    ]
    mean = sum(values) / len(values)
    variance = sum(each**2 for each in values) / len(values) - mean**2
    value, found = estimate(
        recipe("mean"), [totals[0], totals[2]], [bounds[0], bounds[2]], [UNIT] * 2
    )
    assert value == pytest.approx(mean)
    assert found is not None
    assert found[0] - 1e-9 <= mean <= found[1] + 1e-9
    for kind, truth in (("variance", variance), ("deviation", sqrt(max(variance, 0)))):
        value, found = estimate(recipe(kind), totals, bounds, [UNIT] * 3)
        assert value == pytest.approx(truth, abs=1e-6)
        assert found is not None
        assert found[0] - 1e-6 <= truth <= found[1] + 1e-6


@given(values=VALUES, slack=st.tuples(SLACK, SLACK, SLACK), infinite=st.booleans())
def test_a_sample_has_the_variance_of_the_statistics_module(
    values: list[int], slack: tuple[int, int, int], infinite: bool
) -> None:
    centred = [each - 1 for each in values]
    totals = [sum(centred), sum(each**2 for each in centred), len(values)]
    bounds = [
        (total - off, inf if infinite else total + off)
        for total, off in zip(totals, slack, strict=True)
    ]
    for kind, truth in (("variance", statistics.variance), ("deviation", statistics.stdev)):
        value, found = estimate(recipe(kind, sample=True), totals, bounds, [UNIT] * 3)
        assert found is not None
        if len(values) == 1:
            assert value is None  # one row has none: n - 1 is 0
            continue
        assert value == pytest.approx(truth(values), abs=1e-6)
        assert found[0] - 1e-6 <= truth(values) <= found[1] + 1e-6


@pytest.mark.parametrize("count", [-3, 0, 1])
def test_a_noisy_number_of_rows_below_two_gives_a_sample_no_variance(count: int) -> None:
    bounds = [(0, 9), (0, 9), (count - 5, count + 5)]
    value, found = estimate(recipe("variance", sample=True), [3, 9, count], bounds, [UNIT] * 3)
    assert value is None
    assert found is not None
    # Two rows at the ends of a range of 10 have the largest variance that there is: 50.
    assert found == (0.0, 50.0)


def test_no_rows_have_no_mean() -> None:
    value, found = estimate(recipe("mean"), [5, 0], [(0, 9), (-3, 3)], [UNIT] * 2)
    assert (value, found) == (None, (-4.0, 6.0))


def test_without_public_bounds_of_a_total_there_are_none_of_the_mean() -> None:
    assert estimate(recipe("mean"), [5, 4], [None, None], [UNIT] * 2)[1] is None
