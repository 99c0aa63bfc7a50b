"""Groups of neighbours, other relations and other units."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.pairs import discrete_laplace, mixed, worst

from celosia.accounting.amplification import amplify_by_poisson_sampling
from celosia.accounting.group_privacy import GroupLoss, convert, for_group
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation

TENTH = Fraction(1, 10)


def test_each_kind_of_loss_grows_by_its_own_rule() -> None:
    assert for_group(PureLoss(TENTH), 3) == PureLoss(3 * TENTH)
    assert for_group(BoundedRangeLoss(TENTH), 3) == BoundedRangeLoss(3 * TENTH)
    assert for_group(ConcentratedLoss(TENTH), 3) == ConcentratedLoss(9 * TENTH)
    assert for_group(LaplaceLoss(Fraction(10), 2), 3) == LaplaceLoss(Fraction(10), 6)
    assert for_group(GaussianLoss(Fraction(4), 1), 3) == GaussianLoss(Fraction(4), 3)
    both = for_group(ComposedLoss((PureLoss(TENTH), ConcentratedLoss(TENTH))), 2)
    assert both == ComposedLoss((PureLoss(2 * TENTH), ConcentratedLoss(4 * TENTH)))


@pytest.mark.parametrize(
    "loss", [PureLoss(TENTH), ApproximateLoss(TENTH, 1e-6), GaussianLoss(Fraction(4), 1)]
)
def test_a_group_of_one_is_one(loss: Loss) -> None:
    assert for_group(loss, 1) is loss


@given(
    epsilon=st.fractions(0, 2, max_denominator=50),
    delta=st.floats(1e-12, 1e-6),
    size=st.integers(2, 6),
)
def test_delta_of_a_group_is_the_chain_of_single_steps(
    epsilon: Fraction, delta: float, size: int
) -> None:
    chained = 0.0
    for _ in range(size):
        chained = chained * exp(epsilon) + delta
    found = for_group(ApproximateLoss(epsilon, delta), size)
    assert isinstance(found, ApproximateLoss)
    assert found.value == size * epsilon
    assert found.failure == pytest.approx(chained, rel=1e-9)
    assert found.failure >= chained * (1 - 1e-13)
    assert found.failure <= size * exp((size - 1) * epsilon) * delta * (1 + 1e-9)


def test_two_steps_of_epsilon_delta_give_the_known_figure() -> None:
    found = for_group(ApproximateLoss(Fraction(1), 1e-6), 2)
    assert found.epsilon(1.0) <= 2
    assert isinstance(found, ApproximateLoss)
    assert found.failure == pytest.approx((1 + exp(1)) * 1e-6)


def test_no_smaller_delta_holds_for_a_group_of_an_epsilon_delta_promise() -> None:
    # An event of chance 0 may have the chance delta one step away, then e^epsilon times that plus
    # delta, and so on: each step keeps the promise, for the event and for its complement.
    epsilon, delta, size = 0.5, 1e-4, 5
    chances = [0.0]
    for _ in range(size):
        chances.append(exp(epsilon) * chances[-1] + delta)
    for one, two in pairwise(chances):
        for p, q in ((one, two), (two, one), (1 - one, 1 - two), (1 - two, 1 - one)):
            assert p <= exp(epsilon) * q + delta + 1e-15
    found = for_group(ApproximateLoss(Fraction(1, 2), delta), size)
    assert isinstance(found, ApproximateLoss)
    assert found.failure == pytest.approx(chances[-1])


def test_an_empty_promise_is_refused() -> None:
    with pytest.raises(PrivacyError) as caught:
        for_group(ApproximateLoss(Fraction(5), 1e-6), 4)
    assert caught.value.key == "CEL-B045.large_group"


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "2"])
def test_a_group_has_a_whole_size(size: int) -> None:
    with pytest.raises(InputError) as caught:
        for_group(PureLoss(TENTH), size)
    assert caught.value.code == "CEL-I060"


def test_a_sampled_release_is_bounded_for_two_people_by_its_chain() -> None:
    rate, scale = 0.3, 1.0
    loss = for_group(amplify_by_poisson_sampling(LaplaceLoss(Fraction(1), 1), rate=rate), 2)
    assert isinstance(loss, GroupLoss)
    without = discrete_laplace(scale)
    # Zero, one or two of the pair are in the sample, each by a coin.
    chances = [(1 - rate) ** 2, 2 * rate * (1 - rate), rate**2]
    laws = [discrete_laplace(scale, shift) for shift in range(3)]
    both = mixed(list(zip(chances, laws, strict=True)))
    for epsilon in (0.0, 0.2, 0.5, 0.8):
        exact = worst(without, both, epsilon)
        assert exact <= loss.delta(epsilon) + 1e-12
    assert loss.pure == pytest.approx(2 * log(1 + rate * (exp(1) - 1)))
    assert loss.delta(loss.pure) == 0
    assert loss.distribution().get_delta_for_epsilon(0.5) >= loss.delta(0.5) - 1e-12


def test_change_one_costs_two_steps_of_add_remove() -> None:
    assert convert(PureLoss(TENTH), ADD_REMOVE, CHANGE_ONE) == PureLoss(2 * TENTH)
    assert convert(ConcentratedLoss(TENTH), ADD_REMOVE, CHANGE_ONE) == ConcentratedLoss(4 * TENTH)
    assert convert(PureLoss(TENTH), CHANGE_ONE, CHANGE_ONE) == PureLoss(TENTH)


def test_change_one_never_gives_add_remove() -> None:
    with pytest.raises(PrivacyError) as caught:
        convert(PureLoss(TENTH), CHANGE_ONE, ADD_REMOVE)
    assert caught.value.key == "CEL-B045.add_remove"


def test_rows_become_people_by_how_many_rows_they_have() -> None:
    person = Neighbours(unit="person")
    changed = Neighbours(Relation.CHANGE_ONE, unit="person")
    assert convert(PureLoss(TENTH), ADD_REMOVE, person, rows_per_unit=4) == PureLoss(4 * TENTH)
    assert convert(PureLoss(TENTH), ADD_REMOVE, changed, rows_per_unit=4) == PureLoss(8 * TENTH)
    assert convert(PureLoss(TENTH), CHANGE_ONE, changed, rows_per_unit=1) == PureLoss(TENTH)


def test_units_of_unknown_relation_are_refused() -> None:
    person, visit = Neighbours(unit="person"), Neighbours(unit="visit")
    changed = Neighbours(Relation.CHANGE_ONE, unit="person")
    wrong = [
        (ADD_REMOVE, person, None),
        (visit, person, 3),
        (person, ADD_REMOVE, 3),
        (CHANGE_ONE, changed, 2),
    ]
    for source, target, rows in wrong:
        with pytest.raises(PrivacyError) as caught:
            convert(PureLoss(TENTH), source, target, rows_per_unit=rows)
        assert caught.value.key == "CEL-B045.units"
