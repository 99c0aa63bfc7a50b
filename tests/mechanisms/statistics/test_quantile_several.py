"""Several quantiles at once: their joint law by a plain recursion, its price, its rank errors."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
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

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.statistics.quantiles import Quantile, Quantiles

POINTS = 3
QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
Law = dict[tuple[int, ...], float]


def joint(
    table: tuple[int, ...],
    shares: tuple[Fraction, ...],
    price: float,
    points: range,
    *,
    low: Fraction = Fraction(0),
    high: Fraction = Fraction(1),
) -> Law:
    """The chance of every list of answers, by the words of the method and nothing else."""
    if not shares:
        return {(): 1.0}
    middle = len(shares) // 2
    share = (shares[middle] - low) / (high - low)
    rate = price / 2 / float(max(share, 1 - share))
    chances = softmax([-float(rank_miss(table, point, share)) for point in points], rate)
    found: Law = {}
    for point, chance in zip(points, chances, strict=True):
        equal = table.count(point)
        for tossed in range(equal + 1):
            coin = comb(equal, tossed) / 2**equal
            left = (*[v for v in table if v < point], *[point] * tossed)
            right = (*[point] * (equal - tossed), *[v for v in table if v > point])
            cut = shares[middle]
            down, up = range(points.start, point + 1), range(point, points.stop)
            lefts = joint(left, shares[:middle], price, down, low=low, high=cut)
            rights = joint(right, shares[middle + 1 :], price, up, low=cut, high=high)
            for one, its in lefts.items():
                for other, theirs in rights.items():
                    key = (*one, point, *other)
                    found[key] = found.get(key, 0) + chance * coin * its * theirs
    return found


def quartiles(epsilon: float = 1, relation: Neighbours = ADD_REMOVE) -> Quantiles:
    return Quantiles(
        epsilon=epsilon,
        lower=0,
        upper=POINTS - 1,
        q=QUARTERS,
        grid=Grid(Fraction(1)),
        may_be_empty=True,
        neighbours=relation,
    )


@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE], ids=str)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(relation: Neighbours) -> None:
    price = float(quartiles(2, relation)._price())
    laws = {
        table: joint(table, QUARTERS, price, range(POINTS)) for table in small_tables(POINTS, 4)
    }
    neighbours = one_more if relation == ADD_REMOVE else one_changed
    worst = 0.0
    for table, law in laws.items():
        for other in neighbours(table, POINTS):
            if other in laws:
                keys = list(law)
                twin = laws[other]
                assert law.keys() == twin.keys()
                loss, _ = loss_span([law[k] for k in keys], [twin[k] for k in keys])
                worst = max(worst, loss)
    assert 0.5 < worst <= 2 + 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize("table", [(), (0, 1, 1, 1, 2, 2), (0, 0, 0, 2)])
def test_draws_follow_the_joint_law_and_no_other_epsilon(table: tuple[int, ...]) -> None:
    mechanism, rng = quartiles(8), Seeded(41)
    law = joint(table, QUARTERS, 4, range(POINTS))
    places = {answer: place for place, answer in enumerate(law)}
    drawn = [
        places[tuple(mechanism.release(table, rng=rng).astype(int).tolist())] for _ in range(3000)
    ]
    assert p_value(drawn, list(law.values())) > FALSE_ALARM
    if table:
        for factor in (0.7, 1.4):
            other = joint(table, QUARTERS, 4 * factor, range(POINTS))
            assert p_value(drawn, [other[answer] for answer in law]) < FALSE_ALARM


@pytest.mark.parametrize(("shares", "levels"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_the_levels_share_the_budget(shares: int, levels: int) -> None:
    q = tuple((place + 1) / (shares + 1) for place in range(shares))
    added = Quantiles(epsilon=1, lower=0, upper=1, q=q)
    assert added.levels == levels
    assert added.privacy_loss() == ComposedLoss((BoundedRangeLoss(Fraction(1, levels)),) * levels)
    changed = Quantiles(epsilon=1, lower=0, upper=1, q=q, neighbours=CHANGE_ONE)
    assert changed.privacy_loss() == added.privacy_loss()
    assert changed._price() == added._price() / 2


@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE], ids=str)
def test_every_delta_and_divergence_stays_within_the_promise(relation: Neighbours) -> None:
    # A row that moves across the middle makes the lower points worse and the upper ones better, all
    # in one choice: two ranges of half the length would promise a delta of 0.165 for 0.213 here.
    median = Quantiles(
        epsilon=1, lower=0, upper=9, q=(0.5,), grid=Grid(Fraction(1)), neighbours=relation
    )
    loss, price = median.privacy_loss(), float(median._price())
    changed = {(0, 4, 5): (4, 5, 9), (0, 0, 3, 6, 9): (0, 3, 6, 9, 9)}
    added = {(0, 4, 5): (4, 5), (0, 4, 5, 9): (0, 4, 5), (0, 0, 9): (0, 9)}
    for table, other in (changed if relation == CHANGE_ONE else added).items():
        first, second = (
            np.array(list(joint(rows, (Fraction(1, 2),), price, range(10)).values()))
            for rows in (table, other)
        )
        for one, two in ((first, second), (second, first)):
            for epsilon in (0.0, 0.25, 0.5, 0.9):
                delta = np.maximum(one - np.exp(epsilon) * two, 0).sum()
                assert delta <= loss.delta(epsilon) + 1e-12
            for order in (1.5, 2.0, 8.0):
                divergence = np.log((one**order * two ** (1 - order)).sum()) / (order - 1)
                assert divergence <= loss.renyi(order) + 1e-12
                assert divergence <= order * loss.rho + 1e-12


def test_one_share_is_the_plain_quantile() -> None:
    plain = Quantile(epsilon=1, lower=0, upper=4, q=0.3, grid=Grid(Fraction(1)))
    law = joint((0, 3, 3, 4), (Fraction(3, 10),), 1, range(5))
    assert plain.probabilities([0, 3, 3, 4]) == pytest.approx([law[point,] for point in range(5)])


@pytest.mark.statistical
def test_the_answers_rise_and_their_ranks_miss_by_no_more_than_the_bound() -> None:
    values = np.random.default_rng(10).permutation(20_000)
    q = tuple(Fraction(place, 10) for place in range(1, 10))
    mechanism = Quantiles(epsilon=1, lower=0, upper=20_000, q=q, grid=Grid(Fraction(1)))
    bound = mechanism.accuracy(0.95, size=20_000)
    missed, rng, draws = 0, Seeded(42), 40
    for _ in range(draws):
        found = mechanism.release(values, rng=rng)
        assert np.all(np.diff(found) >= 0)
        # The rank of a value is the value itself.
        missed += bool(np.any(np.abs(found - 2_000 * np.arange(1, 10)) > bound))
    # Binomial with at most 1/20: five deviations.
    assert missed <= draws / 20 + 5 * np.sqrt(draws / 20)
    assert bound == pytest.approx(4 * (8 * np.log(20_001 * 9 / 0.05) + 1))


def test_repeated_values_go_to_both_sides() -> None:
    mechanism = Quantiles(epsilon=1, lower=0, upper=100, grid=Grid(Fraction(1)))
    assert mechanism.release([50] * 5000, rng=Seeded(1)).tolist() == [50, 50, 50]


@pytest.mark.parametrize("q", [(-0.1,), (0.5, 1.5), ("a",), None])
def test_shares_out_of_range_are_refused(q: object) -> None:
    with pytest.raises(InputError) as caught:
        Quantiles(epsilon=1, lower=0, upper=1, q=q)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("q", [(), (0.5, 0.25), (0.5, 0.5), 0.5])
def test_shares_that_do_not_rise_from_0_to_1_are_refused(q: object) -> None:
    with pytest.raises(InputError) as caught:
        Quantiles(epsilon=1, lower=0, upper=1, q=q)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-M068"


@pytest.mark.parametrize(
    ("values", "code"), [([], "CEL-M067"), ([1.0, float("nan")], "CEL-M066"), (["a"], "CEL-M066")]
)
def test_bad_values_are_refused_before_anything_is_drawn(values: list[float], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Quantiles(epsilon=1, lower=0, upper=1).release(values, rng=ForbiddenSource())
    assert caught.value.code == code


def test_the_ends_can_be_asked_for_as_well() -> None:
    mechanism = Quantiles(epsilon=50, lower=0, upper=100, q=(0, 0.5, 1), grid=Grid(Fraction(1)))
    table = [10] * 200 + [50] * 200 + [90] * 200
    least, middle, most = mechanism.release(table, rng=Seeded(1))
    assert least <= 10  # every point with nothing below it is as good as the smallest value
    assert middle == 50
    assert most >= 90
