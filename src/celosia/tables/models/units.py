"""Classes that count units, people or households, where one unit may have several records.

A class has as many units as there are distinct ones among its records. A unit with one value of a
sensitive column in a class counts for that value. Of a unit with several nothing is assumed: a
model holds only if it holds whichever value each such unit is given, among all values that such
units have in the class.

Why one value for all of them is enough to try: the counts that the M units with several can add lie
in the convex hull of the points "all M have value v", and every model here fails, if at all, at a
corner of such a hull. Shares that are capped are linear, distances from the table are convex,
entropy is concave, the largest count less a multiple of the tail is convex, and the fewest
different values are reached where all M join one value.

What must go: units of a part of a class are units of the class. So where a class has fewer units
than a model can ever do with, every part of it has, and all its records must go. Nothing else is
claimed, because a unit may lie in several parts: two parts may each meet a model and fail it
together, so bounds that rest on merging do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.tables.models.classes import Classes, Histogram, SensitiveColumn


@dataclass(frozen=True, eq=False, slots=True)
class UnitValues:
    """Which units have which values of a sensitive column: the pairs that occur, numbered.

    Pairs are in order of their unit, then of their value.
    """

    column: SensitiveColumn
    """Its totals are units, see `unit_totals`."""
    pair_of_row: NDArray[np.int32] = field(repr=False)
    unit_of_pair: NDArray[np.int32] = field(repr=False)
    value_of_pair: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of_rows(
        cls, column: SensitiveColumn, unit_of: NDArray[np.int32], value_of: NDArray[np.int32]
    ) -> UnitValues:
        """Number the pairs of some rows."""
        width = max(1, column.totals.size)
        cells = unit_of.astype(np.int64) * width + value_of
        pairs, pair_of = np.unique(cells, return_inverse=True)
        units, values = (pairs // width).astype(np.int32), (pairs % width).astype(np.int32)
        return cls(unit_totals(column, units, values), pair_of.astype(np.int32), units, values)

    @property
    def as_column(self) -> SensitiveColumn:
        """The pairs as values of a column, for histograms."""
        return SensitiveColumn(self.column.name, np.ones(self.unit_of_pair.size, dtype=np.int64))


def unit_totals(
    column: SensitiveColumn, units: NDArray[np.int32], values: NDArray[np.int32]
) -> SensitiveColumn:
    """What is public of a column, by units: each unit weighs 1, shared among its values.

    Shares of the table must add up to 1 for distances. They are whole numbers, so a unit is
    `PARTS` parts; the remainder of a division, below one part a value, is dropped.
    """
    number_of = np.bincount(units)
    if number_of.max(initial=1) == 1:
        totals = np.bincount(values, minlength=column.totals.size).astype(np.int64)
    else:
        totals = np.zeros(column.totals.size, dtype=np.int64)
        np.add.at(totals, values, PARTS // number_of[units])
    return SensitiveColumn(column.name, totals, column.is_ordered, column.nodes)


PARTS = 720_720
"""Divisible by every number up to 16, so that the shares of most units are exact."""


@dataclass(frozen=True, eq=False, slots=True)
class UnitHistogram:
    """The sensitive values of the units of each class."""

    single: Histogram
    """Units that have one value in the class."""
    several: NDArray[np.int64] = field(repr=False)
    """For each class, the units that have more than one."""
    candidates: Histogram
    """Their values, and how many of them have each."""

    @classmethod
    def of(cls, pairs: Histogram, values: UnitValues) -> UnitHistogram:
        """From the pairs of unit and value that each class has."""
        classes = pairs.starts.size - 1
        class_of = pairs.class_of
        unit, value = values.unit_of_pair[pairs.values], values.value_of_pair[pairs.values]
        # Pairs ascend within a class, so those of a unit are neighbours.
        new = np.ones(unit.size, dtype=np.bool_)
        new[1:] = (unit[1:] != unit[:-1]) | (class_of[1:] != class_of[:-1])
        run = np.cumsum(new) - 1
        lengths = np.bincount(run, minlength=0) if unit.size else np.zeros(0, dtype=np.int64)
        is_single = lengths[run] == 1
        several = np.bincount(class_of[new & ~is_single], minlength=classes).astype(np.int64)

        def histogram(chosen: NDArray[np.bool_]) -> Histogram:
            return Histogram.of_rows(values.column, class_of[chosen], value[chosen], classes)

        return cls(histogram(is_single), several, histogram(~is_single))

    def where(self, chosen: NDArray[np.bool_]) -> UnitHistogram:
        """The same for some of the classes."""
        return UnitHistogram(
            self.single.where(chosen), self.several[chosen], self.candidates.where(chosen)
        )

    def worst_cases(self) -> Iterator[tuple[NDArray[np.int64], Histogram]]:
        """Classes, and a histogram in which their units with several values all have one of these.

        First all classes, those with candidates with their first one; then, for the second, third
        and further candidates, the classes that have as many.
        """
        choices = np.diff(self.candidates.starts)
        for turn in range(max(1, int(choices.max(initial=0)))):
            chosen = np.flatnonzero(choices > turn) if turn else np.arange(choices.size)
            yield chosen, self._with_candidate(chosen, turn)

    def _with_candidate(self, chosen: NDArray[np.int64], turn: int) -> Histogram:
        of_class = np.zeros(self.several.size, dtype=np.bool_)
        of_class[chosen] = True
        single = self.single.where(of_class)
        extra = np.flatnonzero(np.diff(self.candidates.starts)[chosen] > turn)
        value = self.candidates.values[self.candidates.starts[chosen[extra]] + turn]
        return Histogram.of_rows(
            self.single.column,
            np.concatenate([single.class_of, extra]),
            np.concatenate([single.values, value]).astype(np.int32),
            chosen.size,
            np.concatenate([single.counts, self.several[chosen[extra]]]),
        )


def unit_classes(
    members: Histogram, pairs: Sequence[Histogram], values: Sequence[UnitValues]
) -> Classes:
    """Classes as models see them, from the units and the pairs of unit and value of each.

    Args:
        members: its values are the numbers of the units.
        pairs: for each sensitive column, its values are the numbers of the pairs.
        values: what the pairs mean.
    """
    by_unit = {
        each.column.name: UnitHistogram.of(histogram, each)
        for histogram, each in zip(pairs, values, strict=True)
    }
    first = {name: next(each.worst_cases())[1] for name, each in by_unit.items()}
    return Classes(np.diff(members.starts), first, units=by_unit)
