"""Permute-and-flip: its law, its price, and that it is never worse than the exponential one."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource
from tests.mechanisms.selection_oracles import FALSE_ALARM, loss_span, p_value

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise.bernoulli import bernoulli_exp_rate
from celosia.mechanisms.selection.exponential import Exponential
from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip


def flipped_in_every_order(scores: list[int], rate: float) -> list[float]:
    """The law by its definition: all orders, each coin after the ones before it."""
    found = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            heads = exp(-rate * (max(scores) - scores[place]))
            found[place] += left * heads / len(orders)
            left *= 1 - heads
    return found


def test_the_chances_are_those_of_exponential_noise() -> None:
    assert PermuteAndFlip(epsilon=1).probabilities([0, 1, 2]) == pytest.approx(
        [0.14675, 0.26608, 0.58717], abs=5e-6
    )


@pytest.mark.parametrize("gap", [0, 1, 3, 10])
def test_of_two_the_wrong_one_wins_with_half_the_chance_of_its_coin(gap: int) -> None:
    wrong = PermuteAndFlip(epsilon=1, monotone=True).probabilities([0, gap])[0]
    assert wrong == pytest.approx(exp(-gap) / 2)
    assert Exponential(epsilon=1, monotone=True).probabilities([0, gap])[0] == pytest.approx(
        1 / (1 + exp(gap))
    )


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.sampled_from([0.1, 1, 4]))
def test_the_chances_are_those_of_all_orders(scores: list[int], epsilon: float) -> None:
    found = PermuteAndFlip(epsilon=epsilon).probabilities(scores)
    assert found == pytest.approx(flipped_in_every_order(scores, epsilon / 2))


def test_the_chances_of_many_candidates_still_sum_to_one() -> None:
    scores = np.random.default_rng(1).integers(0, 40, 512)
    assert PermuteAndFlip(epsilon=1).probabilities(scores).sum() == pytest.approx(1, abs=1e-10)
    with pytest.raises(InputError) as caught:
        PermuteAndFlip(epsilon=1).probabilities([0] * 513)
    assert caught.value.code == "CEL-M071"


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.sampled_from([0.1, 1, 4]))
def test_it_is_never_worse_than_the_exponential_mechanism(
    scores: list[int], epsilon: float
) -> None:
    ours = PermuteAndFlip(epsilon=epsilon).probabilities(scores)
    theirs = Exponential(epsilon=epsilon).probabilities(scores)
    array = np.array(scores)
    for shortfall in range(19):  # in distribution, not only in the mean
        far = array <= array.max() - shortfall
        assert ours[far].sum() <= theirs[far].sum() + 1e-9


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-2, 2)), min_size=1, max_size=6),
    st.sampled_from([0.1, 1, 4]),
    st.booleans(),
)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(
    pairs: list[tuple[int, int]], epsilon: float, monotone: bool
) -> None:
    mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=2, monotone=monotone)
    scores = [score for score, _ in pairs]
    moved = [score + (abs(change) if monotone else change) for score, change in pairs]
    loss, _ = loss_span(mechanism.probabilities(scores), mechanism.probabilities(moved))
    assert loss <= epsilon * (1 + 1e-9)


def test_the_price_is_tight_and_the_flag_matters() -> None:
    general = PermuteAndFlip(epsilon=1)
    one, other = general.probabilities([0, 20]), general.probabilities([1, 19])
    assert loss_span(one, other)[0] == pytest.approx(1)
    counts = PermuteAndFlip(epsilon=1, monotone=True)
    one, other = counts.probabilities([0, 20]), counts.probabilities([1, 19])
    assert loss_span(one, other)[0] == pytest.approx(2)


def test_its_losses_span_more_than_epsilon_so_it_is_booked_as_pure() -> None:
    mechanism = PermuteAndFlip(epsilon=1)
    one, other = mechanism.probabilities([0, 2]), mechanism.probabilities([1, 1])
    assert loss_span(one, other)[1] > 1
    assert mechanism.privacy_loss() == PureLoss(Fraction(1))


@pytest.mark.statistical
def test_draws_follow_the_chances_and_no_other_epsilon() -> None:
    scores, rng = [0, 3, 5, 8], Seeded(12)
    mechanism = PermuteAndFlip(epsilon=1)
    drawn = [mechanism.release(scores, rng=rng) for _ in range(6000)]
    assert p_value(drawn, mechanism.probabilities(scores)) > FALSE_ALARM
    for factor in (0.8, 1.25):
        other = PermuteAndFlip(epsilon=factor).probabilities(scores)
        assert p_value(drawn, other) < FALSE_ALARM
    assert p_value(drawn, Exponential(epsilon=1).probabilities(scores)) < FALSE_ALARM


@pytest.mark.statistical
def test_the_largest_score_with_exponential_noise_has_the_same_law() -> None:
    scores = np.array([0, 3, 5, 8])
    noisy = scores + np.random.default_rng(5).exponential(scale=2, size=(200_000, 4))
    law = PermuteAndFlip(epsilon=1).probabilities(scores)
    assert p_value(noisy.argmax(axis=1), law) > FALSE_ALARM


@pytest.mark.statistical
def test_coins_whose_exponents_would_overflow_are_tossed_in_pieces() -> None:
    # Numerator 2^30 times 2^40 is beyond 64 bits; the chance is exp(-1/2).
    draws = 20_000
    rate = Fraction(2**30, 2**61) * Fraction(2**31 - 1, 2**31)
    rate = Fraction(rate.numerator, 2**62)
    exponents = np.full(draws, 2**62 // (2 * rate.numerator), dtype=np.int64)
    heads = int(bernoulli_exp_rate(exponents, rate=rate, rng=Seeded(3)).sum())
    chance = exp(-float(rate * int(exponents[0])))
    assert abs(heads - draws * chance) < 5 * np.sqrt(draws * chance * (1 - chance))
    pieces = bernoulli_exp_rate(
        np.full(draws, 2**61, dtype=np.int64), rate=Fraction(3, 2**62), rng=Seeded(4)
    )
    chance = exp(-1.5)  # 2^61 * 3 overflows
    assert abs(int(pieces.sum()) - draws * chance) < 5 * np.sqrt(draws * chance * (1 - chance))
    assert not bernoulli_exp_rate(np.array([2**51]), rate=Fraction(2**31 - 1, 1), rng=Seeded(5))[0]


def test_a_certain_coin_always_falls_heads() -> None:
    assert bernoulli_exp_rate(np.zeros(100, dtype=np.int64), rate=Fraction(7), rng=Seeded(1)).all()
    assert PermuteAndFlip(epsilon=100).release([0, 2**50, -(2**50)], rng=Seeded(1)) == 1


def test_its_shortfall_bound_is_that_of_the_exponential_mechanism() -> None:
    assert PermuteAndFlip(epsilon=1).accuracy(0.9, size=30) == (
        Exponential(epsilon=1).accuracy(0.9, size=30)
    )
    scores = np.arange(0, 60, 2)
    bound = PermuteAndFlip(epsilon=1).accuracy(0.9, size=30)
    chances = PermuteAndFlip(epsilon=1).probabilities(scores)
    assert chances[scores <= 58 - bound].sum() <= 0.1


@pytest.mark.parametrize("scores", [[], [0.5], ["a"], [2**51]])
def test_bad_scores_are_refused_before_anything_is_drawn(scores: list[object]) -> None:
    with pytest.raises(InputError):
        PermuteAndFlip(epsilon=1).release(scores, rng=ForbiddenSource())  # type: ignore[arg-type]
