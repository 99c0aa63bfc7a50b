"""What the released ranges of a partition may stand for."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED, Meaning
from celosia.tables.coded_table import CodedColumn
from celosia.tables.recoding.mondrian.axis import RangedAxis, is_ranged

_RANGE = re.compile(r"\[(.+), (.+)\]")


class RangeMeaning:
    """The values of a column of numbers or dates, and which of them a closed range holds.

    A range stands for the leaves of the column's hierarchy whose value lies in it, a value for
    itself, and `*` for any.

    >>> import polars as pl
    >>> from celosia.tables.hierarchies import Hierarchy
    >>> ages = Hierarchy.from_paths([("40", "*"), ("20", "*"), ("23", "*")])
    >>> values = pl.Series([40, 20, 23])
    >>> age = CodedColumn("age", ages, np.array([0, 1, 2], np.int32), value_of_leaf=values)
    >>> RangeMeaning(age).stands_for("[20, 23]").tolist()
    [1, 2]
    """

    def __init__(self, column: CodedColumn):
        self._axis = RangedAxis(column)
        self._leaves = column.hierarchy.leaves

    @property
    def values(self) -> tuple[str, ...]:
        """The leaves of the hierarchy."""
        return self._leaves

    def stands_for(self, label: str) -> NDArray[np.int64]:
        """Positions of the leaves that the label may be; none if it is no label."""
        if label in self._rank_of:
            rank = self._rank_of[label]
            return self._between(rank, rank)
        if label == SUPPRESSED:
            return np.arange(len(self._leaves), dtype=np.int64)
        ends = _RANGE.fullmatch(label)
        low, high = (self._rank_of.get(end, -1) for end in ends.groups()) if ends else (-1, -1)
        if 0 <= low <= high < self._axis.ordered:
            return self._between(low, high)
        return np.empty(0, dtype=np.int64)

    @cached_property
    def _rank_of(self) -> dict[str, int]:
        return {self._leaves[leaf]: rank for rank, leaf in enumerate(self._axis.leaf_of_rank)}

    def _between(self, low: int, high: int) -> NDArray[np.int64]:
        return np.sort(self._axis.leaf_of_rank[low : high + 1]).astype(np.int64)


def meaning_of(column: CodedColumn) -> Meaning:
    """What the labels that a partition gives a column may stand for."""
    return RangeMeaning(column) if is_ranged(column) else column.hierarchy
