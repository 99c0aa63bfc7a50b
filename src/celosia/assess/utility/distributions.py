"""How often each value of a column occurs, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Comparison
from celosia.assess.utility.spread import tally
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.numbers import whole

BINS = 20
"""Amounts with more values than this are put in bins: a reader sees no more of them."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The shares of a column's values in both tables; each side adds up to 1."""

    column: str
    values: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "column": self.column,
            "values": list(self.values),
            "before": list(self.before),
            "after": list(self.after),
        }

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
