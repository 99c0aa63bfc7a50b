"""The base of mechanisms that select among scored candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.mechanisms.grid import Grid, check_grid
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.parameters import (
    EPSILON,
    SENSITIVITY,
    check_epsilon,
    check_monotone,
    check_sensitivity,
    field_of,
)
from celosia.mechanisms.selection.scores import sampling_rate, steps_moved, whole_scores

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, kw_only=True)
class SelectionMechanism(Mechanism[ArrayLike, Candidate]):
    """A choice among candidates that are fixed without looking at the data, by private scores.

    Args:
        epsilon: from 1e-9 to 100.
        sensitivity: the most by which one neighbour step moves any one score.
        monotone: for each pair of neighbours all scores move in the same direction, none against
            the others. Counts are monotone when a row is added or removed; they are not when a row
            is changed, which raises one count and lowers another. Half the noise is then enough.
        grid: None for scores of a whole-number type. Other scores are rounded to the grid, which
            keeps their order and adds up to one step to the sensitivity.
    """

    epsilon: float = field_of(EPSILON)
    sensitivity: float = field_of(SENSITIVITY, 1)
    monotone: bool = False
    grid: Grid | None = None

    def check(self) -> None:
        """Refuse a claim that cannot hold, what is no grid, and one that is too fine."""
        check_monotone(self.monotone, self.neighbours, code="CEL-M063")
        check_grid(self.grid)
        self._rate()

    def _shift(self) -> int:
        return steps_moved(check_sensitivity(self.sensitivity), self.grid)

    def _rate(self) -> Fraction:
        """How fast the chance of a candidate falls with every step below the best."""
        return sampling_rate(check_epsilon(self.epsilon), self._shift(), monotone=self.monotone)

    def _steps(self, scores: ArrayLike) -> NDArray[np.int64]:
        return whole_scores(scores, self.grid)

    def _in_score_units(self, steps: float) -> float:
        """A shortfall in steps as one of the scores, with half a step of rounding at both ends."""
        if self.grid is None:
            return float(steps)
        return float(self.grid.step) * (steps + 1)
