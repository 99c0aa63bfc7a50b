"""Estimates of aggregates and their bounds from noisy totals, by post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, sqrt

from celosia.queries.planning.aggregates import RANKS, Derivation
from celosia.queries.planning.ranges import Range
from celosia.queries.planning.step import Bounds

Cell = tuple[float | int | None, Bounds | None]
"""A number of an answer, and between what the exact one lies; None where nothing is public."""
Interval = tuple[Fraction | None, Fraction | None]
"""Ends at infinity are None."""


def estimate(
    recipe: Derivation,
    values: Sequence[float],
    bounds: Sequence[Bounds | None],
    steps: Sequence[Fraction],
) -> Cell:
    """The number that a recipe makes of its totals, with its bounds.

    Args:
        recipe: how the aggregate follows.
        values: the noisy totals, in steps.
        bounds: of each exact total, in steps.
        steps: what one step of each total is worth.
    """
    kind = recipe.aggregate.kind
    totals = [Fraction(value) * step for value, step in zip(values, steps, strict=True)]
    limits = [_scale(each, step) for each, step in zip(bounds, steps, strict=True)]
    if kind in RANKS or len(totals) == 1:
        return _number(totals[0]), _as_floats(limits[0])
    assert recipe.bounds is not None
    low, high = recipe.bounds
    inside = low - recipe.centre, high - recipe.centre
    count = totals[-1]
    if kind == "mean":
        mean = totals[0] / count + recipe.centre if count >= 1 else None
        spread = _mean_bounds(limits[0], limits[1], inside)
        moved = spread and (spread[0] + recipe.centre, spread[1] + recipe.centre)
        return (None if mean is None else float(_clip(mean, low, high))), _as_floats(moved)
    most = ((high - low) / 2) ** 2
    spread, found = _variance_bounds(limits, inside, most), None
    sample = recipe.aggregate.sample
    if count >= (2 if sample else 1):
        exact = _clip(totals[1] / count - (totals[0] / count) ** 2, Fraction(0), most)
        found = float(exact * (count / (count - 1) if sample else 1))
    if sample and spread is not None:
        spread = _sample_variance_bounds(spread, limits[2])
    return _take_root(found, spread, is_root=kind == "deviation")


def _scale(bounds: Bounds | None, step: Fraction) -> Interval | None:
    if bounds is None:
        return None
    low, high = (Fraction(end) * step if isfinite(end) else None for end in bounds)
    return low, high


def _mean_bounds(total: Interval | None, count: Interval | None, inside: Range) -> Range | None:
    """Bounds of a mean of values inside a range, from those of its sum and count.

    The quotient rises with the sum; in the count it falls where the sum is positive and rises where
    it is negative, so the extremes lie at ends of both. Where there may be no rows, or an end is
    not known, the end of the range stands for it.
    """
    if total is None or count is None:
        return None
    low, high = inside
    fewest, highest = count
    if fewest is None or fewest < 1:
        return inside
    least, most = total
    bottom, top = low, high
    if least is not None and (least <= 0 or highest is not None):
        bottom = least / (highest if highest is not None and least > 0 else fewest)
    elif least is not None:
        bottom = Fraction(0)
    if most is not None and (most >= 0 or highest is not None):
        top = most / (fewest if highest is None or most > 0 else highest)
    elif most is not None:
        top = Fraction(0)
    return _clip(bottom, low, high), _clip(top, low, high)


def _variance_bounds(
    limits: Sequence[Interval | None], inside: Range, most: Fraction
) -> Range | None:
    """Bounds of a variance from those of a sum, a sum of squares and a count."""
    farthest = max(abs(inside[0]), abs(inside[1])) ** 2
    mean = _mean_bounds(limits[0], limits[2], inside)
    square = _mean_bounds(limits[1], limits[2], (Fraction(0), farthest))
    if mean is None or square is None:
        return None
    nearest = Fraction(0) if mean[0] <= 0 <= mean[1] else min(abs(mean[0]), abs(mean[1]))
    largest = max(abs(mean[0]), abs(mean[1]))
    low, high = square[0] - largest**2, square[1] - nearest**2
    return _clip(low, Fraction(0), most), _clip(high, Fraction(0), most)


def _sample_variance_bounds(spread: Range, count: Interval | None) -> Range:
    """Bounds of a sample's variance: n / (n - 1) of the population's, which falls as n grows.

    There is one from two rows on, so n / (n - 1) is never more than 2.
    """
    fewest, highest = count or (None, None)
    least = highest / (highest - 1) if highest is not None and highest >= 2 else Fraction(1)
    most = fewest / (fewest - 1) if fewest is not None and fewest >= 2 else Fraction(2)
    return spread[0] * least, spread[1] * most


def _take_root(value: float | None, bounds: Range | None, *, is_root: bool) -> Cell:
    if not is_root:
        return value, _as_floats(bounds)
    ends = None if bounds is None else (sqrt(bounds[0]), sqrt(bounds[1]))
    return (None if value is None else sqrt(value)), ends


def _clip(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(value, low), high)


def _number(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _as_floats(interval: Interval | Range | None) -> Bounds | None:
    """The ends as floats; None where neither is known."""
    if interval is None:
        return None
    low, high = interval
    return (-inf if low is None else float(low)), (inf if high is None else float(high))
