"""Local search over groups: records move, change places, or leave a group that dissolves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit
from celosia.tables.masking.microaggregation._mdav_kernels import apart
from celosia.tables.masking.microaggregation._tree import build, nearest

Array = NDArray[Any]


class Groups(NamedTuple):
    """The groups as the search sees them; a dissolved one has size 0."""

    labels: Array
    """The group of each record."""
    members: Array
    """Of each group its records, in the first `sizes` places."""
    sizes: Array
    centres: Array
    open: Array
    """Whether something near a record has changed since it was looked at."""


@njit(cache=True, nogil=True)
def _centre(matrix: Array, group: int, groups: Groups) -> None:
    """Take the mean of a group anew, and look at its records again."""
    size = groups.sizes[group]
    groups.centres[group] = 0.0
    for place in range(size):
        row = groups.members[group, place]
        groups.open[row] = True
        for column in range(matrix.shape[1]):
            groups.centres[group, column] += matrix[row, column]
    groups.centres[group] /= size


@njit(cache=True, nogil=True)
def lay_out(matrix: Array, labels: Array, k: int) -> Groups:
    """The groups of a labelling."""
    count = labels.max() + 1
    groups = Groups(
        labels,
        np.zeros((count, 2 * k - 1), dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, matrix.shape[1])),
        np.ones(labels.size, dtype=np.bool_),
    )
    for row in range(labels.size):
        group = labels[row]
        groups.members[group, groups.sizes[group]] = row
        groups.sizes[group] += 1
    for group in range(count):
        _centre(matrix, group, groups)
    return groups


@njit(cache=True, nogil=True)
def near_groups(matrix: Array, groups: Groups, near: Array) -> None:
    """The groups with the nearest centres for each record that is to be looked at."""
    alive = np.flatnonzero(groups.sizes > 0)
    tree = build(groups.centres[alive])
    away = np.empty(near.shape[1])
    for row in range(groups.labels.size):
        if groups.open[row]:
            found = nearest(matrix[row], near.shape[1], tree, near[row], away)
            for place in range(found):
                near[row, place] = alive[near[row, place]]


@njit(cache=True, nogil=True)
def _best_change(
    matrix: Array, row: int, k: int, groups: Groups, near: Array, least: float
) -> tuple[int, int]:
    """The group to go to and the place there to change with (-1: just go); -1 for staying.

    With c the centre and a the size of a group, taking x out lowers its squared error by
    |x-c|^2 a/(a-1), putting it in adds |x-c|^2 a/(a+1), and changing x for y adds
    |y-c|^2 - |x-c|^2 - |x-y|^2 / a.
    """
    home = groups.labels[row]
    size = groups.sizes[home]
    here = apart(matrix[row], groups.centres[home])
    best, goal, partner = -least, -1, -1
    for group in near[row]:
        others = groups.sizes[group]
        if group == home or others == 0:
            continue
        there = apart(matrix[row], groups.centres[group])
        if size > k and others < 2 * k - 1:
            change = there * others / (others + 1) - here * size / (size - 1)
            if change < best:
                best, goal, partner = change, group, -1
        shrink = 1.0 / size + 1.0 / others
        for place in range(others):
            other = groups.members[group, place]
            change = there - here - apart(matrix[other], groups.centres[group])
            change += apart(matrix[other], groups.centres[home])
            change -= apart(matrix[row], matrix[other]) * shrink
            if change < best:
                best, goal, partner = change, group, place
    return goal, partner


@njit(cache=True, nogil=True)
def rearrange(matrix: Array, k: int, groups: Groups, near: Array, least: float) -> int:
    """Move each record, or change it with another, where that helps most; how many did."""
    changes = 0
    labels, members, sizes = groups.labels, groups.members, groups.sizes
    for row in range(labels.size):
        if not groups.open[row]:
            continue
        groups.open[row] = False
        goal, partner = _best_change(matrix, row, k, groups, near, least)
        if goal < 0:
            continue
        home = labels[row]
        place = 0
        while members[home, place] != row:
            place += 1
        if partner < 0:
            sizes[home] -= 1
            members[home, place] = members[home, sizes[home]]
            members[goal, sizes[goal]] = row
            sizes[goal] += 1
        else:
            other = members[goal, partner]
            members[goal, partner], members[home, place] = row, other
            labels[other] = home
        labels[row] = goal
        _centre(matrix, home, groups)
        _centre(matrix, goal, groups)
        changes += 1
    return changes


@njit(cache=True, nogil=True)
def dissolve(matrix: Array, k: int, groups: Groups, near: Array, least: float) -> int:
    """Share out the records of a group to different near groups where that helps; how many were."""
    labels, members, sizes = groups.labels, groups.members, groups.sizes
    goals = np.empty(2 * k - 1, dtype=np.int64)
    changes = 0
    for home in range(sizes.size):
        size = sizes[home]
        gain = -least
        for place in range(size):
            gain += apart(matrix[members[home, place]], groups.centres[home])
        for place in range(size):
            row = members[home, place]
            best, goal = np.inf, -1
            for group in near[row]:
                others = sizes[group]
                free = group != home and 0 < others < 2 * k - 1
                for earlier in range(place):
                    free &= goals[earlier] != group
                if free:
                    cost = apart(matrix[row], groups.centres[group]) * others / (others + 1)
                    if cost < best:
                        best, goal = cost, group
            goals[place] = goal
            gain -= best
            if gain <= 0.0:
                break
        if size == 0 or gain <= 0.0:
            continue
        sizes[home] = 0
        for place in range(size):
            row, goal = members[home, place], goals[place]
            members[goal, sizes[goal]] = row
            sizes[goal] += 1
            labels[row] = goal
            _centre(matrix, goal, groups)
        changes += 1
    return changes
