"""Intervals of quantiles: their laws on every tiny table, their coverage, and their price."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.mechanisms.selection_oracles import (
    loss_span,
    one_changed,
    one_more,
    rank_miss,
    small_tables,
)

from celosia.core.errors import InputError
from celosia.core.neighbours import Relation
from celosia.core.randomness import Seeded
from celosia.mechanisms import release
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.selection.base import chances
from celosia.mechanisms.statistics.quantiles import Bounds, Median, Quantile, Quantiles

SHARES = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
POINTS = 4


def laws(bounds: Bounds, table: tuple[int, ...], points: int = POINTS) -> list[NDArray[np.float64]]:
    """The chance of each point to be the lower end, and to be the upper one."""
    made = bounds.segments(np.array(table, dtype=np.int64), 0, points - 1)
    ordered = [each.in_order() for each in made]
    return [chances(np.repeat(each.misses, each.sizes), rate=bounds.rate()) for each in ordered]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_no_row_is_told_by_more_than_the_price_of_an_end(
    share: Fraction, relation: Relation
) -> None:
    bounds = Bounds(share, relation, Fraction(1), 0.5)
    others = one_more if relation is Relation.ADD_REMOVE else one_changed
    worst = 0.0
    for table in small_tables(POINTS, 3):
        here = laws(bounds, table)
        for other in others(table, POINTS):
            for mine, theirs in zip(here, laws(bounds, other), strict=True):
                loss, span = loss_span(mine, theirs)
                assert span <= 1 + 1e-9
                worst = max(worst, loss)
    assert worst <= 1 + 1e-9
    assert worst > 0.1 or share in (0, 1)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("epsilon", "confidence"), [(1, 0.9), (8, 0.5), (40, 0.9)])
def test_the_interval_holds_a_quantile_of_every_table_with_its_confidence(
    share: Fraction, epsilon: int, confidence: float
) -> None:
    """The exact chance that either end is on the wrong side of all quantiles."""
    bounds = Bounds(share, Relation.ADD_REMOVE, Fraction(epsilon), confidence)
    tables = [*small_tables(POINTS, 3), (0,) * 30 + (3,) * 30, (1,) * 50, (0, 1, 2, 3)]
    tables.append(tuple(sorted((0, 1, 2, 3) * 20)))
    for table in tables:
        right = [point for point in range(POINTS) if not rank_miss(table, point, share)]
        low, high = laws(bounds, table)
        missed = low[max(right) + 1 :].sum() + high[: min(right)].sum()
        assert missed <= 1 - confidence + 1e-9


def test_the_ends_come_nearer_as_there_are_more_rows() -> None:
    widths = []
    for rows in (100, 1000, 100_000):
        median = Median(epsilon=1, lower=0, upper=100, confidence=0.95)
        found = median.measure(np.linspace(0, 100, rows), rng=Seeded(rows))
        bounds = median.interval(found)
        assert bounds is not None
        assert bounds[0] <= 50 <= bounds[1]
        assert bounds[0] <= found.value <= bounds[1]
        widths.append(bounds[1] - bounds[0])
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 1


def test_answers_carry_the_interval_and_cost_what_they_say() -> None:
    values = np.arange(10_000) / 100
    quantile = Quantile(epsilon=1, lower=0, upper=100, q=0.9, grid=Grid(1), confidence=0.95)
    answer = release(quantile, values, rng=Seeded(1))
    assert answer.epsilon == pytest.approx(1)
    assert answer.interval is not None
    low, high = answer.interval
    assert low <= 90 <= high
    assert high - low < 10
    assert release(quantile, values, rng=Seeded(1), confidence=0.99).interval is None
    plain = Quantile(epsilon=1, lower=0, upper=100, q=0.9, grid=Grid(1))
    assert release(plain, values, rng=Seeded(1)).interval is None
    assert plain.accuracy() == pytest.approx(quantile.accuracy() / 3)
    several = Quantiles(epsilon=3, lower=0, upper=100, grid=Grid(1), confidence=0.9)
    answer = release(several, values, rng=Seeded(1), confidence=0.9)
    assert answer.epsilon == pytest.approx(3)
    assert answer.interval is not None
    for share, low in answer.interval[0].items():
        assert low <= 100 * share <= answer.interval[1][share]
    assert release(several, values, rng=Seeded(1)).interval is None
    with pytest.raises(InputError) as refused:
        Quantile(epsilon=1, lower=0, upper=1, confidence=1.5)
    assert refused.value.code == "CEL-I060"


def test_a_tiny_epsilon_gives_the_whole_range() -> None:
    median = Median(epsilon=1e-9, lower=0, upper=4, grid=Grid(1), confidence=0.95)
    bounds = median.interval(median.measure([1, 2, 3], rng=Seeded(2)))
    assert bounds is not None
    assert 0 <= bounds[0] <= bounds[1] <= 4
