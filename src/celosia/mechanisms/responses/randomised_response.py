"""Randomised response: yes or no, told with a chance that each respondent can deny."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import Loss, PureLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import say
from celosia.core.methods import Parameter, PlainValues, checked
from celosia.core.neighbours import CHANGE_ONE, Neighbours, Relation
from celosia.core.numbers import exact
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import exp_below, log_above
from celosia.mechanisms.mechanism import NEIGHBOURS, Measurement, Mechanism
from celosia.mechanisms.parameters import check_confidence, check_epsilon, check_whole, field_of
from celosia.mechanisms.values import array_of

COINS = 2**62
"""Sides of the exact coin: a chance found from an epsilon is a whole number of them."""
HALF = Fraction(1, 2)


def _as_chance(chance: Any) -> Fraction:
    number = exact(chance)
    if number is None or not 0 < number < 1 or number.denominator > 2**63:
        raise ValueError
    return number


CHANCE = Parameter(kind="exact", check=_as_chance, allowed="mechanisms.allowed.chance")
"""Strictly between 0 and 1, and a fraction that exact coins show."""


@dataclass(frozen=True, slots=True)
class RateEstimate(PlainValues):
    """The share of true yes answers, as far as randomised ones tell it."""

    rate: float
    variance: float
    """Of the rate, respondents taken as a sample; for the respondents alone it is less."""
    size: int
    """How many answers it is from."""

    @property
    def deviation(self) -> float:
        """The standard error."""
        return sqrt(self.variance)

    def __str__(self) -> str:
        return say(
            "mechanisms.rate.summary", rate=self.rate, deviation=self.deviation, answers=self.size
        )


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse(Mechanism[Any, Any]):
    """A yes or no that is the truth with the chance `truth`, else a yes with the chance `yes`.

    One answer or many are randomised in one call, each by coins of its own.

    Guarantee: `epsilon`-DP for changing one answer; how many answers there are is public, so no
    other relation is offered. Ratio of chances: (truth + (1 - truth) yes) / ((1 - truth) yes), or
    the same for no, whichever is larger.

    Reference: Warner 1965; Dwork & Roth 2014, section 3.2.

    >>> RandomisedResponse.two_coins().epsilon
    1.09861228866811
    """

    method_name: ClassVar[str] = "randomised-response"

    truth: float | Fraction = field_of(CHANCE)
    yes: float | Fraction = field_of(CHANCE, HALF)
    neighbours: Neighbours = field_of(NEIGHBOURS, CHANGE_ONE)

    def check(self) -> None:
        check_change_one(self.neighbours)

    @classmethod
    def two_coins(cls, *, neighbours: Neighbours = CHANGE_ONE) -> Self:
        """Heads: the truth. Tails: a second coin says yes or no. Costs ln 3."""
        return cls(truth=HALF, yes=HALF, neighbours=neighbours)

    @classmethod
    def for_epsilon(
        cls,
        epsilon: float,
        *,
        yes: float | Fraction = HALF,
        neighbours: Neighbours = CHANGE_ONE,
    ) -> Self:
        """The highest chance of the truth that an epsilon allows, rounded down.

        For `yes` = 1/2 it is (e^epsilon - 1) / (e^epsilon + 1).

        >>> round(float(RandomisedResponse.for_epsilon(1).truth), 7)
        0.4621172
        """
        chance: Fraction = checked(cls.method_name, replace(CHANCE, name="yes"), yes)
        # truth / (1 - truth) = min(yes, 1 - yes) (e^epsilon - 1), a rising function of epsilon.
        odds = min(chance, 1 - chance) * (exp_below(check_epsilon(epsilon)) - 1)
        truth = Fraction(odds / (1 + odds) * COINS // 1, COINS)
        return cls(truth=truth, yes=yes, neighbours=neighbours)

    @property
    def sensitivity(self) -> float:
        """One answer may turn from no to yes."""
        return 1.0

    @property
    def epsilon(self) -> float:
        """What one answer costs, rounded up."""
        return self.privacy_loss().pure

    @property
    def transition(self) -> NDArray[np.float64]:
        """Chances of the answers no and yes (columns) given the truths no and yes (rows)."""
        rows = [[1 - chance, chance] for chance in (self._yes_given(0), self._yes_given(1))]
        return np.array([[float(chance) for chance in row] for row in rows])

    def privacy_loss(self) -> Loss:
        return PureLoss(self._epsilon())

    def measure(self, x: Any, *, rng: Source) -> Measurement[Any]:
        """Randomise one answer (to a bool) or a list of them (to an array)."""
        truths = _read_answers(x)
        truthful = _coins(_as_chance(self.truth), truths.size, rng)
        said = _coins(_as_chance(self.yes), truths.size, rng)
        # Both coins are tossed for all: the time reveals nothing.
        answers = np.where(truthful.reshape(truths.shape), truths, said.reshape(truths.shape))
        return Measurement(answers if truths.ndim else bool(answers))

    def rate(self, share: float) -> float:
        """The unbiased estimate of the true rate from the share of yes among the answers.

        >>> mechanism = RandomisedResponse.two_coins()
        >>> mechanism.rate(0.25), mechanism.rate(0.5), mechanism.rate(0.75)
        (0.0, 0.5, 1.0)
        """
        return (share - float(self._yes_given(0))) / self._slope

    def estimate(self, answers: ArrayLike, *, clip: bool = False) -> RateEstimate:
        """The true rate of yes from randomised answers, unbiased.

        Its variance is s (1 - s) / (n truth^2) for a share s of yes among n answers.

        Args:
            answers: what `release` gave.
            clip: cut the rate to 0 .. 1, which biases it.
        """
        given = _read_answers(answers)
        size = check_answers(given.size)
        share = float(given.mean())
        rate = self.rate(share)
        variance = share * (1 - share) / (size * self._slope**2)
        return RateEstimate(min(max(rate, 0.0), 1.0) if clip else rate, variance, size)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that the rate estimated from `size` answers does not exceed so often.

        By Hoeffding's inequality: it holds for every true rate and every number of answers.
        """
        return share_error(confidence, size) / self._slope

    def interval(
        self, measurement: Measurement[Any], confidence: float = 0.95
    ) -> tuple[float, float] | None:
        """Bounds of the true rate of yes; None for a single answer, which has no rate."""
        if not np.ndim(measurement.value):
            return None
        found = self.estimate(measurement.value)
        error = self.accuracy(confidence, size=found.size)
        return max(found.rate - error, 0.0), min(found.rate + error, 1.0)

    def _with_price(self, price: Fraction) -> Self:
        return self.for_epsilon(float(price), yes=self.yes, neighbours=self.neighbours)

    def _yes_given(self, truth: int) -> Fraction:
        tells = _as_chance(self.truth)
        return tells * truth + (1 - tells) * _as_chance(self.yes)

    def _epsilon(self) -> Fraction:
        no, yes = self._yes_given(0), self._yes_given(1)
        return log_above(max(yes / no, (1 - no) / (1 - yes)))

    @property
    def _slope(self) -> float:
        return float(self.truth)

    def __str__(self) -> str:
        return f"RandomisedResponse(truth={float(self.truth):.6g}, yes={float(self.yes):.6g})"


