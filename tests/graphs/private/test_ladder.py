"""A ladder is drawn exactly by its chances."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.core.randomness import Seeded
from celosia.graphs.private.local_sensitivity import Ladder
from celosia.mechanisms.noise import DiscreteLaplace, draw_weighted

RATE = Fraction(1, 4)


@pytest.mark.parametrize("rungs", [[1], [1, 1, 3], [2, 5, 5, 9, 30]], ids=str)
def test_the_chances_of_all_numbers_add_up_to_one(rungs: list[int]) -> None:
    ladder = Ladder(7, np.array(rungs))
    # Beyond 200 rungs e^-50 of the last width is left.
    reach = 200 * rungs[-1]
    total = sum(ladder.mass(point, RATE) for point in range(7 - reach, 8 + reach))
    assert total == pytest.approx(1, abs=1e-9)


def test_draws_follow_the_chances() -> None:
    ladder = Ladder(7, np.array([1, 2, 2, 5]))
    rng, size = Seeded(3), 2000
    draws = [ladder.draw(Fraction(1), rng) for _ in range(size)]
    # Six cells; a chi-square of 5 degrees exceeds 45 once in 10^8.
    cells = [range(-1000, 5), range(5, 7), range(7, 8), range(8, 9), range(9, 11), range(11, 1000)]
    statistic = 0.0
    for cell in cells:
        share = sum(ladder.mass(point, Fraction(1)) for point in cell)
        seen = sum(draw in cell for draw in draws)
        statistic += (seen - size * share) ** 2 / (size * share)
    assert statistic < 45


def test_a_narrower_ladder_would_be_told_apart() -> None:
    ladder, narrow = (Ladder(0, np.array(rungs)) for rungs in ([2, 4], [1, 2]))
    rng, size = Seeded(3), 2000
    mean = np.mean([abs(ladder.draw(Fraction(1), rng)) for _ in range(size)])
    laws = [
        sum(2 * p * each.mass(p, Fraction(1)) for p in range(1, 300)) for each in (ladder, narrow)
    ]
    squares = sum(2 * p * p * ladder.mass(p, Fraction(1)) for p in range(1, 300))
    tolerance = 6 * np.sqrt(squares / size)
    assert abs(mean - laws[0]) < tolerance < abs(laws[0] - laws[1])


def test_widths_near_the_largest_do_not_overflow() -> None:
    ladder = Ladder(0, np.array([2**59, 2**60 - 1, 2**60 - 1]))
    draws = [ladder.draw(Fraction(1, 100), Seeded(seed)) for seed in range(20)]
    assert max(map(abs, draws)) > 2**64


def test_a_rate_that_is_rounded_is_the_same_in_both_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    # The scale is beyond 64-bit arithmetic, so the law rounds it up; the choice of a rung must use
    # that scale and not the one asked for.
    rate = Fraction(3**40, 7**20)
    used = DiscreteLaplace(1 / rate).scale
    assert used > 1 / rate
    seen = []

    def spied(places: NDArray[np.int64], *, rate: Fraction, **rest: Any) -> int:
        seen.append(rate)
        return draw_weighted(places, rate=rate, **rest)

    monkeypatch.setattr("celosia.graphs.private.local_sensitivity.draw_weighted", spied)
    Ladder(0, np.array([1, 2], dtype=np.int64)).draw(rate, Seeded(1))
    assert seen == [1 / used]
