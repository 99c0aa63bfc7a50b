"""A noisy sum of whole steps: no order and no rounding moves it by more than its sensitivity."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exact_laws import RELATIONS, Release, measured, pairs, worst_log_ratio

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.statistics.bounded_grid import Span, exact_sum
from celosia.mechanisms.statistics.sums import Sum

__all__ = ["measured"]

VALUES = st.floats(allow_nan=False, allow_infinity=False)
LARGE = 2.0**54


@RELATIONS
@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (-1, 2), (100, 101), (-3, -1)])
def test_the_exact_loss_of_a_sum_is_epsilon(
    lower: int, upper: int, neighbours: Neighbours, measured: Release
) -> None:
    total = Sum(
        epsilon=0.7,
        lower=lower,
        upper=upper,
        grid=Grid(Fraction(1, 2)),
        neighbours=neighbours,
        may_be_empty=True,
    )
    values = np.arange(2 * lower - 1, 2 * upper + 2) / 2  # also one beyond each bound
    worst = 0.0
    for one, two in pairs(values.tolist(), 2, neighbours.relation):
        exact = [round(2 * measured(total, table, [0]).value) for table in (one, two)]
        worst = max(worst, worst_log_ratio(exact[:1], exact[1:], [total.noise.scale]))
    assert worst == pytest.approx(0.7, rel=1e-12)
    assert total.privacy_loss() == LaplaceLoss(total.shift / Fraction(7, 10), total.shift)
    size = upper - lower if neighbours == CHANGE_ONE else max(abs(lower), abs(upper))
    assert total.sensitivity == size


def test_float_sums_move_by_more_than_any_value_and_ours_do_not() -> None:
    few = np.full(100, 3.0)
    many = np.concatenate([[LARGE], few])
    # Beside 2^54 floats lie 4 apart, so each 3 that meets it is rounded up to 4.
    assert many.sum() - few.sum() > LARGE
    assert Fraction(float(many.sum())) - Fraction(float(few.sum())) >= Fraction(LARGE) + 8
    total = Sum(epsilon=1, lower=0, upper=LARGE, grid=Grid(Fraction(2**10)))
    one, two = (exact_sum(total.span.steps(rows)) for rows in (few, many))
    assert abs(two - one) == total.shift == 2**44


def test_float_sums_depend_on_the_order_and_ours_do_not() -> None:
    rows = np.concatenate([[LARGE], np.full(100, 3.0)])
    assert rows.sum() != rows[::-1].sum()
    span = Span.between(0, LARGE, Grid(Fraction(2**10)))
    assert exact_sum(span.steps(rows)) == exact_sum(span.steps(rows[::-1]))


@given(
    st.lists(VALUES, max_size=30),
    st.tuples(VALUES, VALUES),
    st.tuples(st.integers(-(10**6), 10**6), st.integers(1, 10**6)),
    st.sampled_from([None, Grid(Fraction(1)), Grid(Fraction(1, 3)), Grid(Fraction(1, 100))]),
    st.randoms(),
)
def test_neighbours_sums_differ_by_at_most_the_sensitivity(
    rows: list[float],
    last: tuple[float, float],
    bounds: tuple[int, int],
    grid: Grid | None,
    random: Any,
) -> None:
    more, other = last
    lower, upper = bounds[0] / 7, (bounds[0] + bounds[1]) / 7
    added = Sum(epsilon=1, lower=lower, upper=upper, grid=grid)
    changed = Sum(epsilon=1, lower=lower, upper=upper, grid=grid, neighbours=CHANGE_ONE)

    def total(values: list[float]) -> int:
        shuffled = random.sample(values, len(values))
        return exact_sum(added.span.steps(np.array(shuffled, dtype=np.float64)))

    assert abs(total([*rows, more]) - total(rows)) <= added.shift
    assert abs(total([*rows, more]) - total([*rows, other])) <= changed.shift


@given(st.lists(st.integers(-(2**50), 2**50), max_size=50), st.integers(1, 200))
def test_whole_numbers_are_added_up_without_overflow(steps: list[int], times: int) -> None:
    assert exact_sum(np.array(steps * times, dtype=np.int64)) == times * sum(steps)


@given(
    st.lists(VALUES, min_size=1, max_size=20),
    st.fractions(-(10**6), 10**6, max_denominator=1000),
    st.fractions(Fraction(1, 1000), 10**6, max_denominator=1000),
    st.sampled_from([None, Grid(Fraction(1, 8)), Grid(Fraction(1, 3))]),
)
def test_rows_are_clipped_and_put_on_the_nearest_step(
    rows: list[float], lower: Fraction, size: Fraction, grid: Grid | None
) -> None:
    span = Span.between(lower, lower + size, grid)
    assert span.lower <= lower < lower + size <= span.upper
    assert lower - span.lower < span.grid.step
    assert span.upper - lower - size < span.grid.step
    for row, step in zip(rows, span.steps(np.array(rows)).tolist(), strict=True):
        clipped = min(max(Fraction(row), span.lower), span.upper)
        assert span.low <= step <= span.high
        assert abs(step * span.grid.step - clipped) <= span.grid.step * Fraction(3, 4)


def test_a_range_has_a_million_steps_unless_it_lies_too_far_out() -> None:
    assert Span.between(0, 1).width == 2**20
    far = Span.between(1e12, 1e12 + 1)
    assert far.width == 512  # 1e12 * 512 < 2**49 < 1e12 * 1024
    assert far.size <= 2**49


@pytest.mark.parametrize(
    ("lower", "upper", "grid"),
    [
        (0, 1, Grid(Fraction(1, 2**60))),
        (10**30, 10**30 + 1, Grid(Fraction(1))),
        (0, 10**400, None),
        (0, Fraction(1, 10**400), None),
    ],
)
def test_a_grid_that_does_not_suit_the_bounds_is_refused(lower: Any, upper: Any, grid: Any) -> None:
    with pytest.raises(InputError) as caught:
        Sum(epsilon=1, lower=lower, upper=upper, grid=grid)
    assert caught.value.code == "CEL-M085"


def test_a_step_in_the_place_of_a_grid_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Sum(epsilon=1, lower=0, upper=1, grid=0.5)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-M008"


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1)])
def test_bounds_that_are_none_are_refused(lower: Any, upper: Any) -> None:
    with pytest.raises(InputError) as caught:
        Sum(epsilon=1, lower=lower, upper=upper)
    assert caught.value.code == "CEL-M006"


@pytest.mark.parametrize(("lower", "upper"), [(0, float("inf")), ("0", 1)])
def test_bounds_that_are_no_numbers_are_refused(lower: Any, upper: Any) -> None:
    with pytest.raises(InputError) as caught:
        Sum(epsilon=1, lower=lower, upper=upper)
    assert caught.value.code == "CEL-I060"


def test_noise_beyond_64_bits_is_refused() -> None:
    total = Sum(epsilon=1e-9, lower=2**40, upper=2**40 + 1, grid=Grid(Fraction(1, 100)))
    with pytest.raises(InputError) as caught:
        total.release([1.0])
    assert caught.value.code == "CEL-M020"


def test_sums_lie_on_the_grid() -> None:
    total = Sum(epsilon=1, lower=0, upper=10, grid=Grid(Fraction(1, 4)))
    found = [total.release(pl.Series([1.1, 2.3, 50.0]), rng=Seeded(seed)) for seed in range(20)]
    assert all((4 * value).is_integer() for value in found)
    assert len(set(found)) > 10


@pytest.mark.statistical
def test_bounds_of_a_sum_hold_as_often_as_they_say() -> None:
    total, rng, runs = (
        Sum(epsilon=1, lower=-5, upper=10, grid=Grid(Fraction(1, 100))),
        Seeded(11),
        1500,
    )
    rows = [0.5, -7, 3.21, 99]
    exact = 0.5 - 5 + 3.21 + 10
    hits = 0
    for _ in range(runs):
        low, high = total.interval(total.measure(rows, rng=rng), 0.8)
        hits += low <= exact <= high
        assert high - low == pytest.approx(2 * total.accuracy(0.8))
    assert abs(hits / runs - 0.8) < 4 * sqrt(0.8 * 0.2 / runs) + 0.001  # steps are 1/1000 of it


@pytest.mark.statistical
def test_the_noise_of_a_sum_has_the_declared_scale() -> None:
    total, rng, runs = Sum(epsilon=0.5, lower=0, upper=10), Seeded(2), 2000
    errors = [abs(total.release([1, 2, 3], rng=rng) - 6) for _ in range(runs)]
    # E|Z| = scale = 20 and sd|Z| = scale; five standard errors are 11 %.
    assert abs(np.mean(errors) / 20 - 1) < 5 / sqrt(runs)


def test_an_accuracy_buys_the_least_epsilon_however_fine_the_grid() -> None:
    total = Sum(epsilon=1, lower=10**6, upper=10**6 + 1).with_accuracy(10**9)
    assert total.accuracy() <= 10**9
    assert Sum(epsilon=0.99 * total.epsilon, lower=10**6, upper=10**6 + 1).accuracy() > 10**9
