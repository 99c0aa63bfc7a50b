"""Declarations of domains as a recipe gives them, checked before any row is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter
from celosia.core.numbers import real, whole
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


LARGEST = 2**53
"""Of a bound: whole numbers beyond it are not exact as floats."""
MOST_BINS = 2**20

Lists = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class DomainDeclarations:
    """What is declared of the columns of a table.

    Args:
        domains: for columns of categories, all their values.
        bounds: for columns of numbers, the least and the greatest.
        bins: how many bins of equal width a column with bounds has, one number or one a column.
        edges: for columns of numbers in bins of unequal width, where the bins begin and end.
    """

    domains: Lists
    bounds: Lists
    bins: int | Mapping[str, int] = 16
    edges: Lists | None = None

    def __post_init__(self) -> None:
        for name, given in self.domains.items():
            kinds = {type(value) for value in given}
            if not given or len(set(given)) < len(given) or not _are_one_kind(kinds):
                wanted = Message("tables.must_be.domain_values")
                raise InputError("CEL-Y021.domain", wanted=wanted, column=name)
        for name, given in self.bounds.items():
            if len(given) != 2 or not _rising(given):
                wanted = Message("tables.must_be.bounds")
                raise InputError("CEL-Y021.bounds", wanted=wanted, column=name)
        for name, given in (self.edges or {}).items():
            if len(given) < 2 or not _rising(given):
                wanted = Message("tables.must_be.edges")
                raise InputError("CEL-Y021.edges", wanted=wanted, column=name)

    def columns(self, schema: pl.Schema, names: Sequence[str]) -> list[PublicColumn]:
        """The columns of a table over their declared domains.

        Only names and types are looked at.

        Raises:
            InputError: CEL-Y020 a column is not declared, or twice, or is not there; CEL-Y022 its
                type does not fit.
        """
        lists = (self.domains, self.bounds, self.edges or {})
        for name in (one for each in lists for one in each):
            if name not in names:
                raise InputError("CEL-Y020.not_given", column=name)
        found = []
        for name in names:
            times = sum(name in each for each in lists)
            if times != 1:
                raise InputError("CEL-Y020.twice" if times else "CEL-Y020.undeclared", column=name)
            found.append(self._column(name, schema[name]))
        return found

    def _column(self, name: str, dtype: pl.DataType) -> PublicColumn:
        if name in self.domains:
            return ListedColumn(name, _values(name, dtype, self.domains[name]))
        if not dtype.is_numeric():
            raise InputError("CEL-Y022.bounds", dtype=dtype, column=name)
        edges = (self.edges or {}).get(name)
        if edges is not None:
            integer = dtype.is_integer() and all(float(edge).is_integer() for edge in edges)
            return RangedColumn(name, tuple(float(edge) for edge in edges), integer)
        low, high = (float(bound) for bound in self.bounds[name])
        bins = self.bins if isinstance(self.bins, int) else self.bins.get(name, 16)
        if dtype.is_integer() and low.is_integer() and high.is_integer():
            width = int(high - low) + 1
            bins = min(bins, width)
            starts = [low + width * place // bins for place in range(bins)]
            return RangedColumn(name, (*starts, high), True)
        step = (high - low) / bins
        return RangedColumn(name, (*(low + step * place for place in range(bins)), high), False)


def check_lists(given: Any) -> dict[str, tuple[Any, ...]]:
    """A table of lists, as TOML gives it, with tuples in place of lists."""
    if not all(isinstance(each, Sequence) and not isinstance(each, str) for each in given.values()):
        raise ValueError
    return {column: tuple(each) for column, each in given.items()}


def _check_bins(given: Any) -> int | dict[str, int]:
    if isinstance(given, Mapping):
        return {column: _check_count(count) for column, count in given.items()}
    return _check_count(given)


def _check_count(given: Any) -> int:
    count = whole(given)
    if count is None or not 1 <= count <= MOST_BINS:
        raise ValueError
    return count


def _values(name: str, dtype: pl.DataType, given: tuple[Any, ...]) -> pl.Series:
    wanted = pl.String() if isinstance(dtype, (pl.Enum, pl.Categorical)) else dtype
    texts = all(isinstance(value, str) for value in given)
    truths = all(isinstance(value, bool) for value in given)
    fits = texts if wanted == pl.String else truths if wanted == pl.Boolean else dtype.is_numeric()
    if not fits or (dtype.is_numeric() and (texts or truths)):
        raise InputError("CEL-Y022.domain", dtype=dtype, column=name)
    values = pl.Series(name, given, strict=False).cast(wanted, strict=False)
    if values.null_count() or values.n_unique() < len(values):
        raise InputError("CEL-Y022.domain", dtype=dtype, column=name)
    return values


def _are_one_kind(kinds: set[type]) -> bool:
    return kinds <= {int, float} or kinds in ({str}, {bool})


def _rising(given: Sequence[object]) -> bool:
    found = [real(value) for value in given]
    known = [value for value in found if value is not None and isfinite(value)]
    inside = len(known) == len(found) and all(abs(value) <= LARGEST for value in known)
    return inside and all(low < high for low, high in pairwise(known))


LISTS = Parameter(check=check_lists, allowed="tables.must_be.lists_by_column", is_asked=False)
"""Lists by column: all values of a category (`domains`), the least and the greatest number
(`bounds`), or where bins of unequal width begin and end (`edges`)."""

BINS = Parameter(
    kind="whole",
    least=1,
    most=MOST_BINS,
    check=_check_bins,
    allowed="tables.must_be.number_of_bins",
)
"""How many bins the columns with bounds have; one number, or one a column."""
