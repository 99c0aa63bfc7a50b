"""A total with a given cap: exact privacy, noise, and refusals."""

from fractions import Fraction
from typing import Any

import pytest

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.queries.bounds.capped_total import CappedTotal
from celosia.queries.bounds.caps import capped_totals


@pytest.mark.parametrize(
    ("signed", "neighbours", "shift"),
    [(False, ADD_REMOVE, 3), (False, CHANGE_ONE, 3), (True, ADD_REMOVE, 3), (True, CHANGE_ONE, 6)],
)
def test_the_noise_hides_the_largest_move_of_one_person(
    signed: bool, neighbours: Neighbours, shift: int
) -> None:
    mechanism = CappedTotal(epsilon=0.5, cap=3, signed=signed, neighbours=neighbours)
    values = range(-5 if signed else 0, 6)
    changed = 0
    for old in values:
        for new in values:
            if neighbours is CHANGE_ONE:
                one, two = capped_totals([2, old], (3,)), capped_totals([2, new], (3,))
            else:
                one, two = capped_totals([old], (3,)), capped_totals([old, new], (3,))
            changed = max(changed, abs(one[0] - two[0]))
    assert changed == shift == mechanism.sensitivity
    assert mechanism.law.scale == Fraction(shift, 1) / Fraction(1, 2)
    assert mechanism.privacy_loss() == LaplaceLoss(mechanism.law.scale, shift)


def test_the_error_has_the_variance_of_the_noise() -> None:
    mechanism, rng, runs = CappedTotal(epsilon=1, cap=20), Seeded(3), 4000
    squares = sum((mechanism.release(500, rng=rng) - 500) ** 2 for _ in range(runs)) / runs
    # The fourth moment of Laplace noise is 6 variances squared: four standard deviations.
    tolerance = 4 * (5 / runs) ** 0.5 * mechanism.law.variance
    assert abs(squares - mechanism.law.variance) <= tolerance
    assert abs(0.8 * squares - mechanism.law.variance) > tolerance
    assert abs(1.25 * squares - mechanism.law.variance) > tolerance


def test_the_interval_holds_the_capped_total_as_often_as_it_says() -> None:
    mechanism, rng, runs = CappedTotal(epsilon=1, cap=20), Seeded(4), 2000
    held = 0
    for _ in range(runs):
        low, high = mechanism.interval(mechanism.measure(500, rng=rng), 0.9)
        held += low <= 500 <= high
    assert abs(held / runs - 0.9) <= 4 * (0.09 / runs) ** 0.5 + 0.01  # whole numbers hold more


def test_bad_parameters_and_totals_are_refused() -> None:
    fields: list[dict[str, Any]] = [{"epsilon": 0}, {"cap": 0}, {"cap": 2.5}, {"signed": "no"}]
    for wrong in fields:
        with pytest.raises(InputError):
            CappedTotal(**{"epsilon": 1, "cap": 5, **wrong})
    totals: list[Any] = [1.5, "1", True, None, 2**51]
    for total in totals:
        with pytest.raises(InputError) as refused:
            CappedTotal(epsilon=1, cap=5).release(total, rng=Seeded(1))
        assert refused.value.key == "CEL-Q081.totals"
