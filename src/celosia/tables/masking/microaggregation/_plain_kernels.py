"""MDAV and V-MDAV by looks at all records, for small tables: the kernels take long to compile.

Thirty thousand records in three columns are grouped in a second so; to compile the kernels takes
eight. They are compiled when the runs without have taken as long, and a small table never waits for
them. Sums are exact on the grid, distances are added from left to right, and ties go to the lowest
row, as in the kernels: the groups are the same.
"""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np

from celosia.core.kernels import does_without, is_compiled
from celosia.tables.masking.microaggregation import _kernels
from celosia.tables.masking.microaggregation._kernels import Array

FEW_CELLS = 100_000_000
"""Up to so many cells are looked at in a moment."""

CELLS_AT_COST = 4_000_000_000
"""How many cells are looked at in the time that compiling takes."""

ROOM = 8
"""Records that were taken are swept out when they are this part of all."""


def kernels_for(name: str, matrix: Array, k: int) -> ModuleType:
    """The module with the kernel of a name for a table: compiled, or this one."""
    rows, columns = matrix.shape
    cells = rows * rows // k * columns  # about so many, for each group is sought among all records
    if is_compiled(getattr(_kernels, name)):
        return _kernels
    few = cells <= FEW_CELLS or does_without(name, cells / CELLS_AT_COST)
    return sys.modules[__name__] if few else _kernels


class _Free:
    """The records without a group, in the order of their rows; their places change by `sweep`."""

    def __init__(self, matrix: Array) -> None:
        self._columns = np.ascontiguousarray(matrix.T)
        self.rows = np.arange(matrix.shape[0])
        self.count = matrix.shape[0]
        self._is_free = np.ones(self.count, dtype=np.bool_)

    def sweep(self) -> None:
        """Leave out the records that were taken, if they are many."""
        if (self.rows.size - self.count) * ROOM > self.rows.size:
            self._columns = np.ascontiguousarray(self._columns[:, self._is_free])
            self.rows = self.rows[self._is_free]
            self._is_free = np.ones(self.count, dtype=np.bool_)

    def place_of(self, row: int) -> int:
        """Where a free record is."""
        return int(np.searchsorted(self.rows, row))

    def distances(self, point: Array) -> Array:
        """The squared distance of each place to a point."""
        total = np.zeros(self.rows.size)
        for column, value in zip(self._columns, point, strict=True):
            gap = column - value
            gap *= gap
            total += gap
        return total

    def distances_to(self, place: int) -> Array:
        """The same, to the record of a place."""
        return self.distances(self._columns[:, place])

    def farthest(self, away: Array) -> int:
        """The free place that is farthest, the first of those equally far."""
        return int(np.argmax(np.where(self._is_free, away, -1.0)))

    def nearest(self, away: Array) -> tuple[int, float]:
        """The free place that is nearest, the first of those equally near; infinite for none."""
        near = np.where(self._is_free, away, np.inf)
        place = int(np.argmin(near))
        return place, float(near[place])

    def take(self, place: int, others: int, away: Array) -> Array:
        """Take a record and the others nearest to it; returns their places."""
        self.remove(place)
        near = np.where(self._is_free, away, np.inf)
        limit = np.partition(near, others - 1)[others - 1]
        within = np.flatnonzero(near <= limit)
        chosen = within[np.argsort(near[within], kind="stable")[:others]]
        self._is_free[chosen] = False
        self.count -= others
        return np.append(chosen, place)

    def remove(self, place: int) -> None:
        """Take one record."""
        self._is_free[place] = False
        self.count -= 1

    def restore(self, place: int) -> None:
        """Give back the record that was taken last."""
        self._is_free[place] = True
        self.count += 1


def mdav(matrix: Array, k: int, until: int, labels: Array) -> int:
    """As the kernel of this name."""
    free = _Free(matrix)
    sums = matrix.sum(axis=0)
    groups = 0
    while free.count >= 2 * k and free.count > until:
        free.sweep()
        away = free.distances(sums / free.count)
        for _ in range(2 if free.count >= 3 * k else 1):
            place = free.farthest(away)
            away = free.distances_to(place)
            rows = free.rows[free.take(place, k - 1, away)]
            labels[rows] = groups
            sums = sums - matrix[rows].sum(axis=0)
            groups += 1
    if free.count > until:
        labels[labels < 0] = groups
        groups += 1
    return groups


def variable(matrix: Array, k: int, gamma: float, labels: Array) -> int:
    """As the kernel of this name."""
    free = _Free(matrix)
    away_from_centre = free.distances(matrix.sum(axis=0) / matrix.shape[0])
    groups = 0
    for first in np.argsort(-away_from_centre, kind="stable"):  # ties by row
        if free.count < k:
            break
        if labels[first] >= 0:
            continue
        free.sweep()
        place = free.place_of(int(first))
        members = free.take(place, k - 1, free.distances_to(place)).tolist()
        away = np.min([free.distances_to(member) for member in members], axis=0)
        while len(members) < 2 * k - 1 and free.count > 0:
            guest, near = free.nearest(away)
            from_guest = free.distances_to(guest)
            free.remove(guest)
            if free.count and np.sqrt(near) >= gamma * np.sqrt(free.nearest(from_guest)[1]):
                free.restore(guest)
                break
            members.append(guest)
            away = np.minimum(away, from_guest)
        labels[free.rows[members]] = groups
        groups += 1
    return groups
