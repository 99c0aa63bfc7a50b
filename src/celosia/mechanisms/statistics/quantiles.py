"""Several quantiles at once, for little more than the price of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.parameters import (
    EPSILON,
    LOWER,
    UPPER,
    check_confidence,
    check_epsilon,
    check_whole,
    field_of,
)
from celosia.mechanisms.selection.scores import sampling_rate, shortfall
from celosia.mechanisms.statistics.bounded_grid import BoundedGrid
from celosia.mechanisms.statistics.quantile import check_share
from celosia.mechanisms.statistics.ranks import rank_steps, segments

MOST_SHARES = 10_000


@dataclass(frozen=True, kw_only=True)
class Quantiles(Mechanism[ArrayLike, NDArray[np.float64]]):
    """Quantiles for several shares, in rising order, from one budget.

    The middle one is chosen from all values as `Quantile` does; it splits the values in two parts,
    and the quantiles to its left and right are chosen from these, and so on. A row is in one part
    of each level only, so the levels share the budget, not the quantiles: 3 levels for 7 of them.
    Rows that equal a chosen point go to either side by the toss of a coin each.

    An empty table is refused, and the refusal itself tells that the table is empty; with
    `may_be_empty` its answer is uniform on the grid.

    Guarantee: epsilon-DP under `neighbours`, if each unit has one value, the bounds, the grid and
    the shares do not depend on the data, and the table is not empty or `may_be_empty` is set.

    Reference: Kaplan, Schnapp & Stemmer, Differentially private approximate quantiles, ICML 2022;
    the coins are ours, for values that repeat.

    >>> from celosia.core.randomness import Seeded
    >>> ages = [20] * 900 + [30] * 900 + [40] * 900
    >>> quartiles = Quantiles(epsilon=1, lower=0, upper=120, grid=Grid(1))
    >>> quartiles.release(ages, rng=Seeded(1)).tolist()
    [20.0, 30.0, 40.0]
    """

    method_name: ClassVar[str] = "quantiles"

    epsilon: float = field_of(EPSILON)
    lower: float = field_of(LOWER)
    upper: float = field_of(UPPER)
    q: tuple[float | Fraction, ...] = (0.25, 0.5, 0.75)
    grid: Grid | None = None
    may_be_empty: bool = False

    def check(self) -> None:
        """Refuse shares that do not rise, and a range that is none."""
        try:
            object.__setattr__(self, "q", tuple(self.q))
        except TypeError:
            object.__setattr__(self, "q", ())
        shares = self._shares()
        rising = all(one < other for one, other in pairwise(shares))
        if not 0 < len(shares) <= MOST_SHARES or not rising:
            raise InputError("CEL-M068", most_shares=MOST_SHARES)
        self._range()

    def _shares(self) -> list[Fraction]:
        return [check_share(share) for share in self.q]

    def _range(self) -> BoundedGrid:
        return BoundedGrid.between(self.lower, self.upper, self.grid)

    @property
    def levels(self) -> int:
        """How often the values are split: each row takes part once in each level."""
        return len(self.q).bit_length()

    def _charges(self) -> int:
        # A changed row leaves one part and enters another: two charges a level. Within a level
        # every part is priced for one row added or removed.
        return self.levels * (2 if self.neighbours.relation is Relation.CHANGE_ONE else 1)

    def _price(self) -> Fraction:
        return check_epsilon(self.epsilon) / self._charges()

    def privacy_loss(self) -> ComposedLoss:
        """One bounded range a level.

        Given the quantiles chosen so far and the coins of each row, one row more or less changes
        one part of each level by one row, and the other parts not at all. A changed row is two such
        steps, in one part or in two, and ranges add up either way. It is one range of twice the
        length and not two ranges: where both steps meet in one part, one choice answers for both.
        """
        return ComposedLoss(
            (BoundedRangeLoss(check_epsilon(self.epsilon) / self.levels),) * self.levels
        )

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[NDArray[np.float64]]:
        """Choose a grid point near each quantile of many values."""
        bounds = self._range()
        rows = np.sort(bounds.places(x, may_be_empty=self.may_be_empty))
        found = np.empty(len(self.q), dtype=np.int64)
        _choose_between(
            _Part(rows, bounds.first, bounds.last, Fraction(0), Fraction(1)),
            list(enumerate(self._shares())),
            self._price(),
            rng,
            found,
        )
        return Measurement(bounds.grid.values(found))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """Rows by which the rank of any answer may miss its target, not exceeded.

        Holds where no value repeats on the grid: the target of a part lies between the ranks of its
        ends, so each level adds its own miss, and one row for a value that equals the chosen point.

        Args:
            confidence: between 0 and 1.
            size: how many rows there are; does not change the bound.
        """
        check_whole(size, name="size", least=0)
        each = 1 - (1 - check_confidence(confidence)) / len(self.q)
        rate = sampling_rate(self._price(), 1)
        return self.levels * (shortfall(each, rate=rate, size=self._range().points) + 1)


@dataclass(frozen=True, slots=True)
class _Part:
    """Sorted rows, the grid points they lie among, and the shares of all rows at both ends."""

    rows: NDArray[np.int64]
    first: int
    last: int
    low: Fraction
    high: Fraction


def _choose_between(
    part: _Part,
    shares: list[tuple[int, Fraction]],
    price: Fraction,
    rng: Source,
    found: NDArray[np.int64],
) -> None:
    if not shares:
        return
    middle = len(shares) // 2
    place, share = shares[middle]
    target = check_share((share - part.low) / (part.high - part.low))
    rate = sampling_rate(price, rank_steps(target, Relation.ADD_REMOVE))
    point = segments(part.rows, part.first, part.last, target).draw(rate, rng)
    found[place] = point
    below = int(np.searchsorted(part.rows, point, side="left"))
    upto = int(np.searchsorted(part.rows, point, side="right"))
    cut = below + int(rng.integers(2, upto - below).sum())
    left = _Part(part.rows[:cut], part.first, point, part.low, share)
    right = _Part(part.rows[cut:], point, part.last, share, part.high)
    _choose_between(left, shares[:middle], price, rng, found)
    _choose_between(right, shares[middle + 1 :], price, rng, found)