def share_error(confidence: float, size: int, *, shares: int = 1) -> float:
    """How far shares of `size` independent answers lie from their means, at most, so often.

    Hoeffding 1963, Thm 2, for each share, and a union bound over them.
    """
    number = check_whole(size, name="size")
    failure = 1 - check_confidence(confidence)
    return sqrt(log(2 * shares / failure) / (2 * number))


def check_change_one(neighbours: Neighbours) -> None:
    """Refuse the relation that hides how many answers there are."""
    if neighbours.relation is not Relation.CHANGE_ONE:
        raise PrivacyError("CEL-M044")


def check_answers(size: int) -> int:
    """Refuse to estimate from nothing."""
    if size == 0:
        raise InputError("CEL-M049")
    return size


def _coins(chance: Fraction, size: int, rng: Source) -> NDArray[np.bool_]:
    return rng.integers(chance.denominator, size) < chance.numerator


def _read_answers(x: object) -> NDArray[np.bool_]:
    values = array_of(x)
    # Truth values or the numbers 0 and 1; NaN is neither, texts and objects are refused unread.
    if values is None or values.ndim > 1 or values.dtype.kind not in "biuf":
        raise _not_answers()
    if not np.all((values == 0) | (values == 1)):
        raise _not_answers()
    return values.astype(np.bool_)


def _not_answers() -> InputError:
    return InputError("CEL-M046")
