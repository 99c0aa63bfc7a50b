"""Totals under caps where a row belongs to at most two people: rows are filled in turn.

All rows stand in an order that does not depend on who else is there. Under a cap t each row holds,
in its turn, as much of its weight as its people still have room for; the rows of a person hold t
together. Where rows show results (DISTINCT), those of a result stand beside each other, hold the
weight of the result together, and have one person, its home, in common.

Adding a person q moves the total by a number in [0, t]. Run the rows without q and with q side by
side, and let d(p) be by how much p holds more in the second run. A row without q that holds c more
or less there moves d of both of its people by c. It holds the least of its weight, of what is left
of its result and of what its two people have left, so c is between the least and the largest of
-d of these and 0; and for such c the sum of the two |d| is no larger afterwards: it is convex in c,
and at both ends it is at most what it was. (Of a result and its home: what is left for the rows of
a result when its turn begins is the smaller of its weight and what its home has left, and differs
between the runs by e with |e| <= |d|, of the same sign. Rows of the result move e and d alike, so
that |d| = |e| + |d - e| falls by what |e| does. After its turn the result plays no part.) A row of
one person has a second one of its own without a limit. A row of q raises the sum of |d| over all
others by at most what it holds. So this sum ends at no more than what the rows of q hold, L <= t.
Every row is held by two, so twice the total moves by L plus the sum of d over all others, which is
between 0 and 2 L.

What it takes to be true: the order of rows, which rows there are without q, what they weigh, and
the home of a result follow from the rows themselves. The totals are whole numbers, exact, and need
no solver. They are no larger than the optimum of the linear program (`r2t_program`), at least half
of it, as rows that hold less than they could have a person who is full, and equal to it under a cap
that nobody exceeds. Light rows come first: they leave more room for each other.

For three people in a row all of this fails, as each row that holds less leaves room in two others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.queries.bounds.caps import FARTHEST
from celosia.queries.bounds.presolve import exact_sum

Whole = NDArray[np.int64]
WIDEST = 2**62
"""Numbers below it fit in 64 bits with a sign."""


@dataclass(frozen=True, slots=True)
class RowsInTurn:
    """Rows of one or two people, in their order.

    People are numbered from 0, and stand for a row of one person twice. `weights` are at least 0
    and at most 2^50. Rows of a result, numbered by `results`, have one weight, that of the result;
    without results the array is empty.
    """

    one: Whole
    other: Whole
    weights: Whole
    results: Whole

    @classmethod
    def sort(cls, people: Whole, weights: Whole, results: Whole | None) -> RowsInTurn:
        """Rows in an order that follows from themselves: results, or weights, then people.

        Args:
            people: one or two columns, numbered in an order that does not depend on who is there.
            weights: of each row.
            results: of each row, numbered in such an order; None for rows that count by themselves.
        """
        one, other = people[:, 0], people[:, -1]
        order = _ranked(weights if results is None else results, one, other)
        shown = np.zeros(0, dtype=np.int64) if results is None else results[order]
        return cls(one[order], other[order], weights[order], shown)

    def everything(self) -> int:
        """What all rows, or all results, weigh together, up to 2^50."""
        weights = self.weights
        if self.results.size:
            weights = weights[np.r_[True, self.results[1:] != self.results[:-1]]]
        return min(exact_sum(weights), FARTHEST)


def _ranked(*columns: Whole) -> Whole:
    """The places of rows by the first column, then the next; equal rows in any order."""
    sizes = [int(each.max(initial=0)) + 1 for each in columns]
    if prod(sizes) > WIDEST:
        return np.lexsort(columns[::-1])
    key = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key = key * size + column
    return np.argsort(key)  # one number for each row: several times as fast


def totals_in_turn(
    rows: RowsInTurn, caps: Sequence[int], *, progress: Callable[[], object] = int
) -> tuple[int, ...]:
    """The total under each cap, exactly, up to 2^50, where noise cannot follow.

    >>> path = RowsInTurn.sort(np.array([[0, 1], [1, 2], [2, 2]]), np.array([3, 1, 5]), None)
    >>> totals_in_turn(path, (1, 4, 8))
    (1, 7, 9)
    """
    from celosia.queries.bounds._kernels import fill_in_turn

    found: dict[int, int] = {}
    people = max(int(rows.one.max(initial=-1)), int(rows.other.max(initial=-1))) + 1
    everything = rows.everything()
    for cap in sorted({int(each) for each in caps}):
        progress()
        reached = found.get(max(found, default=0), -1)
        if reached == everything:  # no room is missing, nor is it under larger caps
            found[cap] = everything
            continue
        load = np.zeros(people, dtype=np.int64)
        parts = (rows.one, rows.other, rows.weights, rows.results)
        found[cap] = int(fill_in_turn(*parts, cap, load, FARTHEST))
    return tuple(found[int(cap)] for cap in caps)


def load_kernel() -> None:
    """Compile what fills rows, so that its first use takes no longer than others."""
    row = np.zeros((1, 2), dtype=np.int64)
    totals_in_turn(RowsInTurn.sort(row, row[:, 0] + 1, row[:, 0]), (1,))
