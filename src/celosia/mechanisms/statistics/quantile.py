"""One quantile of bounded values, by the exponential mechanism over all points of a grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import InputError
from celosia.core.methods import Parameter, checked
from celosia.core.randomness import Source
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.parameters import (
    EPSILON,
    LOWER,
    UPPER,
    check_epsilon,
    check_whole,
    field_of,
)
from celosia.mechanisms.selection.scores import chances, sampling_rate, shortfall
from celosia.mechanisms.statistics.bounded_grid import BoundedGrid
from celosia.mechanisms.statistics.ranks import Segments, rank_steps, segments

MOST_LISTED = 2**24
"""Grid points whose chances are listed one by one."""


SHARE = Parameter(name="q", kind="exact", least=0, most=1, start=0.5)


@dataclass(frozen=True, kw_only=True)
class Quantile(Mechanism[ArrayLike, float]):
    """A value with about the share `q` of all values below it; one of the grid points.

    Values are clipped to `lower` and `upper` and rounded to the grid. A point is chosen with a
    chance that falls exponentially with the number of rows by which its rank misses q times their
    number. All points between two neighbouring values have the same rank, so one such segment is
    drawn by its size, and then a point of it; nothing is approximated.

    An empty table is refused, and the refusal itself tells that the table is empty. Where that is
    not public, set `may_be_empty`: the answer for an empty table is then uniform on the grid.

    Guarantee: epsilon-DP under `neighbours` with bounded range, if each unit has one value, the
    bounds, the grid and q do not depend on the data, and the table is not empty or `may_be_empty`
    is set.

    Reference: Smith, Privacy-preserving statistical estimation with optimal convergence rates,
    STOC 2011, Alg. 2; on a grid here.

    Args:
        epsilon: from 1e-9 to 100.
        lower: what smaller values are raised to.
        upper: what larger values are lowered to.
        q: from 0 to 1; taken as the nearest fraction with a denominator of at most a million. With
            0 every point that has nothing below it is as good as the smallest value, so 0.01 says
            more of the data; likewise 1.
        grid: None for about a million points between the bounds.
        may_be_empty: whether an empty table gets an answer.

    >>> from celosia.core.randomness import Seeded
    >>> ages = [20] * 400 + [30] * 400 + [40] * 400
    >>> Quantile(epsilon=1, lower=0, upper=120, grid=Grid(1)).release(ages, rng=Seeded(1))
    30.0
    """

    method_name: ClassVar[str] = "quantile"

    epsilon: float = field_of(EPSILON)
    lower: float = field_of(LOWER)
    upper: float = field_of(UPPER)
    q: float | Fraction = field_of(SHARE, 0.5)
    grid: Grid | None = None
    may_be_empty: bool = False

    def check(self) -> None:
        """Refuse a range that is none, and a grid that is too fine."""
        self._range()
        self._rate()

    @property
    def sensitivity(self) -> float:
        """Rows by which one neighbour step moves the rank error of a point, see `rank_steps`."""
        share = check_share(self.q)
        return rank_steps(share, self.neighbours.relation) / share.denominator

    def _range(self) -> BoundedGrid:
        return BoundedGrid.between(self.lower, self.upper, self.grid)

    def _rate(self) -> Fraction:
        shift = rank_steps(check_share(self.q), self.neighbours.relation)
        return sampling_rate(check_epsilon(self.epsilon), shift)

    def _segments(self, values: ArrayLike) -> Segments:
        bounds = self._range()
        places = np.sort(bounds.places(values, may_be_empty=self.may_be_empty))
        return segments(places, bounds.first, bounds.last, check_share(self.q))

    def privacy_loss(self) -> BoundedRangeLoss:
        """That of the exponential mechanism, see `Exponential.privacy_loss`."""
        return BoundedRangeLoss(check_epsilon(self.epsilon))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[float]:
        """Choose a grid point near the quantile of many values."""
        point = self._segments(x).draw(self._rate(), rng)
        return Measurement(self._range().grid.value(point))

    def probabilities(self, values: ArrayLike) -> NDArray[np.float64]:
        """The chance of each grid point, lowest first. It tells the values: not for release."""
        if self._range().points > MOST_LISTED:
            raise InputError("CEL-M071.too_many_points", most_listed=MOST_LISTED)
        found = self._segments(values).in_order()
        return chances(np.repeat(found.misses, found.sizes), rate=self._rate())

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """Rows by which the rank of the answer may miss q times their number, not exceeded.

        The bound holds for every number of rows: some value on the grid has a miss of 0, and the
        chances of all points with a larger one are summed. How far that is in the unit of the
        values depends on how densely they lie, so there is no `interval`.

        Args:
            confidence: between 0 and 1.
            size: how many rows there are; does not change the bound.
        """
        check_whole(size, name="size", least=0)
        steps = shortfall(confidence, rate=self._rate(), size=self._range().points)
        return steps / check_share(self.q).denominator


@dataclass(frozen=True, kw_only=True)
class Median(Quantile):
    """The middle value: `Quantile` with q = 1/2.

    Guarantee: as `Quantile`.

    Reference: as `Quantile`.

    >>> print(Median(epsilon=1, lower=0, upper=120))
    Median(epsilon=1, lower=0, upper=120)
    """

    method_name: ClassVar[str] = "median"

    q: float | Fraction = field(default=0.5, init=False)


def check_share(q: object) -> Fraction:
    """A share from 0 to 1 as a fraction whose denominator is at most a million.

    With at most 2**32 rows a rank times the denominator then stays below 2**52.

    >>> check_share(0.25), check_share(0.3333333333333333)
    (Fraction(1, 4), Fraction(1, 3))

    Raises:
        InputError: CEL-I060 it is not.
    """
    number: Fraction = checked("quantile", SHARE, q)
    return number.limit_denominator(10**6)
