"""The mean by the exponential mechanism: its law, its price on tiny tables, its error."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import laplace
from tests.mechanisms.forbidden_source import ForbiddenSource
from tests.mechanisms.selection_oracles import (
    FALSE_ALARM,
    loss_span,
    one_changed,
    one_more,
    p_value,
    small_tables,
    softmax,
)

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.statistics.exponential_mean import ExponentialMean

POINTS = 4


def on_points(epsilon: float = 1, points: int = POINTS) -> ExponentialMean:
    """A mean on the whole numbers from 0 to `points` - 1."""
    return ExponentialMean(
        epsilon=epsilon, lower=0, upper=points - 1, grid=Grid(Fraction(1)), may_be_empty=True
    )


@given(st.lists(st.integers(0, 9), max_size=12), st.sampled_from([0.1, 1, 5]))
def test_the_chances_are_those_of_every_point_scored_by_itself(
    table: list[int], epsilon: float
) -> None:
    scores = [-abs(sum(value - point for value in table)) for point in range(10)]
    found = on_points(epsilon, 10).probabilities(table)
    assert found == pytest.approx(softmax(scores, epsilon / 18))


@pytest.mark.parametrize("neighbours", [one_more, one_changed])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_no_neighbour_is_told_apart_by_more_than_epsilon(neighbours, epsilon: float) -> None:  # type: ignore[no-untyped-def]
    mechanism = on_points(epsilon)
    worst = 0.0
    for table in small_tables(POINTS, 4):
        law = mechanism.probabilities(table)
        for other in neighbours(table, POINTS):
            loss, span = loss_span(law, mechanism.probabilities(other))
            assert span <= epsilon * (1 + 1e-9)
            worst = max(worst, loss)
    assert 0.3 * epsilon < worst <= epsilon * (1 + 1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("table", "epsilon"),
    [
        ([3, 9], 1),  # flat: any point is a fair proposal
        ([3, 9, 19], 8),  # peaked, far from a grid point
        ([0] * 30, 1),  # peaked at the lower bound
        ([19] * 29 + [18], 1),  # peaked just below the upper bound
        ([7] * 40 + [8] * 60, 2),  # each step is a chance of exp(-5)
        ([5] * 300 + [6] * 301, 1.5),  # a step is certain: only the two points beside the mean
    ],
)
def test_draws_follow_the_chances(table: list[int], epsilon: float) -> None:
    mechanism, rng = on_points(epsilon, 20), Seeded(51)
    drawn = np.array([mechanism.release(table, rng=rng) for _ in range(1500)]).astype(int)
    assert p_value(drawn, mechanism.probabilities(table)) > FALSE_ALARM
    assert set(drawn.tolist()) <= set(range(20))


@pytest.mark.statistical
@pytest.mark.parametrize(("table", "epsilon"), [([1, 2, 3], 1.2), ([4, 5] * 10, 1)])
def test_draws_follow_no_other_epsilon(table: list[int], epsilon: float) -> None:
    mechanism, rng = on_points(epsilon, 20), Seeded(52)
    drawn = np.array([mechanism.release(table, rng=rng) for _ in range(4000)]).astype(int)
    assert p_value(drawn, mechanism.probabilities(table)) > FALSE_ALARM
    for factor in (0.7, 1.4):
        other = on_points(factor * epsilon, 20).probabilities(table)
        assert p_value(drawn, other) < FALSE_ALARM


@pytest.mark.statistical
def test_an_empty_table_has_a_uniform_answer_where_it_may_be_empty() -> None:
    mechanism, rng = on_points(points=8), Seeded(53)
    drawn = np.array([mechanism.release([], rng=rng) for _ in range(1500)]).astype(int)
    assert mechanism.probabilities([]).tolist() == [1 / 8] * 8
    assert p_value(drawn, [1 / 8] * 8) > FALSE_ALARM


@pytest.mark.parametrize(
    ("rows", "mean", "epsilon", "error"),
    [
        (1000, 2 / 7, 1, 0.00200),
        (100, 2 / 7, 0.1, 0.150),
        (20, 0.26, 0.1, 0.264),
        (20, 0.26, 0.01, 0.303),
    ],
)
def test_the_mean_error_is_that_of_the_published_table(
    rows: int, mean: float, epsilon: float, error: float
) -> None:
    # Only the sum and the number of rows matter. Beta(2, 5) values have the mean 2/7; that of the
    # one table of twenty is not told, and follows from its last figure: m^2 + (1 - m)^2 = 2 * 0.303
    # for a nearly uniform answer gives 0.27, and its slight slope 0.26.
    mechanism = ExponentialMean(epsilon=epsilon, lower=0, upper=1, grid=Grid(Fraction(1, 2**14)))
    points = np.arange(2**14 + 1) / 2**14
    found = mechanism.probabilities([mean] * rows) @ np.abs(points - mean)
    # Three digits, and a sample mean that lies within a deviation of 0.016 of 2/7 for a hundred.
    assert found == pytest.approx(error, rel=0.01)


def test_it_is_a_laplace_law_cut_off_at_the_bounds() -> None:
    # Redrawing mean + Laplace(2 range / (epsilon n)) until it lies in the range is the same law.
    mechanism = ExponentialMean(epsilon=1, lower=0, upper=1, grid=Grid(Fraction(1, 2**16)))
    ends = (np.arange(2**16 + 1) + 0.5) / 2**16
    found = np.cumsum(mechanism.probabilities([0.25] * 10))
    law = laplace(loc=0.25, scale=2 / 10)
    cut = (law.cdf(ends) - law.cdf(0)) / (law.cdf(1) - law.cdf(0))
    assert np.abs(found - np.minimum(cut, 1)).max() < 1e-4  # a few steps of 2^-16
    half = laplace(loc=0.25, scale=1 / 10)
    cut = (half.cdf(ends) - half.cdf(0)) / (half.cdf(1) - half.cdf(0))
    assert np.abs(found - np.minimum(cut, 1)).max() > 0.05


@pytest.mark.parametrize("rows", [1, 10, 1000])
@pytest.mark.parametrize("place", [0, 0.3, 0.5004, 1])
def test_the_error_stays_within_the_bound(rows: int, place: float) -> None:
    mechanism = ExponentialMean(epsilon=1, lower=0, upper=1, grid=Grid(Fraction(1, 1000)))
    bound = mechanism.accuracy(0.9, size=rows)
    points = np.arange(1001) / 1000
    chances = mechanism.probabilities([place] * rows)
    assert chances[np.abs(points - place) > bound + 1e-12].sum() <= 0.1
    if rows == 1000:
        assert chances[np.abs(points - place) > bound / 3].sum() > 0.1


def test_a_wished_error_finds_its_epsilon() -> None:
    mechanism = ExponentialMean(epsilon=1, lower=0, upper=100).with_accuracy(1, size=10_000)
    assert mechanism.epsilon == pytest.approx(2 * 100 * np.log(20) / 10_000, rel=0.01)


def test_a_million_points_and_rows_overflow_nowhere() -> None:
    values = np.full(10**6, 999_999.0)
    mechanism = ExponentialMean(epsilon=1, lower=0, upper=10**6, grid=Grid(Fraction(1, 1000)))
    assert mechanism.release(values, rng=Seeded(54)) == pytest.approx(999_999, abs=100)
    tiny = ExponentialMean(epsilon=1e-9, lower=0, upper=2**29, grid=Grid(Fraction(1)))
    assert 0 <= tiny.release(values, rng=Seeded(55)) <= 2**29


def test_values_are_clipped_and_rounded() -> None:
    mechanism = on_points(points=10)
    found = mechanism.probabilities(pl.Series([-1e300, 4.4, float("inf")]))
    assert found.tolist() == mechanism.probabilities([0, 4, 9]).tolist()


@pytest.mark.parametrize(
    "values",
    [
        [-(10**400), 4, 10**400],
        [Fraction(-(10**400)), 4.4, 10**400],
        [Decimal("-Infinity"), Decimal("4.4"), Decimal("1e400")],
        np.array(["-1e4000", "4.4", "1e4000"], dtype=np.longdouble),
    ],
    ids=["whole", "fractions", "decimals", "extended"],
)
def test_numbers_too_large_for_a_float_are_clipped_as_others_are(values: Any) -> None:
    mechanism = on_points(points=10)
    found = mechanism.probabilities(values)
    assert found.tolist() == mechanism.probabilities([0, 4, 9]).tolist()


@pytest.mark.parametrize("rows", [14, 15])
def test_the_error_counts_a_bound_that_lies_beyond_the_last_point(rows: int) -> None:
    # Values of 1.1 are 2/3 of a step above the last point, 0.9: more than rounding moves others.
    mechanism = ExponentialMean(epsilon=2, lower=0, upper=1.1, grid=Grid(Fraction(3, 10)))
    values = [0.6] + [1.1] * (rows - 1)
    far = np.abs(np.arange(4) * 0.3 - np.mean(values)) > mechanism.accuracy(0.99, size=rows) + 1e-12
    assert mechanism.probabilities(values)[far].sum() <= 0.01


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "CEL-M067"), ([1.0, float("nan")], "CEL-M066"), ([1, None], "CEL-M066")],
)
def test_bad_values_are_refused_before_anything_is_drawn(values: list[float], code: str) -> None:
    with pytest.raises(InputError) as caught:
        ExponentialMean(epsilon=1, lower=0, upper=1).release(values, rng=ForbiddenSource())
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"epsilon": 101}, "CEL-I060"),
        ({"upper": -1}, "CEL-M006"),
        ({"grid": Grid(Fraction(1, 2**40))}, "CEL-M069"),
        ({"grid": 0.5}, "CEL-M008"),
        ({"may_be_empty": 1}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused(fields: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        ExponentialMean(**{"epsilon": 1, "lower": 0, "upper": 1, **fields})  # type: ignore[arg-type]
    assert caught.value.code == code


def test_its_price_is_the_same_where_a_row_is_changed() -> None:
    mechanism = ExponentialMean(epsilon=0.5, lower=10, upper=30, neighbours=CHANGE_ONE)
    assert mechanism.privacy_loss() == BoundedRangeLoss(Fraction(1, 2))
    assert mechanism.sensitivity == 20
    assert exp(mechanism.privacy_loss().pure) < 1.65
