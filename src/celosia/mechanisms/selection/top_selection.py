"""The best few of many candidates, by the exponential mechanism one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise.weighted_draw import draw_weighted
from celosia.mechanisms.parameters import check_confidence, check_epsilon, field_of, whole_number
from celosia.mechanisms.selection.base import SelectionMechanism
from celosia.mechanisms.selection.scores import sampling_rate, shortfall

MOST_CHOSEN = 2**20


@dataclass(frozen=True, kw_only=True)
class TopSelection(SelectionMechanism[NDArray[np.int64]]):
    """Chooses `count` different candidates, best first, each with a chance as in `Exponential`.

    Every choice costs epsilon / count and is made among the candidates that are left. The same law
    comes from adding Gumbel noise once to every score and taking the `count` largest, but Gumbel
    noise is no whole number; the exact draws are made one by one.

    Guarantee: epsilon-DP under `neighbours`, if no score moves by more than `sensitivity`, for the
    chosen candidates and their order; the candidates must not depend on the data. With a delta the
    bounded range of every choice makes `count` choices much cheaper.

    Reference: McSherry & Talwar 2007; Durfee & Rogers, Practical differentially private top-k
    selection with pay-what-you-get composition, NeurIPS 2019.

    >>> from celosia.core.randomness import Seeded
    >>> TopSelection(epsilon=40, count=2).release([1, 90, 5, 70], rng=Seeded(1)).tolist()
    [1, 3]
    """

    method_name: ClassVar[str] = "top-selection"

    count: int = field_of(whole_number(most=MOST_CHOSEN))

    def _share(self) -> Fraction:
        return check_epsilon(self.epsilon) / int(self.count)

    def _rate(self) -> Fraction:
        return sampling_rate(self._share(), self._shift(), monotone=self.monotone)

    def privacy_loss(self) -> ComposedLoss:
        """One bounded range of epsilon / count a choice, see `Exponential.privacy_loss`."""
        return ComposedLoss((BoundedRangeLoss(self._share()),) * int(self.count))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[NDArray[np.int64]]:
        """Choose `count` candidates by their scores; the values are their places in the list."""
        steps = self._steps(x)
        if steps.size < self.count:
            raise InputError("CEL-M065", count=self.count, candidates=steps.size)
        rate = self._rate()
        left = np.arange(steps.size)
        chosen = np.empty(self.count, dtype=np.int64)
        for place in range(self.count):
            index = draw_weighted(steps[left].max() - steps[left], rate=rate, rng=rng)
            chosen[place] = left[index]
            left = np.delete(left, index)
        return Measurement(chosen)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """A shortfall that no choice exceeds: of the k-th one below the k-th best score.

        The k-th choice is made among candidates of which the best is at least the k-th best of all;
        the chances of too large a shortfall are summed over the choices.

        Args:
            confidence: between 0 and 1.
            size: how many candidates there are.
        """
        each = 1 - (1 - check_confidence(confidence)) / int(self.count)
        return self._in_score_units(shortfall(each, rate=self._rate(), size=size))
