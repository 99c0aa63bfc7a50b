"""What an engine counts of a column before its rows are masked: its values and their numbers.

All facts of a column follow from them here, so that they are the same whichever engine counted.
Sums of floats are exact and rounded once, which no order of the rows can change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.tables.masking.method import numbers

Sizes = NDArray[np.int64]
Floats = NDArray[np.float64]

_BITS = 26
_LOW = np.int64((1 << _BITS) - 1)
_HIGH_HALF = np.uint64(~((1 << 27) - 1) & (2**64 - 1))
"""Of the 53 bits of a float it keeps the first 26."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """The distinct values of a column from least to greatest, and how many rows have each."""

    values: pl.Series = field(repr=False)
    sizes: Sizes = field(repr=False)
    empty: int
    """Rows whose cell is empty or no number."""

    @classmethod
    def of(cls, values: pl.Series, sizes: Sizes) -> ValueCounts:
        """Values, some of them perhaps equal or empty, with the rows of each.

        >>> found = ValueCounts.of(pl.Series([3, None, 1, 3]), np.array([1, 2, 4, 5]))
        >>> found.values.to_list(), found.sizes.tolist(), found.empty
        ([1, 3], [4, 6], 2)
        """
        cells = values.alias("value")
        cells = cells.fill_nan(None) + 0.0 if cells.dtype.is_float() else cells
        counted = pl.DataFrame([cells, pl.Series("size", sizes, dtype=pl.Int64)])
        found = counted.group_by("value").agg(pl.col("size").sum()).sort("value")
        filled = found.filter(pl.col("value").is_not_null())
        own = filled["size"].to_numpy().astype(np.int64)
        return cls(filled["value"], own, int(sizes.sum()) - int(own.sum()))

    @property
    def rows(self) -> int:
        """All rows that were counted."""
        return int(self.sizes.sum()) + self.empty

    def as_numbers(self, column: str, method: str) -> NumberCounts:
        """The same of numbers.

        Raises:
            InputError: CEL-V004 it holds none, CEL-V005 some are infinite.
        """
        found = numbers(self.values.to_frame(column), [column], method)[:, 0]
        return NumberCounts.of(found, self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class NumberCounts:
    """Distinct numbers from least to greatest, how many rows have each, and what follows."""

    values: Floats = field(repr=False)
    sizes: Sizes = field(repr=False)

    @classmethod
    def of(cls, values: Floats, sizes: Sizes | None = None) -> NumberCounts:
        """Numbers in any order, each once or so often as `sizes` says; NaN is left out.

        >>> found = NumberCounts.of(np.array([5.0, np.nan, 2.0, 5.0]))
        >>> found.values.tolist(), found.sizes.tolist()
        ([2.0, 5.0], [1, 2])
        """
        filled = ~np.isnan(values)
        own = np.ones(values.size, dtype=np.int64) if sizes is None else sizes
        distinct, places = np.unique(values[filled], return_inverse=True)
        summed = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(summed, places, own[filled])  # below the number of rows, so below 2**63
        return cls(distinct, summed)

    @property
    def count(self) -> int:
        """How many rows have a number."""
        return int(self.sizes.sum())

    @property
    def mean(self) -> float:
        """The mean of the rows."""
        found = total(self.values, self.sizes) / self.count
        if math.isinf(found):  # their sum: smaller numbers have one
            found = total(self.values * 2.0**-64, self.sizes) / self.count * 2.0**64
        return found

    @property
    def deviation(self) -> float:
        """The standard deviation, divided by n; infinite if the squares are too large."""
        with np.errstate(over="ignore", invalid="ignore"):
            centred = self.values - self.mean
            squares = self.sizes * centred * centred
        return math.sqrt(_summed(squares) / self.count)

    def quantile(self, share: float) -> float:
        """The quantile between two neighbours in proportion, as NumPy's default.

        >>> NumberCounts.of(np.array([1.0, 2.0, 4.0])).quantile(0.75)
        3.0
        """
        place = share * (self.count - 1)
        below = math.floor(place)
        rest = place - below
        ends = np.cumsum(self.sizes)
        first, last = (
            float(self.values[np.searchsorted(ends, min(each, self.count - 1), side="right")])
            for each in (below, below + 1)
        )
        # From the nearer of the two, so that rounding does not pass it.
        width = last - first
        return last - width * (1 - rest) if rest >= 0.5 else first + width * rest

    def where(self, chosen: NDArray[np.bool_]) -> NumberCounts:
        """Some of the values."""
        return NumberCounts(self.values[chosen], self.sizes[chosen])


def total(values: Floats, sizes: Sizes) -> float:
    """The sum of values, each so often as its size says: exact, and rounded once.

    Halves of a value of 26 and 27 bits and of a size of 26 bits have products within 53 bits, so
    that every product is exact; sizes are below 2**52. Infinite where the sum has no float.

    Reference: Dekker 1971 for the halves; Shewchuk 1997 for the sum.

    >>> total(np.array([0.1, 1e16, -1e16]), np.array([3, 1, 1])) == math.fsum([0.1] * 3)
    True
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    high = (values.view(np.uint64) & _HIGH_HALF).view(np.float64)
    parts = []
    for half in (high, values - high):
        for share in (sizes & _LOW, sizes & ~_LOW):
            if share.any() and half.any():
                with np.errstate(over="ignore"):
                    parts.append(half * share)
    return _summed(np.concatenate(parts)) if parts else 0.0


def _summed(values: Floats) -> float:
    if not np.isfinite(values).all():
        return math.inf
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return math.inf
