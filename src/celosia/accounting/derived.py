"""Losses that follow from the curve of another loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.curved import TAIL, Curved
from celosia.accounting.loss import Loss

Vector = NDArray[np.float64]
FAR = 100.0
"""An epsilon at which a curve has come down to what it never falls below."""


def curve_of(loss: Loss, epsilons: Vector) -> Vector:
    """The delta of any loss at many epsilons."""
    if isinstance(loss, Curved):
        return np.where(epsilons >= loss.pure, 0.0, loss.curve(epsilons))
    return np.array([loss.delta(float(epsilon)) for epsilon in epsilons])


class Derived(Curved):
    """A loss with a curve computed from that of another one, which may never reach 0."""

    __slots__ = ()

    def reach(self) -> float:
        """A loss that is exceeded only with the chance of failing altogether."""
        floor = float(self.curve(np.array([min(self.pure, FAR)]))[0])
        return min(self.pure, self._reach(max(TAIL, floor * (1 + 1e-9))))
