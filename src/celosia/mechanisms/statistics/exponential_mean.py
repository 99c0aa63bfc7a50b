"""The mean of bounded values by the exponential mechanism: a truncated Laplace law on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise.bernoulli import bernoulli_exp_rate
from celosia.mechanisms.selection.base import MOST_STEPS, chances, sampling_rate
from celosia.mechanisms.statistics.bounded_grid import BoundedGrid

TRIES = 64
"""Proposals drawn at a time; at least one in twenty is accepted."""


@dataclass(frozen=True, kw_only=True)
class ExponentialMean(Mechanism[ArrayLike, float]):
    """The mean of values clipped to bounds, chosen among the grid points between the bounds.

    A point r is chosen with a chance proportional to exp(-epsilon |sum - n r| / (2 (upper -
    lower))): a Laplace law around the mean with scale 2 (upper - lower) / (epsilon n), cut off at
    the bounds. The number of rows n stays private.

    An empty table is refused, and the refusal itself tells that the table is empty. Where that is
    not public, set `may_be_empty`: the answer for an empty table is then uniform on the grid.

    Guarantee: epsilon-DP with bounded range, whether a unit is added, removed or changed, if each
    unit has one value, the bounds and the grid do not depend on the data, and the table is not
    empty or `may_be_empty` is set.

    Reference: McSherry & Talwar 2007; Li, Lyu, Su & Yang, Differential privacy: from theory to
    practice, 2016, ch. 2.

    Args:
        epsilon: from 1e-9 to 100.
        lower: what smaller values are raised to.
        upper: what larger values are lowered to.
        grid: None for about a million points between the bounds.
        may_be_empty: whether an empty table gets an answer.

    >>> from celosia.core.randomness import Seeded
    >>> mean = ExponentialMean(epsilon=1, lower=0, upper=1, grid=Grid(0.01))
    >>> mean.release([0.25] * 10_000, rng=Seeded(1))
    0.25
    """

    method_name: ClassVar[str] = "exponential-mean"

    epsilon: float = parameters.field_of(parameters.EPSILON)
    lower: float = parameters.field_of(parameters.LOWER)
    upper: float = parameters.field_of(parameters.UPPER)
    grid: Grid | None = None
    may_be_empty: bool = False

    def check(self) -> None:
        self._rate()

    @property
    def sensitivity(self) -> float:
        """By how much one neighbour step moves |sum - n r|: the width of the range.

        One row more adds x - r, one changed row x - x'; both lie within the width.
        """
        bounds = self._range()
        return bounds.grid.value(bounds.points - 1)

    def _range(self) -> BoundedGrid:
        # A sum of 2^32 rows of at most 2^30 steps each stays below 2^62.
        return BoundedGrid.between(self.lower, self.upper, self.grid, most=MOST_STEPS)

    def _rate(self) -> Fraction:
        return sampling_rate(parameters.check_epsilon(self.epsilon), self._range().points - 1)

    def privacy_loss(self) -> BoundedRangeLoss:
        return BoundedRangeLoss(parameters.check_epsilon(self.epsilon))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[float]:
        """Choose a grid point near the mean of many values."""
        bounds = self._range()
        total, rows = self._sum(x)
        step = _draw(total, rows, bounds.points - 1, self._rate(), rng)
        return Measurement(bounds.grid.value(bounds.first + step))

    def probabilities(self, values: ArrayLike) -> NDArray[np.float64]:
        """The chance of each grid point, lowest first. It tells the values: not for release."""
        total, rows = self._sum(values)
        points = np.arange(self._range().points, dtype=np.int64)
        return chances(np.abs(total - rows * points), rate=self._rate())

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded, besides what clipping to the bounds does to the mean.

        On either side of the mean the distance to the first point there is geometric and cut off,
        so k steps or more are left with a chance of at most exp(-rate n k). Rounding the values to
        the grid moves their mean by up to half a step more, or by as much as a bound lies beyond
        the last point.

        Args:
            confidence: between 0 and 1.
            size: how many rows there are.
        """
        allowed = 1 - parameters.check_confidence(confidence)
        rows = parameters.check_whole(size, name="size", most=2**32)
        bounds = self._range()
        low, high = (bound / bounds.grid.step for bound in (bounds.lower, bounds.upper))
        rounding = max(Fraction(1, 2), bounds.first - low, high - bounds.last)
        steps = ceil(log(1 / allowed) / float(self._rate() * rows)) + rounding
        return float(min(steps * bounds.grid.step, bounds.upper - bounds.lower))

    def _sum(self, values: ArrayLike) -> tuple[int, int]:
        """The sum of the values in steps above the first point, and their number."""
        bounds = self._range()
        places = bounds.places(values, may_be_empty=self.may_be_empty)
        return int((places - bounds.first).sum()), int(places.size)


def _draw(total: int, rows: int, width: int, rate: Fraction, rng: Source) -> int:
    """A step j from 0 to `width` with a chance proportional to exp(-rate |total - rows j|).

    Both ways draw proposals and take the first one accepted, so the law is exact. With a flat law
    any point is a fair proposal: the largest exponent is rate * rows * width <= 2.
    """
    flat = rate * rows * width <= 2
    while True:
        if flat:
            steps = rng.integers(width + 1, TRIES)
            accepted = bernoulli_exp_rate(np.abs(total - rows * steps), rate=rate, rng=rng)
        else:
            steps, accepted = _propose(total, rows, width, rate, rng)
        if accepted.any():
            return int(steps[int(np.argmax(accepted))])


def _propose(
    total: int, rows: int, width: int, rate: Fraction, rng: Source
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Proposals for a peaked law: a side of the mean, then a geometric distance to it.

    With m = total // rows and rest r, the exponent at m - k is r + rows k and at m + 1 + k it is
    (rows - r) + rows k. The distance k is u + stride v, where stride is about 1 / (rate rows): u is
    uniform and accepted with exp(-rate rows u), v counts heads of exp(-rate rows stride). As rate *
    rows * width > 2, stride is at most width, and rows * stride at most 1 / rate + rows < 2^63.
    """
    middle, rest = divmod(total, rows)
    starts = np.array([rest, rows - rest], dtype=np.int64) - min(rest, rows - rest)
    counts = np.array([middle + 1, width - middle], dtype=np.int64)
    stride = ceil(1 / (rate * rows))
    side = rng.integers(2, TRIES)
    distance = rng.integers(stride, TRIES)
    accepted = bernoulli_exp_rate(distance * rows, rate=rate, rng=rng) & bernoulli_exp_rate(
        starts[side], rate=rate, rng=rng
    )
    active = np.flatnonzero(accepted)
    while active.size:
        heads = bernoulli_exp_rate(
            np.full(active.size, rows * stride, dtype=np.int64), rate=rate, rng=rng
        )
        active = active[heads]
        distance[active] += stride
    accepted &= distance < counts[side]
    return np.where(side == 0, middle - distance, middle + 1 + distance), accepted
