"""Privacy by exact computation: every outcome, both ways, discrete and continuous."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, inf, isclose, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse import (
    ABOVE,
    BELOW,
    AboveThreshold,
    NumericSparse,
    Sparse,
    SparseMechanism,
    SparseVector,
)
from celosia.mechanisms.sparse.analysis import (
    difference_tail,
    log_pattern,
    pattern_loss,
)
from celosia.mechanisms.sparse.exact_probabilities import (
    log_mass,
    log_probability,
    log_tail,
    outcome_law,
    outcomes,
    worst_loss,
)

SHIFTS = (-1, 0, 1)
ROUNDING = 1e-9
"""What the sums of floats may be off."""


def below_then_above(below: int, above: int) -> list[bool]:
    return [False] * below + [True] * above


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(
    "kind",
    [
        lambda e: AboveThreshold(e, threshold=0),
        lambda e: Sparse(e, threshold=0, positives=2),
        lambda e: SparseVector(e, threshold=0, positives=2),
        lambda e: SparseVector(e, threshold=[0, 1, 0, -1], positives=3),
        lambda e: SparseVector(e, threshold=0, positives=2, split=3),
    ],
)
def test_every_outcome_costs_at_most_epsilon_whatever_moves(epsilon: float, kind: object) -> None:
    mechanism: SparseMechanism = kind(epsilon)  # type: ignore[operator]
    law = outcome_law(mechanism, [0, 0, 0, 0])
    worst = 0.0
    for shifts in product(SHIFTS, repeat=4):
        moved = outcome_law(mechanism, shifts)
        worst = max(worst, *(abs(law[outcome] - moved[outcome]) for outcome in law))
    assert epsilon / 4 < worst <= epsilon + ROUNDING


@pytest.mark.parametrize("positives", [1, 2, 3])
def test_monotone_noise_is_enough_for_one_direction_and_not_for_two(positives: int) -> None:
    mechanism = SparseVector(1.0, threshold=0, positives=positives, monotone=True)
    answers = [0] * 5
    one_way = max(
        worst_loss(mechanism, answers, [sign * move for move in moves])
        for sign in (1, -1)
        for moves in product((0, 1), repeat=5)
    )
    assert one_way <= 1 + ROUNDING
    long = 60
    apart = loss_of(mechanism, [0] * (long + positives), [1] * long + [-1] * positives)
    assert apart > 1.2


def loss_of(mechanism: SparseMechanism, answers: list[int], neighbour: list[int]) -> float:
    """The loss of answers below and then as many above as are allowed."""
    said = mechanism.limit
    outcome = [BELOW] * (len(answers) - said) + [ABOVE] * said
    first, second = (log_probability(mechanism, some, outcome) for some in (answers, neighbour))
    return first - second


@given(
    answers=st.lists(st.integers(-5, 5), min_size=1, max_size=6),
    data=st.data(),
    epsilon=st.sampled_from([0.3, 1.0, 4.0]),
    positives=st.integers(1, 3),
)
@settings(max_examples=25)
def test_random_neighbours_cost_at_most_epsilon(
    answers: list[int], data: st.DataObject, epsilon: float, positives: int
) -> None:
    moves = data.draw(st.lists(st.sampled_from((-2, -1, 0, 1, 2)), min_size=6, max_size=6))
    neighbour = [answer + move for answer, move in zip(answers, moves, strict=False)]
    for mechanism in (
        Sparse(epsilon, threshold=1, positives=positives, sensitivity=2),
        SparseVector(epsilon, threshold=1, positives=positives, sensitivity=2),
    ):
        assert worst_loss(mechanism, answers, neighbour) <= epsilon + ROUNDING


def test_the_promise_is_tight_for_long_streams() -> None:
    for mechanism in (
        AboveThreshold(1.0, threshold=0),
        SparseVector(1.0, threshold=0, positives=3),
    ):
        said = mechanism.limit
        loss = loss_of(mechanism, [0] * (300 + said), [1] * 300 + [-1] * said)
        assert 0.999 < loss <= 1 + ROUNDING


def test_released_numbers_cost_their_share_and_no_more() -> None:
    mechanism = SparseVector(1.0, threshold=0, positives=1, numeric=0.5)
    answers, neighbour = [0] * 200 + [0], [1] * 200 + [-1]
    losses = []
    for number in (-40.0, 0.0, 40.0):
        outcome = [BELOW] * 200 + [number]
        first, second = (log_probability(mechanism, some, outcome) for some in (answers, neighbour))
        losses.append(first - second)
    assert max(losses) <= 1 + ROUNDING
    assert max(losses) > 0.99
    numeric = NumericSparse(1.0, threshold=0, positives=2)
    for numbers in product((-30.0, 0.0, 30.0), repeat=2):
        outcome = [BELOW, numbers[0], BELOW, numbers[1]]
        first = log_probability(numeric, [0, 0, 0, 0], outcome)
        for moves in product(SHIFTS, repeat=4):
            second = log_probability(numeric, moves, outcome)
            assert abs(first - second) <= 1 + ROUNDING


@pytest.mark.parametrize(
    "mechanism",
    [
        AboveThreshold(0.7, threshold=1),
        Sparse(0.7, threshold=1, positives=2),
        SparseVector(2.0, threshold=[0, 3, -1, 0, 2], positives=2),
    ],
    ids=str,
)
def test_the_chances_of_all_outcomes_add_up_to_one(mechanism: SparseMechanism) -> None:
    answers = [2, -3, 0, 4, 1]
    total = sum(exp(chance) for chance in outcome_law(mechanism, answers).values())
    assert isclose(total, 1, rel_tol=1e-11)


@pytest.mark.statistical
def test_outcomes_come_as_often_as_computed() -> None:
    mechanism = Sparse(3.0, threshold=1, positives=2)
    answers = [2, 0, 1]
    rng = Seeded(30)
    runs = 5_000
    seen: dict[tuple[object, ...], int] = {}
    for _ in range(runs):
        reply = mechanism.release(answers, rng=rng)
        seen[reply] = seen.get(reply, 0) + 1
    for outcome in outcomes(3, positives=2):
        chance = exp(log_probability(mechanism, answers, outcome))
        deviation = (chance * (1 - chance) / runs) ** 0.5
        assert abs(seen.get(outcome, 0) / runs - chance) < 5 * deviation


def test_impossible_outcomes_are_refused() -> None:
    mechanism = AboveThreshold(1.0, threshold=0)
    for outcome in ([ABOVE, BELOW], [BELOW], [ABOVE, ABOVE], [BELOW, 3.0]):
        with pytest.raises(InputError) as caught:
            log_probability(mechanism, [0, 0], outcome)  # type: ignore[arg-type]
        assert caught.value.code == "CEL-M112"


def test_log_masses_and_tails_are_those_of_the_noise() -> None:
    scale = Fraction(7, 3)
    law = DiscreteLaplace(scale)
    points = np.arange(-30, 31)
    assert np.allclose(np.exp(log_mass(points, scale)), [law.mass(int(z)) for z in points])
    assert np.allclose(np.exp(log_tail(points, scale)), [law.tail(int(z)) for z in points])


def test_discrete_noise_on_a_fine_grid_is_the_continuous_one() -> None:
    fine = AboveThreshold(1.0, threshold=0, grid=Grid(Fraction(1, 500)))
    discrete = log_probability(fine, [0.0, 1.0, 0.5], [BELOW, BELOW, ABOVE])
    continuous = log_pattern(
        [0.0, 1.0, 0.5], [False, False, True], threshold_scale=2, query_scale=4
    )
    assert isclose(discrete, continuous, abs_tol=1e-3)


def test_the_integral_agrees_with_quadrature() -> None:
    def laplace_below(x: float, scale: float) -> float:
        return exp(x / scale) / 2 if x < 0 else 1 - exp(-x / scale) / 2

    def integrand(z: float) -> float:
        density = exp(-abs(z) / 2) / 4
        low = laplace_below(z - 1, 3) * laplace_below(z + 0.5, 3)
        return density * low * (1 - laplace_below(z - 2, 3))

    plain = quad(integrand, -80, 80, points=[-0.5, 0, 1, 2], limit=500)[0]
    found = log_pattern([1, -0.5, 2], [False, False, True], threshold_scale=2, query_scale=3)
    assert isclose(exp(found), plain, rel_tol=1e-8)


@pytest.mark.parametrize("below", [1, 5, 100, 1000])
@pytest.mark.parametrize("above", [1, 2, 5])
def test_the_published_scales_cost_at_most_epsilon_and_tightly(below: int, above: int) -> None:
    # A.1 and Algorithm 8 with an even split; Algorithm 5 is the case of one positive.
    pattern = below_then_above(below, above)
    for moves in product(SHIFTS, repeat=2):
        neighbour = [moves[0]] * below + [moves[1]] * above
        loss = pattern_loss(
            [0.0] * len(pattern),
            neighbour,
            pattern,
            threshold_scale=2,
            query_scale=4 * above,
        )
        assert abs(loss) <= 1 + ROUNDING
        if moves == (1, -1) and below >= 1000:
            assert isclose(loss, 1, abs_tol=1e-3)


def test_above_threshold_is_tight_from_a_hundred_questions_on() -> None:
    pattern = below_then_above(100, 1)
    loss = pattern_loss(
        [0.0] * 101, [1.0] * 100 + [-1.0], pattern, threshold_scale=2, query_scale=4
    )
    assert isclose(loss, 1, abs_tol=1e-4)


@pytest.mark.parametrize("positives", [1, 3])
def test_monotone_scales_cost_epsilon_for_one_direction_and_half_more_for_two(
    positives: int,
) -> None:
    below = 1000
    pattern = below_then_above(below, positives)
    zeros = [0.0] * (below + positives)

    def loss(above: float) -> float:
        neighbour = [1.0] * below + [above] * positives
        return pattern_loss(zeros, neighbour, pattern, threshold_scale=2, query_scale=2 * positives)

    assert isclose(loss(0.0), 1, abs_tol=2e-3)
    assert isclose(loss(-1.0), 1.5, abs_tol=2e-3)


def test_sparse_restarts_cost_their_sum() -> None:
    pattern = [False, True, False, True]
    whole = log_pattern([0, 1, 2, 3], pattern, threshold_scale=4, query_scale=8, redraw=True)
    parts = [
        log_pattern(part, [False, True], threshold_scale=4, query_scale=8)
        for part in ([0, 1], [2, 3])
    ]
    assert isclose(whole, sum(parts), rel_tol=1e-12)


def test_a_pattern_that_cannot_happen_on_either_side_costs_nothing() -> None:
    loss = pattern_loss([1, 0], [1, 0], [False, True], threshold_scale=2, query_scale=0)
    assert loss == 0
    assert pattern_loss([0, 1], [1, 0], [False, True], threshold_scale=2, query_scale=0) == inf


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (2.0, 4.0), (4.0, 2.0), (0.5, 3.0)])
@pytest.mark.parametrize("limit", [-3.0, 0.0, 0.7, 5.0])
def test_the_difference_of_two_laplace_laws(first: float, second: float, limit: float) -> None:
    def integrand(y: float) -> float:
        x = limit + y
        tail = exp(-x / first) / 2 if x > 0 else 1 - exp(x / first) / 2
        return exp(-abs(y) / second) / (2 * second) * tail

    plain = quad(integrand, -150, 150, points=[0, -limit], limit=500)[0]
    assert isclose(difference_tail(limit, first, second), plain, rel_tol=1e-7)


def test_one_comparison_has_the_closed_form() -> None:
    found = exp(log_pattern([-3.0], [True], threshold_scale=2, query_scale=4))
    assert isclose(found, difference_tail(3.0, 4, 2), rel_tol=1e-10)
    assert isclose(log(found), log(difference_tail(3.0, 2, 4)), rel_tol=1e-10)
