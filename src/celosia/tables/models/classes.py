"""What a model sees of a candidate release: class sizes, sensitive values, the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.tables.models import _kernels

if TYPE_CHECKING:
    from celosia.tables.models.units import UnitHistogram


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """What is public of a sensitive column: its values over the whole original table.

    Values are known by number, in their order where they have one: numbers and dates by size,
    texts as an ordered hierarchy has them.
    """

    name: str
    totals: NDArray[np.int64] = field(repr=False)
    """How many records of the original table have each value, suppressed ones included."""
    is_ordered: bool = False
    """Whether the order of the values means something."""
    nodes: NDArray[np.int32] | None = field(default=None, repr=False)
    """`nodes[level, value]`: the node of each value at each level of its hierarchy, if it has one;
    level 0 are the values themselves, the last level is the root."""

    @cached_property
    def rows(self) -> int:
        """Records of the original table."""
        return int(self.totals.sum())

    @cached_property
    def tree(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Nodes of all levels below the root, numbered in one row, and their records in the table.

        `nodes[level, value]` as above, but each level's numbers go on where the last one's ended.
        """
        assert self.nodes is not None
        levels = self.nodes[: max(1, self.nodes.shape[0] - 1)].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(levels.max(axis=1) + 1)])
        nodes = levels + starts[:-1, None]
        totals = np.zeros(starts[-1])
        np.add.at(totals, nodes, self.totals)
        return nodes, totals


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each sensitive value occurs in each class, in compressed rows.

    The values of class `i` are `values[starts[i]:starts[i + 1]]`, ascending, and only those that
    occur; `counts` has their numbers of records.
    """

    column: SensitiveColumn
    starts: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.int32] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of_rows(
        cls,
        column: SensitiveColumn,
        class_of: NDArray[np.int64],
        value_of: NDArray[np.int32],
        classes: int,
        counts: NDArray[np.int64] | None = None,
    ) -> Histogram:
        """From the class and the value of each row; `counts` says how many records each stands for.

        >>> two = SensitiveColumn("disease", np.array([2, 1]))
        >>> rows = Histogram.of_rows(two, np.array([0, 1, 0]), np.array([0, 1, 0], np.int32), 2)
        >>> rows.starts.tolist(), rows.values.tolist(), rows.counts.tolist()
        ([0, 1, 2], [0, 1], [2, 1])
        """
        width = max(1, column.totals.size)
        cells, first = np.unique(class_of.astype(np.int64) * width + value_of, return_inverse=True)
        sums = np.zeros(cells.size, dtype=np.int64)
        np.add.at(sums, first, 1 if counts is None else counts)
        starts = np.searchsorted(cells, np.arange(classes + 1, dtype=np.int64) * width)
        return cls(column, starts, (cells % width).astype(np.int32), sums)

    @property
    def weight(self) -> int:
        """How much room the entries take, in entries of compressed rows."""
        return int(self.values.size)

    def within_caps(
        self, sizes: NDArray[np.int64], caps: NDArray[np.float64], factor: float, least: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For each class whether no value has more than its cap (see the kernel of this name)."""
        found: tuple[NDArray[np.bool_], NDArray[np.int64]] = _kernels.within_caps(
            self.starts, self.values, self.counts, sizes, caps, factor, least
        )
        return found

    @cached_property
    def class_of(self) -> NDArray[np.int64]:
        """The class of each entry."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def where(self, chosen: NDArray[np.bool_]) -> Histogram:
        """The same for some of the classes."""
        entries = np.repeat(chosen, np.diff(self.starts))
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Histogram(self.column, starts, self.values[entries], self.counts[entries])


FEW_VALUES = 32
"""Up to so many values of a column, a class has a counter for each (see `FullHistogram`)."""

LANES = 8
"""The counters of a class are filled up to a multiple of this: processors take as many at once."""


class FullHistogram(Histogram):
    """The same with a counter for every value, of which the last few may stand for none.

    Where values are few, classes are merged and judged several times faster so. The compressed
    rows are made when a model asks for them.
    """

    def __init__(self, column: SensitiveColumn, full: NDArray[np.int16] | NDArray[np.int32]):
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "full", full)

    full: NDArray[np.int16] | NDArray[np.int32]
    """`full[class, value]`: how often the value occurs in the class."""

    @classmethod
    def of_classes(
        cls,
        column: SensitiveColumn,
        class_of: NDArray[np.int64],
        value_of: NDArray[np.int32],
        classes: int,
        counts: NDArray[np.int64] | None,
    ) -> FullHistogram | None:
        """As `of_rows`; None for a column of too many values or records."""
        values = column.totals.size
        if not 0 < values <= FEW_VALUES or column.rows > np.iinfo(np.int32).max:
            return None
        # No class has more records than the table: small numbers take less room and time.
        kind = np.int16 if column.rows <= np.iinfo(np.int16).max else np.int32
        full = np.zeros((classes, -(-values // LANES) * LANES), dtype=kind)
        stands_for = np.ones(class_of.size, dtype=np.int64) if counts is None else counts
        _kernels.count_full(class_of, value_of, stands_for, full)
        return cls(column, full)

    def merged(self, class_of: NDArray[np.int32], classes: int) -> FullHistogram:
        """The histogram once each class has become part of a new one."""
        full = np.zeros((classes, self.full.shape[1]), dtype=self.full.dtype)
        # Added up as words of several counters: no counter ever overflows into the next.
        _kernels.merge_full(class_of, self.full.view(np.uint64), full.view(np.uint64))
        return FullHistogram(self.column, full)

    def within_caps(
        self, sizes: NDArray[np.int64], caps: NDArray[np.float64], factor: float, least: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """The same; counters that stand for no value are within a cap of 0."""
        padded = np.zeros(self.full.shape[1])
        padded[: caps.size] = caps
        found: tuple[NDArray[np.bool_], NDArray[np.int64]] = _kernels.full_within_caps(
            self.full, sizes, padded, factor, least
        )
        return found

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        starts = np.zeros(self.full.shape[0] + 1, dtype=np.int64)
        values = np.empty(self.full.size + 1, dtype=np.int32)
        counts = np.empty(self.full.size + 1, dtype=np.int64)
        filled = _kernels.compress(self.full, starts, values, counts)
        return starts, values[:filled].copy(), counts[:filled].copy()

    @property
    def starts(self) -> NDArray[np.int64]:
        return self._rows[0]

    @property
    def values(self) -> NDArray[np.int32]:
        return self._rows[1]

    @property
    def counts(self) -> NDArray[np.int64]:
        return self._rows[2]

    @property
    def weight(self) -> int:
        """An entry of compressed rows takes twelve bytes."""
        return int(self.full.nbytes // 12)

    def where(self, chosen: NDArray[np.bool_]) -> FullHistogram:
        """The same for some of the classes."""
        return FullHistogram(self.column, self.full[chosen])


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a candidate release, one entry each.

    Only what the models asked for is there: a histogram for each sensitive column that a model
    names, population sizes where a population was given.
    """

    sizes: NDArray[np.int64]
    """Records of each class, or units where these are counted; never 0."""
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    population: NDArray[np.int64] | None = None
    """People of the population that fit each class, records of the table included."""
    unmatched: int = 0
    """Classes of the population without a record of the table."""
    information: NDArray[np.float64] | None = None
    """The share of its information that a record of each class keeps, where a model asks for it."""
    least: int = 0
    """No class with fewer records meets all models that are asked: none need look at one, and what
    is kept of a class is as many at least."""
    units: Mapping[str, UnitHistogram] | None = None
    """Where people or households are counted, the values of the units of each class by column."""

    def where(self, chosen: NDArray[np.bool_]) -> Classes:
        """Some of the classes; the population of the others counts as unmatched."""
        return replace(
            self,
            unmatched=self.unmatched + int(np.count_nonzero(~chosen)),
            sizes=self.sizes[chosen],
            histograms={name: each.where(chosen) for name, each in self.histograms.items()},
            population=None if self.population is None else self.population[chosen],
            information=None if self.information is None else self.information[chosen],
            units=None
            if self.units is None
            else {name: each.where(chosen) for name, each in self.units.items()},
        )
