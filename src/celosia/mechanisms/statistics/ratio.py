"""A noisy sum over a noisy count: how far it can lie from the exact average.

With |sum' - sum| <= s and |count' - count| <= c, and an average between `least` and `most`:

    sum'/count' - average = ((sum' - sum) - average (count' - count)) / count'

so that the error is at most (s + max|average| c) / (count - c), where count > c.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Ratio:
    """A sum, a count, and the errors that neither of them exceeds.

    >>> Ratio(total=30, total_error=2, count=10, count_error=2).bounds(0, 10)
    (Fraction(7, 3), Fraction(4, 1))
    """

    total: int
    total_error: int
    count: int
    count_error: int

    @property
    def fewest(self) -> int:
        """The least count that is possible; below 1 where there may be no rows."""
        return self.count - self.count_error

    def bounds(self, least: int, most: int) -> tuple[Fraction, Fraction]:
        """Bounds of the average of at least one row, each between `least` and `most`.

        The quotient rises with the sum; in the count it falls where the sum is positive and rises
        where it is negative, so the extremes lie at ends of both.
        """
        fewest = max(1, self.fewest)
        highest = max(fewest, self.count + self.count_error)
        low, high = self.total - self.total_error, self.total + self.total_error
        lower = Fraction(low, highest if low > 0 else fewest)
        upper = Fraction(high, fewest if high > 0 else highest)
        return clip(lower, least, most), clip(upper, least, most)


def average_error(
    errors: tuple[int, int], *, size: int, void: int, bounds: tuple[int, int]
) -> Fraction:
    """An error that a clipped quotient of so many rows keeps to while the noises keep to theirs.

    A quotient that stays in the range is never farther off than the range is wide; that is also all
    that can be said where the count may be taken for no rows.

    Args:
        errors: of the sum and of the count.
        size: how many rows there are.
        void: the largest count that is taken for no rows.
        bounds: the least and the most that a row adds to the sum.
    """
    (total, count), (least, most) = errors, bounds
    widest = Fraction(most - least)
    if size - count <= void:
        return widest
    return min(widest, Fraction(total + max(abs(least), abs(most)) * count, size - count))


def clip(value: Fraction, least: int, most: int) -> Fraction:
    """The number of a range that is nearest to a value."""
    return min(max(value, Fraction(least)), Fraction(most))
