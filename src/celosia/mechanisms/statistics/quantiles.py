"""Quantiles of a bounded column, one or several, chosen privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss
from celosia.core.errors import InputError
from celosia.core.methods import Parameter, checked
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise.weighted_draw import draw_weighted
from celosia.mechanisms.selection.base import chances, sampling_rate, shortfall
from celosia.mechanisms.statistics.bounded_grid import BoundedGrid


def rank_steps(share: Fraction, relation: Relation) -> int:
    """How far one neighbour moves the miss of a point, times the denominator of the share q.

    The miss of r is max(0, L - q n, q n - L - E) with L values below r and E equal to it, out of n.
    One row more moves L - q n by 1 - q (below r) or -q, and q n - L - E by q - 1 (at most r) or q
    (above r); so both, and their maximum, move by at most max(q, 1 - q). A changed row leaves n as
    it is and moves L and L + E by at most 1.

    >>> rank_steps(Fraction(1, 4), Relation.ADD_REMOVE)
    3
    """
    if relation is Relation.CHANGE_ONE:
        return share.denominator
    return max(share.numerator, share.denominator - share.numerator)


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs of neighbouring grid points that all miss the target by the same number of rows."""

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    misses: NDArray[np.int64]
    """Times the denominator of the share, so that they are whole."""

    def draw(self, rate: Fraction, rng: Source) -> int:
        """A grid point with a chance proportional to exp(-rate * miss), exactly."""
        index = draw_weighted(self.misses, rate=rate, rng=rng, weights=self.sizes)
        return int(self.starts[index]) + int(rng.integers(int(self.sizes[index]), 1)[0])

    def in_order(self) -> Segments:
        """The same segments, lowest first."""
        order = np.argsort(self.starts)
        return Segments(self.starts[order], self.sizes[order], self.misses[order])


def segments(
    places: NDArray[np.int64], first: int, last: int, share: Fraction, *, shift: int = 0
) -> Segments:
    """The segments of the points from `first` to `last` for sorted values among them.

    Args:
        places: the values, sorted.
        first: the first point of the grid.
        last: the last one.
        share: of the values below the point that is looked for.
        shift: rows by which its rank is moved. As many rows are added at both ends of the grid, so
            that there is always a point of such a rank.

    >>> found = segments(np.array([2, 2, 5]), 0, 9, Fraction(1, 2)).in_order()
    >>> found.starts.tolist(), found.sizes.tolist(), found.misses.tolist()
    ([0, 2, 3, 5, 6], [2, 1, 2, 1, 4], [3, 0, 1, 1, 3])
    """
    ends = np.flatnonzero(np.append(places[1:] != places[:-1], np.ones(min(places.size, 1), bool)))
    values, upto = places[ends], ends + 1
    if shift:
        values, upto = _with_ends(values, upto, first, last, abs(shift))
    below = np.concatenate([[0], upto])
    starts = np.concatenate([values, [first], values + 1])
    sizes = np.concatenate(
        [np.ones_like(values), np.append(values, last + 1) - starts[-below.size :]]
    )
    lower = np.concatenate([below[:-1], below])
    upper = np.concatenate([upto, below])
    # At most 2^32 rows times a denominator of at most 10^6: below 2^52. A shift is below 2^38.
    target = share.numerator * places.size + share.denominator * (abs(shift) + shift)
    misses = np.maximum(lower * share.denominator - target, target - upper * share.denominator)
    some = sizes > 0
    return Segments(starts[some], sizes[some], np.maximum(misses, 0)[some])


