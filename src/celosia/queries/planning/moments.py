"""Covariances, correlations and regressions from noisy moments of two bounded values.

All of them are made of the same few sums over the rows in which both values are there: how many,
the sum of each value and of their product, and of squares where they are needed. Values are counted
from the middles of their ranges, so that their products stay small. Each sum is bounded as any
other; what is made of the noisy sums costs nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from sqlglot import exp

from celosia.queries.algebra import Aggregate
from celosia.queries.planning.ranges import Range

PAIRS = frozenset({"covariance", "correlation", "slope", "intercept", "determination"})
"""Aggregates of two values. Of a regression the first is explained by the second."""
Interval = tuple[Fraction, Fraction]


def squares_needed(aggregate: Aggregate) -> tuple[bool, bool]:
    """Whether the squares of the first and of the second value are needed."""
    is_whole = aggregate.kind in ("correlation", "determination")
    return is_whole, is_whole or aggregate.kind in ("slope", "intercept")


def where_both(value: exp.Expression, other: exp.Expression) -> exp.Expression:
    """A value, NULL in rows in which the other one is NULL."""
    present = exp.Not(this=exp.Is(this=other.copy(), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=present, true=value.copy())])


@dataclass(frozen=True, slots=True)
class PairMoments:
    """Means of two values, of their product and of their squares, each counted from its centre."""

    first: Interval
    second: Interval
    product: Interval
    squares: tuple[Interval | None, Interval | None]
    count: tuple[Fraction, Fraction | None]

    def covariance(self, widest: Fraction, *, sample: bool) -> Interval:
        """Bounds of the covariance, which is at most `widest` in size."""
        both = _span(a * b for a in self.first for b in self.second)
        low = max(-widest, self.product[0] - both[1])
        high = min(widest, self.product[1] - both[0])
        if not sample:
            return low, high
        return _span(end * factor for end in (low, high) for factor in self._sample_factors())

    def _sample_factors(self) -> Interval:
        """Bounds of n / (n - 1), from two rows on."""
        fewest, most = self.count
        least = most / (most - 1) if most is not None and most >= 2 else Fraction(1)
        return least, (fewest / (fewest - 1) if fewest >= 2 else Fraction(2))

    def variance(self, place: int, widest: Fraction) -> Interval:
        """Bounds of the variance of the first value (0) or the second (1)."""
        square, mean = self.squares[place], (self.first, self.second)[place]
        assert square is not None
        nearest = Fraction(0) if mean[0] <= 0 <= mean[1] else min(abs(mean[0]), abs(mean[1]))
        farthest = max(abs(mean[0]), abs(mean[1]))
        low, high = square[0] - farthest**2, square[1] - nearest**2
        return min(max(low, Fraction(0)), widest), min(max(high, Fraction(0)), widest)


@dataclass(frozen=True, slots=True)
class PairRanges:
    """An aggregate of two values, between what they lie, and what they were counted from."""

    aggregate: Aggregate
    ranges: tuple[Range, Range]
    centres: tuple[Fraction, Fraction]

    @property
    def within(self) -> list[Range]:
        """Between what the mean of each moment lies, in the order of the totals."""
        inside = [
            (low - centre, high - centre)
            for (low, high), centre in zip(self.ranges, self.centres, strict=True)
        ]
        farthest = [max(abs(low), abs(high)) for low, high in inside]
        most = farthest[0] * farthest[1]
        needed = zip(farthest, squares_needed(self.aggregate), strict=True)
        squares = [(Fraction(0), each**2) for each, is_needed in needed if is_needed]
        return [*inside, (-most, most), *squares]

    def estimate(
        self, means: Sequence[Interval], count: tuple[Fraction, Fraction | None]
    ) -> tuple[float, float] | None:
        """Bounds of the aggregate from those of moments; for exact ones both ends are its value.

        None where it is not known whether it exists: nothing, or all the same, was measured.
        """
        rest = list(means[3:])
        squares = [rest.pop(0) if each else None for each in squares_needed(self.aggregate)]
        first, second = means[0], means[1]
        moments = PairMoments(first, second, means[2], (squares[0], squares[1]), count)
        halves = [(high - low) / 2 for low, high in self.ranges]
        cross = moments.covariance(halves[0] * halves[1], sample=self.aggregate.sample)
        if self.aggregate.kind == "covariance":
            return float(cross[0]), float(cross[1])
        explaining = moments.variance(1, halves[1] ** 2)
        if explaining[0] <= 0:
            return None
        if self.aggregate.kind in ("correlation", "determination"):
            explained = moments.variance(0, halves[0] ** 2)
            return _correlation(self.aggregate, cross, explained, explaining)
        slope = _span(a / b for a in cross for b in explaining)
        if self.aggregate.kind == "slope":
            return float(slope[0]), float(slope[1])
        moved = _span(a * (b + self.centres[1]) for a in slope for b in second)
        low, high = (end + self.centres[0] for end in first)
        return float(low - moved[1]), float(high - moved[0])


def _correlation(
    aggregate: Aggregate, cross: Interval, explained: Interval, explaining: Interval
) -> tuple[float, float] | None:
    if explained[0] <= 0:
        return None
    spreads = [sqrt(a) * sqrt(b) for a in explained for b in explaining]
    found = [float(end) / spread for end in cross for spread in spreads]
    low, high = (min(max(end, -1.0), 1.0) for end in (min(found), max(found)))
    if aggregate.kind == "correlation":
        return low, high
    nearest = 0.0 if low <= 0 <= high else min(low**2, high**2)
    return nearest, max(low**2, high**2)


def _span(numbers: Iterable[Fraction]) -> Interval:
    found = list(numbers)
    return min(found), max(found)
