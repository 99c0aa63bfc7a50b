"""The base of mechanisms that select among scored candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.mechanisms import parameters
from celosia.mechanisms.grid import FARTHEST, WHOLE, Grid, check_grid
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.values import array_of

MOST_STEPS = 2**30
"""Steps that one neighbour may move a score: beyond it a rate would not fit a machine word."""

NEARLY = 1 + Fraction(1, 2**50)
MOST_CANDIDATES = 2**40
MOST_WEIGHT = 2**62 - 1


def steps_moved(sensitivity: Fraction, grid: Grid | None) -> int:
    """Steps that a neighbour moves a score: whole scores stay whole, others are rounded first.

    >>> steps_moved(Fraction(1), None), steps_moved(Fraction(1), Grid(Fraction(1, 4)))
    (1, 5)

    Raises:
        InputError: CEL-M062 more steps than can be handled.
    """
    # A sensitivity that was computed in floats may lie a hair below the whole number it stands for.
    shift = max(1, floor(sensitivity * NEARLY)) if grid is None else grid.shift(sensitivity)
    if shift > MOST_STEPS:
        raise too_fine()
    return shift


def sampling_rate(epsilon: Fraction, shift: int, *, monotone: bool = False) -> Fraction:
    """The rate per step: epsilon / (2 shift), or epsilon / shift for monotone scores.

    A rate whose numerator or denominator is too long for a machine word is rounded down, which
    costs accuracy of one part in a billion and never privacy.

    >>> sampling_rate(Fraction(1), 1), sampling_rate(Fraction(1), 1, monotone=True)
    (Fraction(1, 2), Fraction(1, 1))
    """
    rate = epsilon / (shift if monotone else 2 * shift)
    top, bottom = rate.numerator, rate.denominator
    if top < 2**31 and bottom < 2**62:
        return rate
    # rate < 2^(size + 1), so 2^(30 - size) times it stays below 2^31; 2^61 is the finest scale.
    size = top.bit_length() - bottom.bit_length()
    scale = 2 ** min(61, 30 - size)
    rounded = Fraction(floor(rate * scale), scale)
    if rounded == 0:
        raise too_fine()
    return rounded


def whole_scores(scores: ArrayLike, grid: Grid | None) -> NDArray[np.int64]:
    """Scores as whole numbers of steps, each within 2**50 of zero, so that differences fit.

    Whether scores are whole is told by their type and not by their values: a list of counts needs
    no grid, a list of floats does, whatever it holds.

    >>> whole_scores([3, 1], None), whole_scores([0.3, 1], Grid(Fraction(1, 4)))
    (array([3, 1]), array([1, 4]))

    Raises:
        InputError: CEL-M060 not a list of numbers; CEL-M061 not whole and no grid; CEL-M009.
    """
    array = array_of(scores)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iufO":
        raise _no_scores()
    if not 0 < array.size <= MOST_CANDIDATES:
        raise _no_scores()
    if array.dtype.kind == "O":
        return _of_objects(array, grid)
    if grid is not None:
        return grid.indices(array.astype(np.float64))
    if array.dtype.kind == "f":
        raise _not_whole()
    if int(array.min()) < -FARTHEST or int(array.max()) > FARTHEST:
        WHOLE.index(FARTHEST + 1)  # refuses as every grid does
    return array.astype(np.int64)


def whole_weights(weights: object) -> tuple[int, ...]:
    """Public base weights of the candidates: whole numbers of at least 0, not all of them 0."""
    try:
        numbers = [whole(weight) for weight in weights]  # type: ignore[attr-defined]
    except TypeError:
        numbers = []
    found = tuple(number for number in numbers if number is not None and number >= 0)
    if len(found) < len(numbers) or not 0 < sum(found) <= MOST_WEIGHT:
        raise InputError("CEL-M064.not_whole", most_weight=MOST_WEIGHT)
    return found


def shortfall(confidence: float, *, rate: Fraction, size: int) -> float:
    """Steps by which the chosen score may miss the best one (Dwork & Roth 2014, Cor. 3.12).

    At most `size * exp(-rate * s)` is the chance of a candidate that is s steps below the best.

    >>> round(shortfall(0.95, rate=Fraction(1, 2), size=1000), 3)
    19.807
    """
    allowed = 1 - parameters.check_confidence(confidence)
    candidates = parameters.check_whole(size, name="size", most=MOST_WEIGHT)
    return (log(candidates) + log(1 / allowed)) / float(rate)


def chances(
    exponents: NDArray[np.int64], *, rate: Fraction, weights: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Probabilities proportional to weight * exp(-rate * exponent), to float precision.

    Differences are taken in whole numbers and the largest logarithm is taken off before the
    exponential, so nothing overflows.
    """
    logarithms = -float(rate) * (exponents - exponents.min()).astype(np.float64)
    if weights is not None:
        with np.errstate(divide="ignore"):  # a weight of 0 has the logarithm -inf
            logarithms = logarithms + np.log(weights)
    found = np.exp(logarithms - logarithms.max())
    return np.asarray(found / found.sum())


def too_fine() -> InputError:
    """The refusal of a grid on which one neighbour moves a score by too many steps."""
    return InputError("CEL-M062", most_steps=MOST_STEPS)


def _of_objects(array: NDArray[np.object_], grid: Grid | None) -> NDArray[np.int64]:
    if grid is not None:
        return np.array([grid.index(score) for score in array], dtype=np.int64)
    if any(whole(score) is None for score in array):
        raise _not_whole()
    return np.array([WHOLE.index(score) for score in array], dtype=np.int64)


def _no_scores() -> InputError:
    return InputError("CEL-M060")


def _not_whole() -> InputError:
    return InputError("CEL-M061")


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

    epsilon: float = parameters.field_of(parameters.EPSILON)
    sensitivity: float = parameters.field_of(parameters.SENSITIVITY, 1)
    monotone: bool = False
    grid: Grid | None = None

    def check(self) -> None:
        """Refuse a claim that cannot hold, what is no grid, and one that is too fine."""
        parameters.check_monotone(self.monotone, self.neighbours, code="CEL-M063")
        check_grid(self.grid)
        self._rate()

    def _shift(self) -> int:
        return steps_moved(parameters.check_sensitivity(self.sensitivity), self.grid)

    def _rate(self) -> Fraction:
        """How fast the chance of a candidate falls with every step below the best."""
        return sampling_rate(
            parameters.check_epsilon(self.epsilon), self._shift(), monotone=self.monotone
        )

    def _steps(self, scores: ArrayLike) -> NDArray[np.int64]:
        return whole_scores(scores, self.grid)

    def _in_score_units(self, steps: float) -> float:
        """A shortfall in steps as one of the scores, with half a step of rounding at both ends."""
        if self.grid is None:
            return float(steps)
        return float(self.grid.step) * (steps + 1)
