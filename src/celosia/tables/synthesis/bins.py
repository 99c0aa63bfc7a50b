"""Variables of few codes: numbers in bins of about as many rows each, gaps as a code apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.tables.masking.draws import uniforms
from celosia.tables.synthesis.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class BinnedVariable:
    """A variable as codes from 0 on; the last code stands for empty cells where there are any."""

    variable: Variable
    codes: NDArray[np.int64]
    size: int
    """How many codes there are."""
    low: NDArray[np.float64]
    """The least value of each code, without the one of empty cells."""
    high: NDArray[np.float64]
    """The greatest value of each code."""

    def series(self, codes: NDArray[np.int64], rng: Source) -> pl.Series:
        """Cells for codes: evenly between the least and the greatest value of each bin."""
        empty = codes >= self.low.size
        if not self.low.size:
            return self.variable.series(np.full(codes.size, np.nan))
        places = np.where(empty, 0, codes)
        low, high = self.low[places], self.high[places]
        if self.variable.dtype.is_float():
            values = low + uniforms(rng, codes.size) * (high - low)
        else:  # each whole number of the bin as often
            values = low + np.floor(uniforms(rng, codes.size) * (high - low + 1))
        return self.variable.series(np.where(empty, np.nan, values))


def bin_variable(variable: Variable, bins: int) -> BinnedVariable:
    """A variable in at most `bins` bins by quantiles; categories and few numbers stay."""
    known = ~np.isnan(variable.values)
    found = variable.values[known]
    distinct = np.unique(found)
    if variable.labels is not None or distinct.size <= bins:
        codes = np.searchsorted(distinct, found)
        low = high = distinct
    else:
        levels = np.quantile(found, np.arange(1, bins) / bins, method="lower")
        places = np.searchsorted(np.unique(levels), found, side="left")
        _, codes = np.unique(places, return_inverse=True)
        low = np.full(int(codes.max()) + 1, np.inf)
        high = np.full(low.size, -np.inf)
        np.minimum.at(low, codes, found)
        np.maximum.at(high, codes, found)
    every = np.full(variable.values.size, low.size, dtype=np.int64)
    every[known] = codes
    return BinnedVariable(variable, every, low.size + int(not known.all()), low, high)
