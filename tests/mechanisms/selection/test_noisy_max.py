"""Report noisy max with discrete Laplace noise: its law with ties, its price, its shortfall."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource
from tests.mechanisms.selection_oracles import FALSE_ALARM, loss_span, p_value

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.selection.top_selection import NoisyMax


def over_all_noises(scores: list[int], rate: float, reach: int) -> list[float]:
    """The law by its definition: every combination of noises, the winner's share of each tie."""
    found = [0.0] * len(scores)
    masses = [exp(-rate * abs(z)) for z in range(-reach, reach + 1)]
    masses = [mass / sum(masses) for mass in masses]
    for noises in product(range(-reach, reach + 1), repeat=len(scores)):
        noisy = [score + z for score, z in zip(scores, noises, strict=True)]
        chance = 1.0
        for z in noises:
            chance *= masses[z + reach]
        best = [place for place, score in enumerate(noisy) if score == max(noisy)]
        for place in best:
            found[place] += chance / len(best)
    return found


@pytest.mark.parametrize("scores", [[0, 0], [0, 3], [0, 1, 2], [4, 4, 1]])
def test_the_chances_are_those_of_all_noises(scores: list[int]) -> None:
    found = NoisyMax(epsilon=3, monotone=True).probabilities(scores)
    # Noise beyond 12 at a rate of 3 has a chance of less than exp(-36) each.
    assert found == pytest.approx(over_all_noises(scores, 3, 12), abs=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_the_law_tends_to_that_of_laplace_noise() -> None:
    fine = NoisyMax(epsilon=1, sensitivity=200).probabilities([0, 200, 400])
    assert fine == pytest.approx([0.175, 0.305, 0.520], abs=1e-3)


def laplace_wrong(gap: float, scale: float) -> float:
    """P(X - Y > gap) for two Laplace variables of one scale, gap at least 0."""
    return exp(-gap / scale) * (2 + gap / scale) / 4


@pytest.mark.parametrize(
    ("scale", "gaps", "loss"),
    [(1, (50, 49), 0.98058), (1, (50, 48), 1.96078), (2, (50, 48), 0.96226)],
)
def test_two_candidates_lose_what_the_closed_form_says(
    scale: float, gaps: tuple[int, int], loss: float
) -> None:
    far, near = (laplace_wrong(gap, scale) for gap in gaps)
    assert log(near / far) == pytest.approx(loss, abs=5e-6)
    # The same on a grid of thousandths, where the noise is nearly continuous; a gap that closes by
    # 1 is one count more, a gap that closes by 2 is one count up and one down.
    mechanism = NoisyMax(epsilon=1, sensitivity=1000, monotone=scale == 1)
    one = mechanism.probabilities([0, 1000 * gaps[0]])[0]
    other = mechanism.probabilities([0, 1000 * gaps[1]])[0]
    assert log(other / one) == pytest.approx(loss, abs=1e-4)


@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(-2, 2)), min_size=1, max_size=5),
    st.sampled_from([0.25, 1, 4]),
    st.booleans(),
)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(
    pairs: list[tuple[int, int]], epsilon: float, monotone: bool
) -> None:
    mechanism = NoisyMax(epsilon=epsilon, sensitivity=2, monotone=monotone)
    scores = [score for score, _ in pairs]
    moved = [score + (abs(change) if monotone else change) for score, change in pairs]
    loss, _ = loss_span(mechanism.probabilities(scores), mechanism.probabilities(moved))
    assert loss <= epsilon * (1 + 1e-6)


def test_the_flag_matters() -> None:
    mechanism = NoisyMax(epsilon=1, monotone=True)
    one, other = mechanism.probabilities([0, 40]), mechanism.probabilities([1, 39])
    assert loss_span(one, other)[0] > 1.9


@pytest.mark.parametrize("rate", [0.01, 0.5, 3])
def test_the_next_tail_is_at_least_the_ratio_times_the_last(rate: float) -> None:
    # The step of the proof that ties keep epsilon, from a law of its own.
    ratio = exp(-rate)

    def tail(least: int) -> float:
        if least >= 1:
            return ratio**least / (1 + ratio)
        return 1 - ratio ** (1 - least) / (1 + ratio)

    last = inf
    for least in range(-60, 60):
        step = tail(least + 1) / tail(least)
        assert ratio * (1 - 1e-12) <= step <= last * (1 + 1e-12)
        last = step


@pytest.mark.statistical
def test_draws_follow_the_chances_and_no_other_epsilon() -> None:
    scores, rng = [0, 3, 5, 8], Seeded(13)
    mechanism = NoisyMax(epsilon=1)
    drawn = [mechanism.release(scores, rng=rng) for _ in range(6000)]
    assert p_value(drawn, mechanism.probabilities(scores)) > FALSE_ALARM
    for factor in (0.8, 1.25):
        assert p_value(drawn, NoisyMax(epsilon=factor).probabilities(scores)) < FALSE_ALARM


@pytest.mark.statistical
def test_ties_fall_to_each_with_the_same_chance() -> None:
    rng = Seeded(14)
    mechanism = NoisyMax(epsilon=20, monotone=True)  # nearly every draw is a tie
    drawn = [mechanism.release([5, 5, 5], rng=rng) for _ in range(3000)]
    assert p_value(drawn, [1 / 3] * 3) > FALSE_ALARM


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 2), (1, 10), (2, 200)])
def test_the_shortfall_bound_holds_and_is_not_loose(epsilon: float, size: int) -> None:
    mechanism = NoisyMax(epsilon=epsilon)
    bound = mechanism.accuracy(0.9, size=size)
    missed = [
        1 - mechanism.probabilities([gap] + [0] * (size - 1))[0]
        for gap in (int(bound) + 1, int(bound / 2))
    ]
    assert missed[0] <= 0.1 < missed[1]
    laplace = DiscreteLaplace(1 / Fraction(epsilon / 2)).bound(0.9, size=size)
    assert bound <= 2 * laplace  # what bounding every noise by itself would give


def test_a_grid_adds_its_rounding_to_the_noise_and_the_shortfall() -> None:
    mechanism = NoisyMax(epsilon=1, grid=Grid(Fraction(1, 4)))
    quarters = NoisyMax(epsilon=1, sensitivity=5)
    found = mechanism.probabilities([0.0, 0.5])
    assert found == pytest.approx(quarters.probabilities([0, 2]))
    assert mechanism.accuracy(size=5) == (quarters.accuracy(size=5) + 1) / 4


def test_one_candidate_is_always_chosen() -> None:
    assert NoisyMax(epsilon=1).release([3], rng=Seeded(1)) == 0
    assert NoisyMax(epsilon=1).accuracy(size=1) == 0
    assert NoisyMax(epsilon=1).privacy_loss() == PureLoss(Fraction(1))


@pytest.mark.parametrize("scores", [[], [0.5], ["a"], [2**51]])
def test_bad_scores_are_refused_before_anything_is_drawn(scores: list[object]) -> None:
    with pytest.raises(InputError):
        NoisyMax(epsilon=1).release(scores, rng=ForbiddenSource())  # type: ignore[arg-type]


def test_chances_that_would_take_hours_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        NoisyMax(epsilon=1e-6, sensitivity=1000).probabilities([1, 2])
    assert caught.value.code == "CEL-M071"


def test_noise_beyond_64_bits_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        NoisyMax(epsilon=1e-9, sensitivity=2**25)
    assert caught.value.code == "CEL-M062"