def _with_ends(
    values: NDArray[np.int64], upto: NDArray[np.int64], first: int, last: int, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different values and how many are at most each, with rows added at both ends."""
    total = int(upto[-1]) if upto.size else 0
    if not values.size or values[0] != first:
        values, upto = np.append(first, values), np.append(0, upto)
    if values[-1] != last:
        values, upto = np.append(values, last), np.append(upto, total)
    upto = upto + rows
    upto[-1] += rows
    return values, upto


@dataclass(frozen=True, slots=True)
class Bounds:
    """Two grid points between which a quantile of the values lies, chosen privately.

    With the chance 1 - b a chosen point misses its rank by at most `margin` rows. So the lower
    point is one whose rank is meant to be q n - margin: with that chance at most q n values are
    below it, and it is not above every quantile. Likewise the upper one. Rows are added at both
    ends of the grid, as many for every table, so that tables with few rows get the end of the grid
    as a bound; that changes neither how far one row moves a miss, nor who is below a point.
    """

    share: Fraction
    relation: Relation
    epsilon: Fraction
    """Of each of both points."""
    confidence: float

    def rate(self) -> Fraction:
        """Of the draw of each point."""
        return sampling_rate(self.epsilon, rank_steps(self.share, self.relation))

    def margin(self, points: int) -> int:
        """Rows by which a point misses its rank at most: each with half of what may go wrong."""
        each = (1 + self.confidence) / 2
        steps = shortfall(each, rate=self.rate(), size=points)
        return ceil(steps / self.share.denominator)

    def segments(self, places: NDArray[np.int64], first: int, last: int) -> list[Segments]:
        """Those of the lower point and of the upper one."""
        margin = self.margin(last - first + 1)
        return [segments(places, first, last, self.share, shift=each) for each in (-margin, margin)]

    def draw(
        self, places: NDArray[np.int64], first: int, last: int, rng: Source
    ) -> tuple[int, int]:
        """Both points, the lower one first."""
        rate = self.rate()
        low, high = (each.draw(rate, rng) for each in self.segments(places, first, last))
        return min(low, high), max(low, high)


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
        confidence: also release an interval that holds a q-quantile of the values in the table (not
            of the people they are a sample of) with this confidence. The answer and both ends are
            then chosen with a third of epsilon each.

    >>> from celosia.core.randomness import Seeded
    >>> ages = [20] * 400 + [30] * 400 + [40] * 400
    >>> Quantile(epsilon=1, lower=0, upper=120, grid=Grid(1)).release(ages, rng=Seeded(1))
    30.0
    >>> first_decile = Quantile(epsilon=1, lower=0, upper=120, q=0.1, confidence=0.95)
    >>> found = first_decile.measure(np.arange(10_000) / 100, rng=Seeded(1))
    >>> low, high = first_decile.interval(found)
    >>> round(found.value, 2), round(low, 2), round(high, 2)
    (10.0, 8.94, 10.96)
    """

    method_name: ClassVar[str] = "quantile"

    epsilon: float = parameters.field_of(parameters.EPSILON)
    lower: float = parameters.field_of(parameters.LOWER)
    upper: float = parameters.field_of(parameters.UPPER)
    q: float | Fraction = parameters.field_of(SHARE, 0.5)
    grid: Grid | None = None
    may_be_empty: bool = False
    confidence: float | None = None

    def check(self) -> None:
        self._range()
        self._rate()
        if self.confidence is not None:
            parameters.check_confidence(self.confidence)

    @property
    def sensitivity(self) -> float:
        """Rows by which one neighbour step moves the rank error of a point, see `rank_steps`."""
        share = check_share(self.q)
        return rank_steps(share, self.neighbours.relation) / share.denominator

    def _range(self) -> BoundedGrid:
        return BoundedGrid.between(self.lower, self.upper, self.grid)

    def _price(self) -> Fraction:
        """Of the answer, and of each end of its interval."""
        return parameters.check_epsilon(self.epsilon) / (1 if self.confidence is None else 3)

    def _rate(self) -> Fraction:
        shift = rank_steps(check_share(self.q), self.neighbours.relation)
        return sampling_rate(self._price(), shift)

    def _places(self, values: ArrayLike) -> NDArray[np.int64]:
        return np.sort(self._range().places(values, may_be_empty=self.may_be_empty))

    def _segments(self, values: ArrayLike) -> Segments:
        bounds = self._range()
        return segments(self._places(values), bounds.first, bounds.last, check_share(self.q))

    def _ends(self) -> Bounds | None:
        if self.confidence is None:
            return None
        share = check_share(self.q)
        return Bounds(share, self.neighbours.relation, self._price(), self.confidence)

    def privacy_loss(self) -> BoundedRangeLoss | ComposedLoss:
        """One bounded range, or three of a third of epsilon each."""
        one = BoundedRangeLoss(self._price())
        return one if self.confidence is None else ComposedLoss((one,) * 3)

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[float]:
        """Choose a grid point near the quantile of many values, and the ends of its interval."""
        bounds, places, ends = self._range(), self._places(x), self._ends()
        chosen = segments(places, bounds.first, bounds.last, check_share(self.q))
        value = bounds.grid.value(chosen.draw(self._rate(), rng))
        if ends is None:
            return Measurement(value)
        low, high = ends.draw(places, bounds.first, bounds.last, rng)
        parts = {"lower": bounds.grid.value(low), "upper": bounds.grid.value(high)}
        return Measurement(value, parts)

    def interval(
        self, measurement: Measurement[float], confidence: float = 0.95
    ) -> tuple[float, float] | None:
        """Bounds of a quantile of the values on the grid, if they were released with this much.

        The interval may end at a bound of the values: a quantile that was clipped lies there.
        """
        parameters.check_confidence(confidence)
        if self.confidence is None or confidence > self.confidence:
            return None
        return measurement.parts["lower"], measurement.parts["upper"]

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
        values depends on how densely they lie; with `confidence` the `interval` tells.

        Args:
            confidence: between 0 and 1.
            size: how many rows there are; does not change the bound.
        """
        parameters.check_whole(size, name="size", least=0)
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

    With `confidence` half of epsilon buys an interval for each quantile, which holds with that
    confidence by itself, as `Quantile` has it.

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

    epsilon: float = parameters.field_of(parameters.EPSILON)
    lower: float = parameters.field_of(parameters.LOWER)
    upper: float = parameters.field_of(parameters.UPPER)
    q: tuple[float | Fraction, ...] = (0.25, 0.5, 0.75)
    grid: Grid | None = None
    may_be_empty: bool = False
    confidence: float | None = None

    def check(self) -> None:
        """Refuse shares that do not rise, and a range that is none."""
        if self.confidence is not None:
            parameters.check_confidence(self.confidence)
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

    def _answers(self) -> Fraction:
        """The epsilon of the quantiles, without their intervals."""
        return parameters.check_epsilon(self.epsilon) / (1 if self.confidence is None else 2)

    def _price(self) -> Fraction:
        return self._answers() / self._charges()

    def _ends(self) -> list[Bounds]:
        if self.confidence is None:
            return []
        each = self._answers() / (2 * len(self.q))
        relation = self.neighbours.relation
        return [Bounds(share, relation, each, self.confidence) for share in self._shares()]

    def privacy_loss(self) -> ComposedLoss:
        """One bounded range a level, and one for each end of an interval.

        Given the quantiles chosen so far and the coins of each row, one row more or less changes
        one part of each level by one row, and the other parts not at all. A changed row is two such
        steps, in one part or in two, and ranges add up either way. It is one range of twice the
        length and not two ranges: where both steps meet in one part, one choice answers for both.
        """
        ends = [BoundedRangeLoss(each.epsilon) for each in self._ends() for _ in range(2)]
        levels = (BoundedRangeLoss(self._answers() / self.levels),) * self.levels
        return ComposedLoss((*levels, *ends))

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
        ends = [each.draw(rows, bounds.first, bounds.last, rng) for each in self._ends()]
        if not ends:
            return Measurement(bounds.grid.values(found))
        low, high = (bounds.grid.values(np.array(each)) for each in zip(*ends, strict=True))
        return Measurement(bounds.grid.values(found), {"lower": low, "upper": high})

    def interval(
        self, measurement: Measurement[NDArray[np.float64]], confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Bounds of each quantile of the values on the grid, if they were released."""
        parameters.check_confidence(confidence)
        if self.confidence is None or confidence > self.confidence:
            return None
        return measurement.parts["lower"], measurement.parts["upper"]

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """Rows by which the rank of any answer may miss its target, not exceeded.

        Holds where no value repeats on the grid: the target of a part lies between the ranks of its
        ends, so each level adds its own miss, and one row for a value that equals the chosen point.

        Args:
            confidence: between 0 and 1.
            size: how many rows there are; does not change the bound.
        """
        parameters.check_whole(size, name="size", least=0)
        each = 1 - (1 - parameters.check_confidence(confidence)) / len(self.q)
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
