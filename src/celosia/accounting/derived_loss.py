"""Losses that follow from the curve of another loss."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.amounts import check_epsilon
from celosia.accounting.losses import TAIL, ComposedLoss, CurveLoss, Loss, account_of

Vector = NDArray[np.float64]
FAR = np.array([1e2, 1e3, 1e4, 1e6])
"""Epsilons at which a curve has come down to what it never falls below."""


def curve_of(loss: Loss, epsilons: Vector) -> Vector:
    """The delta of any loss at many epsilons."""
    if isinstance(loss, CurveLoss):
        return np.where(epsilons >= loss.pure, 0.0, loss.curve(epsilons))
    if isinstance(loss, ComposedLoss) and bool(np.isfinite(epsilons).all()):
        return account_of(loss.parts).deltas(epsilons)  # as below, all at once
    return np.array([loss.delta(float(epsilon)) for epsilon in epsilons])


class DerivedLoss(CurveLoss):
    """A loss with a curve computed from that of another one, which may never reach 0."""

    __slots__ = ()

    def delta(self, epsilon: float) -> float:
        """As of any curve; with an infinite epsilon the chance of failing altogether."""
        wanted = check_epsilon(epsilon)
        return self._floor() if wanted == self.pure == inf else super().delta(wanted)

    def reach(self) -> float:
        """A loss that is exceeded only with the chance of failing altogether."""
        return min(self.pure, self._reach(max(TAIL, self._floor() * (1 + 1e-9))))

    def _floor(self) -> float:
        """What the curve comes down to."""
        return min(1.0, float(self.curve(np.minimum(FAR, self.pure)).min()))
