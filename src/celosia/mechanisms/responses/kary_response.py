"""Randomised response with several categories."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import Loss, PureLoss
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import Parameter
from celosia.core.neighbours import CHANGE_ONE, Neighbours
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import exp_below
from celosia.mechanisms.mechanism import NEIGHBOURS, Measurement, Mechanism
from celosia.mechanisms.parameters import EPSILON, check_epsilon, field_of
from celosia.mechanisms.responses.randomised_response import (
    COINS,
    check_answers,
    check_change_one,
    share_error,
)

MOST_CATEGORIES = 10**6
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class FrequencyEstimate:
    """The true share of each category, as far as randomised answers tell it."""

    rates: Mapping[Hashable, float]
    variances: Mapping[Hashable, float]
    """Of each rate, respondents taken as a sample; for the respondents alone they are less."""
    size: int
    """How many answers it is from."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in the order of the categories."""
        return {
            "categories": list(self.rates),
            "rates": list(self.rates.values()),
            "variances": list(self.variances.values()),
            "size": self.size,
        }

    def __str__(self) -> str:
        shown = ", ".join(
            say(
                "mechanisms.rate.one",
                category=category,
                rate=rate,
                deviation=sqrt(self.variances[category]),
            )
            for category, rate in self.rates.items()
        )
        return say("mechanisms.rate.of_categories", rates=shown, answers=self.size)


def _categories(categories: Any) -> tuple[Hashable, ...]:
    if isinstance(categories, (list, tuple)) and 2 <= len(categories) <= MOST_CATEGORIES:
        plain = all(isinstance(category, (str, int)) for category in categories)
        if plain and len(set(categories)) == len(categories):
            return tuple(categories)
    raise ValueError


CATEGORIES = Parameter(kind="values", check=_categories, allowed="mechanisms.allowed.categories")


@dataclass(frozen=True, kw_only=True)
class KaryResponse(Mechanism[Any, Any]):
    """One of k categories: the true one with chance e^epsilon / (e^epsilon + k - 1), or any other.

    One answer or a list of answers is randomised in one call, each by coins of its own.

    Guarantee: epsilon-DP for changing one answer; how many answers there are is public. The chance
    of the truth is rounded down to a fraction that exact coins show.

    Reference: Kairouz, Oh & Viswanath 2014.

    >>> from celosia.core.randomness import Seeded
    >>> mechanism = KaryResponse(epsilon=2, categories=("car", "bus", "bike"))
    >>> mechanism.release("bus", rng=Seeded(7)) in mechanism.categories
    True
    """

    method_name: ClassVar[str] = "kary-response"

    epsilon: float = field_of(EPSILON)
    categories: Sequence[Hashable] = field_of(CATEGORIES)
    """All possible answers, known without looking at any."""
    neighbours: Neighbours = field_of(NEIGHBOURS, CHANGE_ONE)

    def check(self) -> None:
        check_change_one(self.neighbours)

    @property
    def sensitivity(self) -> float:
        """One answer may turn into another."""
        return 1.0

    @cached_property
    def keep(self) -> Fraction:
        """The chance that an answer is true."""
        power = exp_below(check_epsilon(self.epsilon))
        return Fraction(power / (power + len(self.categories) - 1) * COINS // 1, COINS)

    @property
    def transition(self) -> NDArray[np.float64]:
        """Chances of the answers (columns) given the truths (rows), in the order of categories."""
        size = len(self.categories)
        matrix = np.full((size, size), float(self._stray))
        np.fill_diagonal(matrix, float(self.keep))
        return matrix

    def privacy_loss(self) -> Loss:
        return PureLoss(check_epsilon(self.epsilon))

    def measure(self, x: Any, *, rng: Source) -> Measurement[Any]:
        """Randomise one category, or a list of them."""
        many = not isinstance(x, (str, int, np.generic))
        codes = self._codes(x if many else [x])
        kept = rng.integers(self.keep.denominator, codes.size) < self.keep.numerator
        # All coins are tossed for all: the time reveals nothing.
        steps = 1 + rng.integers(len(self.categories) - 1, codes.size)
        drawn = (codes + np.where(kept, 0, steps)) % len(self.categories)
        answers = [self.categories[code] for code in drawn.tolist()]
        return Measurement(answers if many else answers[0])

    def estimate(self, answers: Any, *, clip: bool = False) -> FrequencyEstimate:
        """The true shares from randomised answers: unbiased, with variance s (1 - s) / n slope^2.

        Args:
            answers: what `release` gave.
            clip: cut the shares to 0 .. 1, which biases them.
        """
        codes = self._codes(answers)
        size = check_answers(codes.size)
        shares = np.bincount(codes, minlength=len(self.categories)) / size
        rates = (shares - float(self._stray)) / self._slope
        variances = shares * (1 - shares) / (size * self._slope**2)
        shown = np.clip(rates, 0, 1) if clip else rates
        return FrequencyEstimate(
            dict(zip(self.categories, shown.tolist(), strict=True)),
            dict(zip(self.categories, variances.tolist(), strict=True)),
            size,
        )

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that no share estimated from `size` answers exceeds so often.

        By Hoeffding's inequality and a union bound: it holds for all true shares.
        """
        return share_error(confidence, size, shares=len(self.categories)) / self._slope

    @property
    def _stray(self) -> Fraction:
        """The chance of each category that is not the truth."""
        return (1 - self.keep) / (len(self.categories) - 1)

    @property
    def _slope(self) -> float:
        return float(self.keep - self._stray)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {category: place for place, category in enumerate(self.categories)}

    def _codes(self, answers: Any) -> NDArray[np.int64]:
        values = answers.tolist() if isinstance(answers, np.ndarray) else answers
        codes = None
        with suppress(TypeError):  # not a list, or of answers that cannot be looked up
            codes = [self._places.get(value, UNKNOWN) for value in values]
        # Raised out here: an error that is being handled would stay on the new one, answer and all.
        if codes is None or UNKNOWN in codes:
            raise InputError("CEL-M047")
        return np.array(codes, dtype=np.int64)
