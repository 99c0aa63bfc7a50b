"""Public domains: what values a column may have, declared and never taken from the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.tables.masking.draws import uniforms

Codes = NDArray[np.int64]


class PublicColumn(ABC):
    """A column over a declared domain, as codes from 0 on.

    The last code stands for cells that are none of the declared values: empty ones, and values that
    were not listed. It is there whether or not such cells are, because that is private too; it is
    released as an empty cell.
    """

    name: str

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are, the last one included."""

    @abstractmethod
    def codes(self, series: pl.Series) -> Codes:
        """The code of each cell; never an error, whatever a cell holds."""

    @abstractmethod
    def series(self, codes: Codes, rng: Source) -> pl.Series:
        """Cells for codes."""

    @abstractmethod
    def labels(self) -> pl.Series:
        """What each code stands for; the last one is empty."""

    def counts(self, series: pl.Series) -> Codes:
        """The exact count of each code: one row more or less moves one of them by 1."""
        return np.bincount(self.codes(series), minlength=self.size).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ListedColumn(PublicColumn):
    """A column of listed values."""

    name: str
    values: pl.Series

    @property
    def size(self) -> int:
        return len(self.values) + 1

    def codes(self, series: pl.Series) -> Codes:
        numbered = pl.DataFrame({"value": self.values, "code": np.arange(len(self.values))})
        cells = series.cast(self.values.dtype, strict=False).alias("value").to_frame()
        found = cells.join(numbered, on="value", how="left", maintain_order="left")["code"]
        return found.fill_null(len(self.values)).to_numpy().astype(np.int64)

    def series(self, codes: Codes, rng: Source) -> pl.Series:
        places = pl.Series(np.where(codes < len(self.values), codes, -1)).replace(-1, None)
        return self.values.gather(places).alias(self.name)

    def labels(self) -> pl.Series:
        return self.values.extend_constant(None, 1).alias(self.name)


@dataclass(frozen=True, eq=False)
class RangedColumn(PublicColumn):
    """A column of numbers in bins; what lies beyond the ends is clamped to them."""

    name: str
    edges: tuple[float, ...]
    """Where bins begin, and the upper bound: a bin holds its lower edge, the last one both."""
    integer: bool
    """Whether cells are whole numbers; the edges are then too."""

    @property
    def size(self) -> int:
        return len(self.edges)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each bin; of numbers with decimals, its edges."""
        edges = np.array(self.edges)
        low, high = edges[:-1], edges[1:].copy()
        if self.integer:
            high[:-1] -= 1
        return low, high

    def codes(self, series: pl.Series) -> Codes:
        values = series.cast(pl.Float64, strict=False).to_numpy()
        found = np.searchsorted(np.array(self.edges[1:-1]), values, side="right")
        return np.where(np.isnan(values), self.size - 1, found).astype(np.int64)

    def series(self, codes: Codes, rng: Source) -> pl.Series:
        empty = codes >= self.size - 1
        places = np.where(empty, 0, codes)
        low, high = (end[places] for end in self._ends)
        drawn = uniforms(rng, codes.size)
        if self.integer:  # each whole number of the bin as often
            values = np.minimum(low + np.floor(drawn * (high - low + 1)), high)
            cells = pl.Series(self.name, values.astype(np.int64))
        else:
            cells = pl.Series(self.name, low + drawn * (high - low))
        return cells.set(pl.Series(empty), None)

    def labels(self) -> pl.Series:
        ends = zip(*self._ends, strict=True)
        if self.integer:
            texts = [f"{one:.0f}-{two:.0f}" if two > one else f"{one:.0f}" for one, two in ends]
        else:
            texts = [f"[{one:g}, {two:g})" for one, two in ends]
            texts[-1] = texts[-1][:-1] + "]"
        return pl.Series(self.name, [*texts, None])
