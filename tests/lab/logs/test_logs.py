"""The study `logs`: published thresholds, vectors and examples come out again."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.lab.studies import findings

from celosia.lab.logs.keys import zealous_chance
from celosia.logs.private import LaplaceKeys


@pytest.mark.parametrize("part", ["keys", "sets", "addresses", "audits"])
def test_every_cell_is_as_published(part: str) -> None:
    found = findings(f"logs/{part}")
    assert [str(row) for row in found.rows if row.differs] == []


def test_zealous_with_a_first_threshold_of_one_is_the_laplace_threshold() -> None:
    """Check 29, first half; a higher first threshold drops keys that the other would name."""
    laplace = LaplaceKeys(epsilon=1, delta=1e-5)
    for count in range(40):
        chance = zealous_chance(
            count, scale=laplace.law.scale, first=1, second=laplace.threshold - 1
        )
        assert chance == laplace.chance(count)
    assert zealous_chance(5, scale=Fraction(1), first=6, second=12) == 0
    assert zealous_chance(5, scale=Fraction(1), first=1, second=12) > 0
