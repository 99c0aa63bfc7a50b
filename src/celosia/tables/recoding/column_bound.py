"""How little any node of a lattice can lose, from a few columns at a time.

Cut the columns into groups. For the levels of one group, take all other columns to the top. That
node is above every node with these levels in the group, so what must go there (`Verdict.must_go`)
must go at each of them. A node that suppresses s records has therefore in every group levels at
which at most s records must go; and each of its columns loses at least what its level and s
suppressed records cost (`LossMeasure.parts`). So no node loses less than

    the least over s of the product (or sum) over the groups of the least, over the levels of the
    group at which at most s must go, of what these levels and s suppressed records cost.

More suppressed records never cost less. So it is enough to try s in steps: for all s from `first`
to `last`, levels are taken that `last` allows, at the cost of `first`.

Larger groups make a higher bound, since more must go where more columns are fine; every grouping
gives one that is true, and the highest is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.loss import LossMeasure
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.trial import Trial

STEPS = 128
"""Into how many steps the numbers of suppressed records are cut."""

LARGEST_GROUP, GROUPINGS = 5, 6
"""How many columns a group has at most, and how many groupings of each size are tried."""


class _Group(NamedTuple):
    """The levels of some columns that are within reach, one row each, and what must go there."""

    columns: Sequence[int]
    levels: NDArray[np.int64]
    must_go: NDArray[np.int64]


class ColumnBound:
    """A score that no node falls below.

    Args:
        lattice: the table.
        measure: the loss that is kept least.
        allowed: how many records may be suppressed.
    """

    def __init__(self, lattice: Lattice, measure: LossMeasure, allowed: int):
        self._lattice, self._measure, self._allowed = lattice, measure, allowed

    def improve(self, trial: Trial, is_over: Callable[[], bool]) -> float:
        """The highest bound over groupings of growing size, until the time is over."""
        trial.move(self._lattice.top)
        columns = list(range(len(self._lattice.shape)))
        least = self._measure.least
        # The order of columns is no secret, and changes no promise.
        random = np.random.default_rng(0)
        for size in range(1, min(LARGEST_GROUP, len(columns)) + 1):
            for number in range(1 if size in (1, len(columns)) else GROUPINGS):
                order = columns if number == 0 else random.permutation(columns).tolist()
                groups = []
                for group in _cut(order, size):
                    known = self._group(trial, group, is_over)
                    if known is None:
                        return least
                    groups.append(known)
                least = max(least, self._bound(groups))
        return least

    def _group(
        self, trial: Trial, columns: Sequence[int], is_over: Callable[[], bool]
    ) -> _Group | None:
        """What must go at all levels of some columns; None if the time was over before."""
        top = self._lattice.top
        found: dict[Node, int] = {}
        for levels in product(*(range(top[column], -1, -1) for column in columns)):
            if is_over():
                return None
            above = _above(levels, [top[column] for column in columns])
            if all(node in found for node in above):  # else more than may must go there, and here
                node = list(top)
                for column, level in zip(columns, levels, strict=True):
                    node[column] = level
                must_go = trial.look(tuple(node)).must_go
                if must_go <= self._allowed:
                    found[levels] = must_go
        return _Group(columns, np.array(list(found)), np.array(list(found.values())))

    def _bound(self, groups: Sequence[_Group]) -> float:
        edges = np.unique(np.linspace(0, self._allowed + 1, STEPS + 1).astype(np.int64))
        return min(
            self._bound_between(groups, first, last - 1) for first, last in pairwise(edges.tolist())
        )

    def _bound_between(self, groups: Sequence[_Group], first: int, last: int) -> float:
        """For nodes that suppress from `first` to `last` records."""
        measure = self._measure
        least = []
        for group in groups:
            reached = group.levels[group.must_go <= last]
            if not reached.size:
                return float("inf")
            costs = measure.combine.reduce(
                [
                    measure.parts(column, first)[reached[:, place]]
                    for place, column in enumerate(group.columns)
                ]
            )
            least.append(float(costs.min()))
        return float(measure.combine.reduce(least)) * (1 - 1e-9)


def _cut(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _above(levels: Node, top: Sequence[int]) -> Iterator[Node]:
    """The levels with one column a level higher."""
    for place, level in enumerate(levels):
        if level < top[place]:
            yield (*levels[:place], level + 1, *levels[place + 1 :])
