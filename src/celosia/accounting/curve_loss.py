"""Losses that are known by their privacy curve: the least delta of every epsilon."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.checks import check_chance, check_epsilon
from celosia.accounting.distributions import LossDistribution, distribution_from_curve, fitting_step
from celosia.accounting.loss import Loss

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

TAIL = 1e-17
"""Mass that a distribution may put on an infinite loss where the curve never reaches 0."""
DEFAULT_STEP = 1e-4
"""The step of dp_accounting, so that its distributions and ours compose."""
ROUNDS, PARTS = 8, 64


class CurveLoss(Loss):
    """A loss with a curve that bounds every pair of neighbours, in both directions.

    The curve is all that composition needs: a privacy loss distribution with a curve at least as
    high at every epsilon dominates the release, and products of dominating distributions dominate
    compositions (Zhu, Dong & Wang 2022, Thm 10).
    """

    __slots__ = ()

    @abstractmethod
    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """An upper bound of delta at each epsilon of at least 0; never rising."""

    def delta(self, epsilon: float) -> float:
        """The least delta known to hold with an epsilon."""
        wanted = check_epsilon(epsilon)
        if wanted >= self.pure:
            return 0.0
        return min(1.0, float(self.curve(np.array([wanted]))[0]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon known to hold with a delta."""
        wanted = check_chance(delta)
        if wanted == 0 or self.pure == 0:
            return self.pure
        if wanted == 1:
            return 0.0
        return self._reach(wanted)

    def distribution(self, *, step: float = DEFAULT_STEP) -> PrivacyLossDistribution:
        """A privacy loss distribution that dominates the release.

        Args:
            step: the distance of its losses. Where the losses reach so far that the distribution
                would not fit into memory, it is doubled as often as needed.
        """
        return self.on_grid(fitting_step(step, self.reach())).for_dp_accounting()

    def on_grid(self, step: float) -> LossDistribution:
        """The distribution on multiples of a step, rounded against us."""
        return distribution_from_curve(self.curve, reach=self.reach(), step=step)

    def reach(self) -> float:
        """A loss that is exceeded at most with a chance that does not count."""
        return self.pure if self.pure < inf else self._reach(TAIL)

    def _reach(self, delta: float) -> float:
        # The curve falls, so a bracket can be cut into parts again and again; its upper end, where
        # the curve was seen to be low enough, is an upper bound whatever the rounding.
        low, high = 0.0, min(self.pure, 1.0)
        if self.curve(np.zeros(1))[0] <= delta:
            return 0.0
        while high < self.pure and self.curve(np.array([high]))[0] > delta:
            low, high = high, min(2 * high, self.pure)
            if high > 1e300:
                return inf
        for _ in range(ROUNDS):
            points = np.linspace(low, high, PARTS + 1)
            enough = self.curve(points[1:-1]) <= delta
            first = int(np.argmax(enough)) if enough.any() else PARTS - 1
            low, high = float(points[first]), float(points[first + 1])
        return high
