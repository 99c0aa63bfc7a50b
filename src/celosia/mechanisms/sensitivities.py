"""How far one neighbour step moves common answers: what mechanisms take as `sensitivity`.

All are for units that hold one row each; where a unit may hold several, each of them counts, so
the figure is multiplied by the most rows that a unit may have. Values are clipped to bounds that
are known without looking at the data.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, Neighbours, Relation
from celosia.mechanisms.additive.directed_rounding import float_above
from celosia.mechanisms.parameters import check_bounds, check_whole


def count(neighbours: Neighbours = ADD_REMOVE) -> int:
    """One counting query: 1, whether a unit comes, goes or changes."""
    return 1


def counts(queries: int, neighbours: Neighbours = ADD_REMOVE, *, norm: int = 1) -> float:
    """Several counting queries that one unit may all be counted in.

    Args:
        queries: how many.
        neighbours: what one step changes; the figure is the same for both relations.
        norm: 1 for Laplace and geometric noise, 2 for Gaussian noise.

    >>> counts(9), counts(9, norm=2)
    (9.0, 3.0)
    """
    number = check_whole(queries, name="queries")
    return _norm(number, norm)


def histogram(neighbours: Neighbours = ADD_REMOVE, *, norm: int = 1) -> float:
    """Counts of disjoint bins: a unit is in one of them, and leaves it for another if it changes.

    >>> from celosia.core.neighbours import CHANGE_ONE
    >>> histogram(), histogram(CHANGE_ONE)
    (1.0, 2.0)
    """
    return _norm(2 if _changes(neighbours) else 1, norm)


def clipped_sum(lower: float, upper: float, neighbours: Neighbours = ADD_REMOVE) -> float:
    """A sum of values clipped to bounds.

    >>> from celosia.core.neighbours import CHANGE_ONE
    >>> clipped_sum(100, 101), clipped_sum(100, 101, CHANGE_ONE)
    (101.0, 1.0)
    """
    low, high = check_bounds(lower, upper)
    return float_above(high - low if _changes(neighbours) else max(abs(low), abs(high)))


def centred_sum(lower: float, upper: float, neighbours: Neighbours = ADD_REMOVE) -> float:
    """A sum of clipped values less the middle of the bounds: half the range a unit.

    >>> centred_sum(100, 101)
    0.5
    """
    low, high = check_bounds(lower, upper)
    return float_above(high - low if _changes(neighbours) else (high - low) / 2)


def mean(lower: float, upper: float, neighbours: Neighbours = ADD_REMOVE) -> float:
    """A mean of clipped values of unknown number; the mean of none is the middle of the bounds.

    The worst step is to or from few values: the second value moves the mean of one by half the
    range, and a single value that changes moves it by all of it.

    >>> mean(0, 10)
    5.0
    """
    return centred_sum(lower, upper, neighbours)


def mean_known_size(lower: float, upper: float, *, size: int, neighbours: Neighbours) -> float:
    """A mean of clipped values whose number is public.

    >>> from celosia.core.neighbours import CHANGE_ONE
    >>> mean_known_size(0, 10, size=100, neighbours=CHANGE_ONE)
    0.1
    """
    low, high = check_bounds(lower, upper)
    number = check_whole(size, name="size")
    if not _changes(neighbours):
        raise PrivacyError("CEL-M048")
    return float_above((high - low) / number)


def utility_of_mean(lower: float, upper: float, neighbours: Neighbours = ADD_REMOVE) -> float:
    """The utility -|sum(x - r)| of a candidate r within the bounds: the range, either way.

    >>> utility_of_mean(-1, 1)
    2.0
    """
    low, high = check_bounds(lower, upper)
    return float_above(high - low)


def _changes(neighbours: Neighbours) -> bool:
    return neighbours.relation is Relation.CHANGE_ONE


def _norm(coordinates: int, norm: int) -> float:
    """The norm of a vector of `coordinates` ones, rounded up."""
    if norm not in (1, 2):
        raise InputError("CEL-M050", norm=norm)
    if norm == 1:
        return float(coordinates)
    root = isqrt(coordinates)
    if root**2 == coordinates:
        return float(root)
    # 2^53 shifts: the whole root of a number that many bits longer, and one more to be above.
    return float_above(Fraction(isqrt(coordinates << 106) + 1, 2**53))
