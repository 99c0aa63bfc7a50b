"""The exponential mechanism: its law, its price and its shortfall."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

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
    p_value,
    softmax,
)

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.selection.base import sampling_rate
from celosia.mechanisms.selection.exponential import Exponential

VECTORS = st.lists(st.integers(-20, 20), min_size=1, max_size=6)


def test_the_chances_are_those_of_the_definition() -> None:
    assert Exponential(epsilon=1).probabilities([0, 1, 2]) == pytest.approx(
        [0.1863237, 0.3071959, 0.5064804], abs=5e-8
    )
    assert Exponential(epsilon=1, monotone=True).probabilities([0, 1, 2]) == pytest.approx(
        [0.0900306, 0.2447285, 0.6652410], abs=5e-8
    )


@given(VECTORS, st.sampled_from([0.1, 1, 3]), st.sampled_from([1, 2, 5]), st.booleans())
def test_the_chances_are_a_plain_softmax(
    scores: list[int], epsilon: float, sensitivity: int, monotone: bool
) -> None:
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    rate = epsilon / sensitivity / (1 if monotone else 2)
    assert mechanism.probabilities(scores) == pytest.approx(softmax(scores, rate))


@pytest.mark.parametrize("constant", [7, -1_000_000, 1_000_000, 2**50 - 2])
def test_a_constant_on_all_scores_changes_nothing_and_overflows_nowhere(constant: int) -> None:
    mechanism = Exponential(epsilon=1)
    moved = mechanism.probabilities([constant, constant + 1, constant + 2])
    assert moved.tolist() == mechanism.probabilities([0, 1, 2]).tolist()
    assert mechanism.release([constant] * 3, rng=Seeded(1)) in range(3)


def test_scores_far_apart_neither_overflow_nor_lose_the_best() -> None:
    mechanism = Exponential(epsilon=100)
    assert mechanism.probabilities([-(2**50), 0, 2**50]).tolist() == [0, 0, 1]
    assert mechanism.release([-(2**50), 0, 2**50], rng=Seeded(1)) == 2


@pytest.mark.parametrize(("monotone", "bound"), [(False, 2 * exp(-5)), (True, 2 * exp(-10))])
def test_two_conditions_with_ten_cases_between_them(monotone: bool, bound: float) -> None:
    wrong = Exponential(epsilon=1, monotone=monotone).probabilities([0, 10])[0]
    assert wrong == pytest.approx(1 / (1 + exp(10 if monotone else 5)))
    assert wrong <= bound


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 4)), min_size=1, max_size=5))
def test_a_weight_stands_for_that_many_equal_candidates(pairs: list[tuple[int, int]]) -> None:
    if not any(weight for _, weight in pairs):
        return
    scores = [score for score, _ in pairs]
    weights = tuple(weight for _, weight in pairs)
    repeated = [score for score, weight in pairs for _ in range(weight)]
    alone = iter(softmax(repeated, 0.5))
    expected = [sum(next(alone) for _ in range(weight)) for weight in weights]
    found = Exponential(epsilon=1, weights=weights).probabilities(scores)
    assert found == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-2, 2)), min_size=1, max_size=6),
    st.sampled_from([0.1, 1, 4]),
)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(
    pairs: list[tuple[int, int]], epsilon: float
) -> None:
    mechanism = Exponential(epsilon=epsilon, sensitivity=2)
    scores = [score for score, _ in pairs]
    moved = [score + change for score, change in pairs]
    loss, span = loss_span(mechanism.probabilities(scores), mechanism.probabilities(moved))
    assert loss <= epsilon * (1 + 1e-9)
    assert span <= epsilon * (1 + 1e-9)  # the bounded range that the loss is booked as


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2)), min_size=1, max_size=6),
    st.sampled_from([0.1, 1, 4]),
)
def test_monotone_neighbours_keep_to_epsilon_and_its_range(
    pairs: list[tuple[int, int]], epsilon: float
) -> None:
    mechanism = Exponential(epsilon=epsilon, sensitivity=2, monotone=True)
    scores = [score for score, _ in pairs]
    moved = [score + change for score, change in pairs]
    loss, span = loss_span(mechanism.probabilities(scores), mechanism.probabilities(moved))
    assert loss <= epsilon * (1 + 1e-9)
    assert span <= epsilon * (1 + 1e-9)


def test_a_sensitivity_a_hair_below_a_whole_number_counts_as_it() -> None:
    computed = (0.1 + 0.7) * 10
    assert computed < 8
    told = Exponential(epsilon=1, sensitivity=computed).probabilities([0, 9])
    assert told.tolist() == Exponential(epsilon=1, sensitivity=8).probabilities([0, 9]).tolist()


def test_the_price_is_tight() -> None:
    general = Exponential(epsilon=1)
    one, other = general.probabilities([0, 50]), general.probabilities([1, 49])
    assert loss_span(one, other)[0] == pytest.approx(1, abs=1e-9)
    counts = Exponential(epsilon=1, monotone=True)
    one, other = counts.probabilities([0, 50]), counts.probabilities([1, 50])
    assert loss_span(one, other)[0] == pytest.approx(1, abs=1e-9)


def test_monotone_weights_fail_for_scores_that_are_not() -> None:
    mechanism = Exponential(epsilon=1, monotone=True)
    loss, _ = loss_span(mechanism.probabilities([0, 0]), mechanism.probabilities([1, -1]))
    assert loss == pytest.approx(1.43378, abs=5e-6)
    loss, _ = loss_span(mechanism.probabilities([0, 30]), mechanism.probabilities([1, 29]))
    assert loss == pytest.approx(2, abs=1e-9)


@given(
    st.lists(
        st.tuples(st.floats(-50, 50), st.floats(-1, 1, allow_subnormal=False)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([Fraction(1, 4), Fraction(1, 10), Fraction(3)]),
)
def test_rounding_to_a_grid_is_paid_for(pairs: list[tuple[float, float]], step: Fraction) -> None:
    mechanism = Exponential(epsilon=1, grid=Grid(step))
    scores = [score for score, _ in pairs]
    # A sum of floats may round up beyond a distance of 1, by far less than the 1e-9 below.
    moved = [score + change * (1 - 1e-12) for score, change in pairs]
    loss, span = loss_span(mechanism.probabilities(scores), mechanism.probabilities(moved))
    assert max(loss, span) <= 1 + 1e-9


def test_halves_that_round_apart_would_break_a_shift_without_rounding() -> None:
    mechanism = Exponential(epsilon=1, grid=Grid(Fraction(1)))
    one = mechanism.probabilities([0.5, 51.5])  # rounds to 0 and 52
    other = mechanism.probabilities([1.5, 50.5])  # rounds to 2 and 50
    loss, _ = loss_span(one, other)
    assert loss == pytest.approx(1, abs=1e-5)  # all of epsilon; a shift of one step makes it 2


@pytest.mark.parametrize("t", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_shortfall_bound_holds_for_every_score_vector(t: float, monotone: bool) -> None:
    generator = np.random.default_rng(5)
    for _ in range(100):
        size = int(generator.integers(1, 40))
        scores = generator.integers(0, 60, size)
        mechanism = Exponential(epsilon=0.7, sensitivity=2, monotone=monotone)
        bound = mechanism.accuracy(1 - exp(-t), size=size)
        assert bound == pytest.approx((2 if monotone else 4) / 0.7 * (log(size) + t))
        chances = mechanism.probabilities(scores)
        assert chances[scores <= scores.max() - bound].sum() <= exp(-t)


def test_the_shortfall_of_weighted_candidates_counts_their_weights() -> None:
    mechanism = Exponential(epsilon=1, weights=(1, 999))
    bound = mechanism.accuracy(0.95, size=1000)
    worst = int(np.ceil(bound))
    assert mechanism.probabilities([worst, 0])[1] <= 0.05
    assert (
        mechanism.probabilities([worst - 7, 0])[1] > 0.05
    )  # 2 ln(999 * 19) is 1.4 below the bound


def test_a_wished_shortfall_finds_its_epsilon() -> None:
    found = Exponential(epsilon=1).with_accuracy(10, confidence=0.95, size=100)
    assert found.epsilon == pytest.approx(0.2 * log(100 / 0.05), rel=1e-3)
    assert found.accuracy(0.95, size=100) <= 10


def test_with_a_distance_as_score_it_is_laplace_noise_of_twice_the_scale() -> None:
    # f = 0, sensitivity 1, epsilon 1 on a grid of step 1/100: scale 2, not 1.
    points = np.arange(-4000, 4001)
    chances = Exponential(epsilon=1, sensitivity=100).probabilities(-np.abs(points))
    ends = (points + 0.5) / 100
    twice = np.abs(np.cumsum(chances) - laplace(scale=2).cdf(ends)).max()
    once = np.abs(np.cumsum(chances) - laplace(scale=1).cdf(ends)).max()
    assert twice < 1e-5  # of the order of (step / scale)^2
    assert once > 0.1  # max of |exp(-x/2) - exp(-x)| / 2 is 1/8, at x = 2 ln 2


def test_an_auction_sells_at_a_price_of_the_users_own_score() -> None:
    bids = (3.01, 1, 1, 1)

    def revenue(price: float) -> float:
        return price * sum(bid >= price for bid in bids)

    prices = [1, 3, 3.01, 3.02]
    assert [revenue(price) for price in prices] == pytest.approx([4, 3, 3.01, 0])
    # One bidder more or less changes the revenue by at most the price, and in one direction.
    auction = Exponential(epsilon=10, sensitivity=3.02, monotone=True, grid=Grid(Fraction(1, 100)))
    chances = auction.probabilities([revenue(price) for price in prices])
    steps = [400, 300, 301, 0]
    assert chances == pytest.approx(softmax(steps, 10 / 303))
    assert np.argmax(chances) == 0
    fewer = [price * sum(bid >= price for bid in bids[1:]) for price in prices]
    assert loss_span(chances, auction.probabilities(fewer))[0] <= 10


@pytest.mark.statistical
@pytest.mark.parametrize("weights", [None, (5, 1, 2, 1)])
def test_draws_follow_the_chances_and_no_other_epsilon(weights: tuple[int, ...] | None) -> None:
    scores, rng = [0, 3, 5, 8], Seeded(11)
    mechanism = Exponential(epsilon=1, weights=weights)
    drawn = [mechanism.release(scores, rng=rng) for _ in range(6000)]
    assert p_value(drawn, mechanism.probabilities(scores)) > FALSE_ALARM
    for factor in (0.8, 1.25):
        other = Exponential(epsilon=factor, weights=weights).probabilities(scores)
        assert p_value(drawn, other) < FALSE_ALARM


@pytest.mark.statistical
def test_the_largest_score_with_gumbel_noise_has_the_same_law() -> None:
    generator = np.random.default_rng(3)
    scores = np.array([0, 3, 5, 8])
    noisy = scores + generator.gumbel(scale=2, size=(200_000, 4))
    assert p_value(noisy.argmax(axis=1), Exponential(epsilon=1).probabilities(scores)) > FALSE_ALARM


@pytest.mark.statistical
def test_shortfalls_are_as_rare_as_promised() -> None:
    scores, rng = np.arange(50), Seeded(4)
    mechanism = Exponential(epsilon=1)
    bound = mechanism.accuracy(1 - exp(-1), size=50)
    draws = 2000
    missed = sum(scores.max() - mechanism.release(scores, rng=rng) >= bound for _ in range(draws))
    # Binomial with at most exp(-1): five deviations.
    assert missed <= draws * exp(-1) + 5 * np.sqrt(draws * exp(-1))


def test_lists_arrays_and_series_are_all_scores() -> None:
    expected = softmax([1, 2, 4], 0.5)
    given_scores: list[object] = [
        [1, 2, 4],
        (1, 2, 4),
        np.array([1, 2, 4], dtype=np.uint8),
        pl.Series([1, 2, 4]),
    ]
    for scores in given_scores:
        assert Exponential(epsilon=1).probabilities(scores) == pytest.approx(expected)  # type: ignore[arg-type]
    halves = Exponential(epsilon=1, grid=Grid(Fraction(1, 2)))
    fractions = np.array([Fraction(1, 2), Fraction(3)])
    assert halves.probabilities(fractions).tolist() == halves.probabilities([0.5, 3.0]).tolist()


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ([], "CEL-M060"),
        ([[1, 2]], "CEL-M060"),
        (["1", "2"], "CEL-M060"),
        ([True, False], "CEL-M060"),
        ([[1], [1, 2]], "CEL-M060"),
        (None, "CEL-M060"),
        (7, "CEL-M060"),
        ([1.0, 2.0], "CEL-M061"),
        ([1, None], "CEL-M061"),
        (pl.Series([1, None]), "CEL-M061"),
        ([0, 2**50 + 1], "CEL-M009"),
        (np.ma.array([1, 2], mask=[True, False]), "CEL-M060"),
        ([0, -(2**63)], "CEL-M009"),
        ([0, 2**70], "CEL-M009"),
    ],
)
def test_bad_scores_are_refused_before_anything_is_drawn(scores: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Exponential(epsilon=1).release(scores, rng=ForbiddenSource())  # type: ignore[arg-type]
    assert caught.value.code == code


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
def test_scores_off_the_grid_are_refused_without_being_told(bad: float) -> None:
    mechanism = Exponential(epsilon=1, grid=Grid(Fraction(1, 2)))
    with pytest.raises(InputError) as caught:
        mechanism.release([12345.5, bad], rng=ForbiddenSource())
    assert caught.value.code == "CEL-M009"
    assert "12345" not in str(caught.value)
    with pytest.raises(InputError, match="not a finite number"):
        mechanism.release([Fraction(1, 2), "x"], rng=ForbiddenSource())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"epsilon": 0}, "CEL-I060"),
        ({"epsilon": "1"}, "CEL-I060"),
        ({"epsilon": 1, "sensitivity": 0}, "CEL-I060"),
        ({"epsilon": 1, "sensitivity": 2**31}, "CEL-M062"),
        ({"epsilon": 1, "grid": Grid(Fraction(1, 2**40))}, "CEL-M062"),
        ({"epsilon": 1, "monotone": "no"}, "CEL-I060"),
        ({"epsilon": 1, "grid": 0.5}, "CEL-M008"),
        ({"epsilon": 1, "weights": ()}, "CEL-M064"),
        ({"epsilon": 1, "weights": (0, 0)}, "CEL-M064"),
        ({"epsilon": 1, "weights": (1, -1)}, "CEL-M064"),
        ({"epsilon": 1, "weights": (1, 0.5)}, "CEL-M064"),
        ({"epsilon": 1, "weights": (2**62 - 1, 1)}, "CEL-M064"),
        ({"epsilon": 1, "weights": 3}, "CEL-M064"),
    ],
)
def test_bad_parameters_are_refused(fields: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Exponential(**fields)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_monotone_is_refused_where_a_row_is_changed() -> None:
    with pytest.raises(PrivacyError) as caught:
        Exponential(epsilon=1, monotone=True, neighbours=CHANGE_ONE)
    assert caught.value.code == "CEL-M063"


def test_weights_must_be_as_many_as_scores() -> None:
    with pytest.raises(InputError) as caught:
        Exponential(epsilon=1, weights=(1, 2)).release([1, 2, 3], rng=ForbiddenSource())
    assert caught.value.code == "CEL-M064"


@given(
    st.fractions(Fraction(1, 10**9), 100),
    st.integers(1, 2**30),
    st.booleans(),
)
def test_a_rate_is_rounded_down_and_fits_a_machine_word(
    epsilon: Fraction, shift: int, monotone: bool
) -> None:
    rate = sampling_rate(epsilon, shift, monotone=monotone)
    exact = epsilon / shift / (1 if monotone else 2)
    assert 0 < rate <= exact
    assert rate.numerator < 2**31
    assert rate.denominator < 2**62
    if exact >= Fraction(1, 2**31):
        assert rate >= exact * (1 - Fraction(1, 2**29))


def test_it_prints_as_one_would_write_it_and_knows_its_price() -> None:
    assert str(Exponential(epsilon=0.5, monotone=True)) == "Exponential(epsilon=0.5, monotone=True)"
    assert Exponential(epsilon=0.5).privacy_loss() == BoundedRangeLoss(Fraction(1, 2))
    assert Exponential(epsilon=0.5, monotone=True).privacy_loss() == BoundedRangeLoss(
        Fraction(1, 2)
    )
