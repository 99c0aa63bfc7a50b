"""What a model sees of a candidate release: class sizes, sensitive values, the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
