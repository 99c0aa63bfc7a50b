"""The map of many maskings."""

from __future__ import annotations

import math

import pytest

from celosia.core.figures import risk_map
from celosia.core.figures.risk_map import MOST_NAMES


def test_methods_are_in_the_legend_and_parameters_at_the_points() -> None:
    drawn = str(risk_map([("mdav k=3", 0.1, 0.4), ("noise p=1", 0.3, 0.2)], title="Tried"))
    for words in ("Tried", "mdav", "noise", "k=3", "p=1", "best for their loss"):
        assert words in drawn


def test_of_very_many_points_only_the_best_have_their_parameters() -> None:
    many = [(f"noise p={n}", n / 100, 0.9) for n in range(MOST_NAMES + 1)]
    drawn = str(risk_map(many))
    assert ">p=0<" in drawn
    assert ">p=7<" not in drawn


@pytest.mark.parametrize("points", [[], [("a", math.nan, 0.1)], [("a", 0.1, math.inf)]])
def test_points_without_a_place_are_refused(points: list[tuple[str, float, float]]) -> None:
    with pytest.raises(ValueError, match="finite"):
        risk_map(points)
