"""One quantile: its law over all grid points, its price on every tiny table, its rank error."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource
from tests.mechanisms.selection_oracles import (
    FALSE_ALARM,
    loss_span,
    one_changed,
    one_more,
    p_value,
    rank_miss,
    small_tables,
    softmax,
)

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.statistics.quantiles import Median, Quantile

SHARES = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
POINTS = 4


def on_points(
    share: Fraction, epsilon: float = 1, points: int = POINTS, relation: Neighbours = ADD_REMOVE
) -> Quantile:
    """A quantile on the whole numbers from 0 to `points` - 1."""
    return Quantile(
        epsilon=epsilon,
        lower=0,
        upper=points - 1,
        q=share,
        grid=Grid(Fraction(1)),
        may_be_empty=True,
        neighbours=relation,
    )


@given(
    st.lists(st.integers(0, 9), max_size=12),
    st.sampled_from([*SHARES, Fraction(9, 10), Fraction(1, 3)]),
    st.sampled_from([ADD_REMOVE, CHANGE_ONE]),
)
def test_the_chances_are_those_of_every_point_scored_by_itself(
    table: list[int], share: Fraction, relation: Neighbours
) -> None:
    sensitivity = max(share, 1 - share) if relation == ADD_REMOVE else Fraction(1)
    misses = [-float(rank_miss(table, point, share)) for point in range(10)]
    mechanism = on_points(share, points=10, relation=relation)
    assert mechanism.sensitivity == pytest.approx(float(sensitivity))
    expected = softmax(misses, 1 / (2 * float(sensitivity)))
    assert mechanism.probabilities(table) == pytest.approx(expected)


@pytest.mark.parametrize("share", SHARES)
def test_no_row_more_is_told_by_more_than_epsilon(share: Fraction) -> None:
    mechanism = on_points(share)
    worst = 0.0
    for table in small_tables(POINTS, 4):
        law = mechanism.probabilities(table)
        for more in one_more(table, POINTS):
            loss, span = loss_span(law, mechanism.probabilities(more))
            assert span <= 1 + 1e-9
            worst = max(worst, loss)
    assert 0.3 < worst <= 1 + 1e-9


@pytest.mark.parametrize("share", SHARES)
def test_no_row_changed_is_told_by_more_than_epsilon(share: Fraction) -> None:
    mechanism = on_points(share, relation=CHANGE_ONE)
    worst = 0.0
    for table in small_tables(POINTS, 4):
        law = mechanism.probabilities(table)
        for changed in one_changed(table, POINTS):
            loss, span = loss_span(law, mechanism.probabilities(changed))
            assert span <= 1 + 1e-9
            worst = max(worst, loss)
    assert 0.3 < worst <= 1 + 1e-9


def test_the_sensitivities_are_attained() -> None:
    miss = cache(rank_miss)
    for share in SHARES:
        moved = [
            abs(miss(table, point, share) - miss(more, point, share))
            for table in small_tables(POINTS, 4)
            for more in one_more(table, POINTS)
            for point in range(POINTS)
        ]
        assert max(moved) == max(share, 1 - share)
    changed = [
        abs(miss(table, point, Fraction(1, 2)) - miss(other, point, Fraction(1, 2)))
        for table in small_tables(POINTS, 4)
        for other in one_changed(table, POINTS)
        for point in range(POINTS)
    ]
    assert max(changed) == 1


def test_a_quantile_of_repeated_values_is_that_value() -> None:
    mechanism = Quantile(epsilon=1, lower=0, upper=100, q=0.69, grid=Grid(Fraction(1)))
    table = [0] * 3000 + [50] * 4000 + [90] * 3000  # 69 in 100 lie at or below 50
    assert mechanism.release(table, rng=Seeded(1)) == 50


@pytest.mark.statistical
def test_draws_follow_the_chances_and_no_other_epsilon() -> None:
    table = [2, 2, 3, 7, 7, 7, 8, 15, 15, 16]
    mechanism, rng = on_points(Fraction(1, 2), 0.5, points=20), Seeded(31)
    drawn = np.array([mechanism.release(table, rng=rng) for _ in range(6000)]).astype(int)
    assert p_value(drawn, mechanism.probabilities(table)) > FALSE_ALARM
    for factor in (0.4, 0.625):
        other = on_points(Fraction(1, 2), factor, points=20).probabilities(table)
        assert p_value(drawn, other) < FALSE_ALARM


@pytest.mark.statistical
def test_an_empty_table_has_a_uniform_answer_where_it_may_be_empty() -> None:
    mechanism, rng = on_points(Fraction(1, 2), points=8), Seeded(32)
    drawn = np.array([mechanism.release([], rng=rng) for _ in range(2000)]).astype(int)
    assert mechanism.probabilities([]).tolist() == [1 / 8] * 8
    assert p_value(drawn, [1 / 8] * 8) > FALSE_ALARM


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10)])
def test_the_rank_misses_by_no_more_than_the_bound(share: Fraction) -> None:
    mechanism = on_points(share, points=100)
    bound = mechanism.accuracy(0.95, size=60)
    sensitivity = float(max(share, 1 - share))
    assert bound == pytest.approx(2 * sensitivity * (log(100) + log(20)))
    generator = np.random.default_rng(8)
    for _ in range(20):
        table = generator.integers(0, 100, 60).tolist()
        chances = mechanism.probabilities(table)
        far = [rank_miss(table, point, share) >= bound for point in range(100)]
        assert chances[far].sum() <= 0.05


def test_a_wished_rank_error_finds_its_epsilon() -> None:
    found = Median(epsilon=1, lower=0, upper=99, grid=Grid(Fraction(1))).with_accuracy(10)
    assert found.epsilon == pytest.approx(0.1 * log(2000), rel=1e-3)
    assert isinstance(found, Median)


def test_lists_arrays_and_series_give_the_same_law() -> None:
    mechanism = on_points(Fraction(1, 2), points=10)
    law = mechanism.probabilities([1, 5, 5]).tolist()
    for values in ((1, 5, 5), np.array([1.0, 5, 5]), pl.Series([5, 1, 5]), [Fraction(1), 5, 5]):
        assert mechanism.probabilities(values).tolist() == law  # type: ignore[arg-type]


def test_values_are_clipped_and_rounded() -> None:
    mechanism = on_points(Fraction(1, 2), points=10)
    near = mechanism.probabilities([-1e300, float("-inf"), 4.4, float("inf"), 2**62])
    assert near.tolist() == mechanism.probabilities([0, 0, 4, 9, 9]).tolist()


@pytest.mark.parametrize("lower", [-3.7, 0.3, 1000])
def test_answers_lie_on_the_grid_within_the_bounds(lower: float) -> None:
    mechanism = Median(epsilon=1, lower=lower, upper=lower + 5, may_be_empty=True)
    rng = Seeded(33)
    for table in ([], [lower - 100], [lower + 100] * 50):
        answer = mechanism.release(table, rng=rng)
        assert lower <= answer <= lower + 5
        assert Fraction(answer) % Fraction(1, 2**18) == 0  # 2^20 points or more in a range of 5


def test_a_million_rows_are_told_apart_exactly() -> None:
    values = np.random.default_rng(9).permutation(10**6).astype(float)
    mechanism = Quantile(epsilon=1, lower=0, upper=10**6, q=0.9, grid=Grid(Fraction(1)))
    answer = mechanism.release(values, rng=Seeded(34))
    bound = mechanism.accuracy(1 - 1e-9)  # the rank of a value is the value itself
    assert abs(answer - 900_000) <= bound + 1 < 100


@pytest.mark.parametrize(
    "values",
    [
        [1.0, float("nan")],
        [1, None],
        pl.Series([1, None]),
        ["1", "2"],
        [True, False],
        np.ma.array([1.0, 2.0], mask=[True, False]),
        [[1.0]],
        5,
        [[1], [1, 2]],
        pl.Series(["a"]),
    ],
)
def test_missing_and_other_values_are_refused_before_anything_is_drawn(values: object) -> None:
    with pytest.raises(InputError) as caught:
        on_points(Fraction(1, 2)).release(values, rng=ForbiddenSource())  # type: ignore[arg-type]
    assert caught.value.code == "CEL-M066"


def test_an_empty_table_is_refused_unless_it_may_be_empty() -> None:
    for relation in (ADD_REMOVE, CHANGE_ONE):
        with pytest.raises(InputError) as caught:
            Median(epsilon=1, lower=0, upper=1, neighbours=relation).release(
                [], rng=ForbiddenSource()
            )
        assert caught.value.code == "CEL-M067"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"lower": 5, "upper": 5}, "CEL-M006"),
        ({"q": -0.1}, "CEL-I060"),
        ({"q": 1.1}, "CEL-I060"),
        ({"q": "half"}, "CEL-I060"),
        ({"grid": Grid(Fraction(20))}, "CEL-M069"),
        ({"lower": 2.0**60, "upper": 2.0**60 + 2**12}, "CEL-M069"),
        ({"grid": Grid(Fraction(1, 2**60))}, "CEL-M069"),
        ({"grid": 0.5}, "CEL-M008"),
        ({"may_be_empty": "no"}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused(fields: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Quantile(**{"epsilon": 1, "lower": 0, "upper": 10, **fields})  # type: ignore[arg-type]
    assert caught.value.code == code


def test_very_many_chances_are_not_listed() -> None:
    with pytest.raises(InputError) as caught:
        Median(epsilon=1, lower=0, upper=1, grid=Grid(Fraction(1, 2**30))).probabilities([0.5])
    assert caught.value.code == "CEL-M071"


def test_a_third_in_floats_is_a_third() -> None:
    third = Quantile(epsilon=1, lower=0, upper=9, q=1 / 3, grid=Grid(Fraction(1)))
    assert third.sensitivity == pytest.approx(2 / 3)
    assert np.argmax(third.probabilities([1, 5, 9])) == 1  # one in three lies at or below 1


def test_the_median_is_the_quantile_of_one_half() -> None:
    table = [1, 2, 2, 8]
    median = Median(epsilon=1, lower=0, upper=9, grid=Grid(Fraction(1)))
    quantile = Quantile(epsilon=1, lower=0, upper=9, grid=Grid(Fraction(1)))
    assert median.probabilities(table).tolist() == quantile.probabilities(table).tolist()
    assert median.privacy_loss() == BoundedRangeLoss(Fraction(1))
    assert median.interval(median.measure(table, rng=Seeded(1))) is None
    assert max(median.probabilities(table)) < exp(1)
