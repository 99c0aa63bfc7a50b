"""How often each value of a column occurs, before and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Comparison
from celosia.assess.utility.spread import tally
from celosia.core.errors import InputError
from celosia.core.messages import say, say_of
from celosia.core.methods import PlainValues
from celosia.core.numbers import whole

BINS = 20
"""Amounts with more values than this are put in bins: a reader sees no more of them."""


@dataclass(frozen=True, slots=True)
class Distribution(PlainValues):
    """The shares of a column's values in both tables; each side adds up to 1."""

    column: str
    values: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    def __str__(self) -> str:
        largest = max(abs(a - b) for a, b in zip(self.after, self.before, strict=True))
        return say(
            "assess.line.distribution", column=self.column, values=len(self.values), largest=largest
        )


def distributions(comparison: Comparison, *, bins: int = BINS) -> tuple[Distribution, ...]:
    """The distribution of every column, before and after.

    A released label that stands for several values counts for each of them by its share. Amounts
    with more than `bins` values are put in at most that many bins of equal width, the same ones on
    both sides.

    Raises:
        InputError: CEL-A077 fewer than 2 bins.

    >>> from celosia.assess.utility import compare
    >>> tables = compare({"sex": ["F", "F", "M", "M"]}, {"sex": ["F", "M", "M", "*"]}, ["sex"])
    >>> [shown] = distributions(tables)
    >>> shown.values, shown.before, shown.after
    (('F', 'M'), (0.5, 0.5), (0.375, 0.625))
    """
    number = whole(bins)
    if number is None or number < 2:
        raise InputError("CEL-A077.distributions", bins=bins)
    return tuple(_distribution(column, number) for column in comparison.columns)


def shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts as shares of their sum; zeros stay zeros."""
    total = counts.sum()
    return counts / total if total else counts


def _distribution(column: ColumnPair, bins: int) -> Distribution:
    values: tuple[str, ...] = column.values
    before, after = shares(column.counts_before()), shares(column.counts_after())
    if column.numbers is not None and len(values) > bins:
        values, place = assign_bins(column.numbers, values, bins)
        before = tally(place, before, len(values))
        after = tally(place, after, len(values))
    return Distribution(column.name, values, tuple(before.tolist()), tuple(after.tolist()))


def assign_bins(
    numbers: NDArray[np.float64], values: tuple[str, ...], bins: int
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Names of the bins, and the bin of each value; what is no amount comes last, by its name."""
    amounts = numbers[~np.isnan(numbers)]
    edges = _edges(amounts, bins)
    bins = edges.size - 1
    place = np.clip(np.searchsorted(edges, amounts, side="right") - 1, 0, bins - 1)
    names = [f"[{low:.6g}, {high:.6g}[" for low, high in pairwise(edges)]
    if amounts[-1] == edges[-1]:
        names[-1] = names[-1][:-1] + "]"
    rest = values[amounts.size :]  # NaN is sorted to the end
    return (*names, *rest), np.concatenate([place, bins + np.arange(len(rest))])


def _edges(amounts: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Where bins of equal width begin and end; at whole numbers where all amounts are whole."""
    low, high = amounts[0], amounts[-1]
    if not (amounts == np.floor(amounts)).all() or high - low < bins:
        return np.linspace(low, high, bins + 1)
    width = np.ceil((high - low) / bins)
    return np.asarray(low + width * np.arange(np.ceil((high - low) / width) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances(PlainValues):
    """Distances between a column before and after, in [0, 1]; 0 means the same distribution."""

    column: str
    hellinger: float
    total_variation: float
    earth_mover: float
    """Amounts: the ordered distance over the values of the column; categories: the equal one."""
    divergence: float | None = None
    """Kullback-Leibler divergence in bits, of the original from the release; infinite where the
    release gives no chance to a value that occurs. None unless asked for."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite divergence is the text "infinite"."""
        values = asdict(self)
        if self.divergence == np.inf:
            values["divergence"] = "infinite"
        return values

    def __str__(self) -> str:
        return say_of("assess.line.distance", self)


def distances(comparison: Comparison, *, divergence: bool = False) -> tuple[Distances, ...]:
    """The distances of every column between the original and the release.

    Amounts are not binned. Empty cells are a value in all but the ordered distance, which has no
    place for them: there the cells with an amount are compared.

    >>> from celosia.assess.utility import compare
    >>> tables = compare({"age": [1, 2, 3]}, {"age": [3, 3, 3]}, ["age"])
    >>> print(*distances(tables))
    age: Hellinger 0.6501, total variation 0.6667, earth mover's 0.5000
    """
    return tuple(_distances(column, divergence=divergence) for column in comparison.columns)


def ordered_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Earth mover's distance over m values in order, with |i - j| / (m - 1) between two of them.

    >>> ordered_distance(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    1.0

    Reference: Li, Li, Venkatasubramanian 2007, section 4.1.
    """
    if p.size < 2:
        return 0.0
    return float(np.abs(np.cumsum(p - q)[:-1]).sum() / (p.size - 1))


def equal_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Earth mover's distance with 1 between any two values, which is the total variation.

    >>> equal_distance(np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    0.25
    """
    return float(np.abs(p - q).sum() / 2)


def hellinger(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Hellinger distance.

    >>> hellinger(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


def kullback_leibler(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Bits lost by taking q for p; infinite where q is 0 and p is not.

    >>> kullback_leibler(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    1.0
    """
    occurs = p > 0
    if (q[occurs] == 0).any():
        return float("inf")
    # A sum of rounded terms can end just below zero.
    return max(0.0, float((p[occurs] * np.log2(p[occurs] / q[occurs])).sum()))


def _distances(column: ColumnPair, *, divergence: bool) -> Distances:
    before, after = column.counts_before(), column.counts_after()
    p, q = shares(before), shares(after)
    moved = equal_distance(p, q)
    if column.numbers is not None:
        amount = ~np.isnan(column.numbers)
        moved = ordered_distance(shares(before[amount]), shares(after[amount]))
    return Distances(
        column=column.name,
        hellinger=hellinger(p, q),
        total_variation=equal_distance(p, q),
        earth_mover=moved,
        divergence=kullback_leibler(p, q) if divergence else None,
    )
