"""The exponential mechanism, drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise.weighted_draw import draw_weighted
from celosia.mechanisms.parameters import check_epsilon
from celosia.mechanisms.selection.base import SelectionMechanism, chances, shortfall, whole_weights


@dataclass(frozen=True, kw_only=True)
class Exponential(SelectionMechanism[int]):
    """Chooses a candidate with a chance proportional to exp(epsilon * score / (2 sensitivity)).

    With `monotone` the 2 falls away. A continuous range is cut in cells with the number of points
    in each as public `weights`; the chance is then proportional to the weight as well.

    Guarantee: epsilon-DP under `neighbours`, if no score moves by more than `sensitivity`; the
    candidates and weights must not depend on the data. Moreover the losses of one pair of
    neighbours lie in an interval of length epsilon (bounded range), which composes better.

    Reference: McSherry & Talwar, Mechanism design via differential privacy, FOCS 2007; Dong, Durfee
    & Rogers, Optimal differential privacy composition for exponential mechanisms, ICML 2020.

    >>> Exponential(epsilon=1).probabilities([0, 1, 2]).round(4).tolist()
    [0.1863, 0.3072, 0.5065]
    """

    method_name: ClassVar[str] = "exponential"

    weights: tuple[int, ...] | None = None

    def check(self) -> None:
        """Refuse weights that are no whole numbers."""
        super().check()
        if self.weights is not None:
            object.__setattr__(self, "weights", whole_weights(self.weights))

    def privacy_loss(self) -> BoundedRangeLoss:
        """Bounded range epsilon, with and without `monotone`.

        The loss at candidate i is rate * (u_i - v_i) plus a constant for scores u and v of two
        neighbours. Without `monotone` u_i - v_i spans at most 2 shift and the rate is epsilon / (2
        shift); with it all u_i - v_i have one sign, span at most shift, and the rate is epsilon /
        shift. Either way the losses span at most epsilon; as both laws sum to 1, neither all losses
        are above 0 nor all below, so none exceeds epsilon.
        """
        return BoundedRangeLoss(check_epsilon(self.epsilon))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[int]:
        steps = self._steps(x)
        weights = self._weights(steps.size)
        return Measurement(
            draw_weighted(steps.max() - steps, rate=self._rate(), rng=rng, weights=weights)
        )

    def probabilities(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The chance of each candidate. It tells the scores: not for release."""
        steps = self._steps(scores)
        weights = self._weights(steps.size)
        return chances(steps.max() - steps, rate=self._rate(), weights=weights)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """A shortfall of the chosen score below the best that is not exceeded.

        Args:
            confidence: between 0 and 1.
            size: how many candidates there are; with weights, their sum.
        """
        return self._in_score_units(shortfall(confidence, rate=self._rate(), size=size))

    def _weights(self, candidates: int) -> NDArray[np.int64] | None:
        if self.weights is None:
            return None
        if len(self.weights) != candidates:
            raise InputError(
                "CEL-M064.other_number", candidates=candidates, weights=len(self.weights)
            )
        return np.array(self.weights, dtype=np.int64)
