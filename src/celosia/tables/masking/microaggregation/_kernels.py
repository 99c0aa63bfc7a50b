"""MDAV and its variable-size form over records in boxes, and the searches in trees of boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.tables.masking.microaggregation._tree import (
    Tree,
    build,
    farthest,
    nearest,
    remove,
)

Array = NDArray[Any]

_SLACK = 1.0 + 1e-9
"""Far above the rounding of a square root and a sum, so that no record is passed over by it."""

_PATIENCE = 1000
"""Steps along the list before the tree is asked instead."""

_PATIENCE_SHARE = 16
"""And as many more as this part of the list."""


@njit(cache=True, nogil=True)
def apart(record: Array, point: Array) -> float:
    """The squared distance, columns added from left to right as everywhere."""
    total = 0.0
    for column in range(point.size):
        difference = record[column] - point[column]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _by_distance(matrix: Array, labels: Array, point: Array) -> tuple[Array, Array]:
    """The free records from the farthest to the nearest of a point, and how far they are."""
    free = np.flatnonzero(labels < 0)
    away = np.empty(free.size)
    for place in range(free.size):
        away[place] = np.sqrt(apart(matrix[free[place]], point))
    order = np.argsort(-away)
    return free[order], away[order]


@njit(cache=True, nogil=True)
def _farthest_of_list(
    matrix: Array, labels: Array, order: Array, reach: Array, centre: Array, moved: float
) -> tuple[int, int]:
    """The free record farthest from the centre, or -1 after too many steps; and the steps.

    A record is at most its old distance plus the way the centre has moved from it, so the walk
    ends where that falls below the best. Many records equally far (duplicates, yes-or-no columns)
    would be walked over one by one: the tree settles such ties at once.
    """
    best, found, steps = -1.0, -1, 0
    for place in range(order.size):
        steps += 1
        bound = (reach[place] + moved) * _SLACK
        if bound * bound < best:
            return found, steps
        if steps > _PATIENCE + order.size // _PATIENCE_SHARE:
            return -1, steps
        row = order[place]
        if labels[row] < 0:
            far = apart(matrix[row], centre)
            if far > best or (far == best and row < found):
                best, found = far, row
    return found, steps


@njit(cache=True, nogil=True)
def _take(first: int, k: int, matrix: Array, tree: Tree, rows: Array, away: Array) -> None:
    """Take a record and its k-1 nearest out of the tree, the record last in `rows`."""
    remove(first, tree)
    nearest(matrix[first], k - 1, tree, rows, away)
    for place in range(k - 1):
        remove(rows[place], tree)
    rows[k - 1] = first


@njit(cache=True, nogil=True)
def _sums(matrix: Array) -> Array:
    """The sum of each column, exact on the grid whatever its order."""
    sums = np.zeros(matrix.shape[1])
    for row in range(matrix.shape[0]):
        sums += matrix[row]
    return sums


@njit(cache=True, nogil=True)
def mdav(matrix: Array, k: int, until: int, labels: Array) -> int:
    """Label the records by MDAV until at most `until` are free; the number of groups is returned.

    The record farthest from the centroid is sought along a list made for an earlier centroid,
    which is made anew when the walks along it have cost as much as making it.
    """
    size = matrix.shape[0]
    tree = build(matrix)
    sums = _sums(matrix)
    rows = np.empty(k, dtype=np.int64)
    away = np.empty(k)
    left, groups = size, 0
    old = sums / left
    order, reach = _by_distance(matrix, labels, old)
    head, walked = 0, 0
    while left >= 2 * k and left > until:
        centre = sums / left
        if walked > 16 * left:
            old = centre
            order, reach = _by_distance(matrix, labels, old)
            head, walked = 0, 0
        while labels[order[head]] >= 0:
            head += 1
        moved = np.sqrt(apart(centre, old))
        first, steps = _farthest_of_list(matrix, labels, order[head:], reach[head:], centre, moved)
        walked += steps
        if first < 0:
            first = farthest(centre, tree)
        for turn in range(2 if left >= 3 * k else 1):
            if turn == 1:
                first = farthest(matrix[first], tree)
            _take(first, k, matrix, tree, rows, away)
            for row in rows:
                labels[row] = groups
                sums -= matrix[row]
            groups += 1
            left -= k
    if left > until:
        labels[labels < 0] = groups
        groups += 1
    return groups


@njit(cache=True, nogil=True)
def variable(matrix: Array, k: int, gamma: float, labels: Array) -> int:
    """Label the records by V-MDAV but for the last few; the number of groups is returned."""
    size = matrix.shape[0]
    tree = build(matrix)
    centre = _sums(matrix) / size
    away_from_centre = np.empty(size)
    for row in range(size):
        away_from_centre[row] = -apart(matrix[row], centre)
    members = np.empty(2 * k - 1, dtype=np.int64)
    rows = np.empty(max(k, 2), dtype=np.int64)
    away = np.empty(max(k, 2))
    left, groups = size, 0
    for first in np.argsort(away_from_centre, kind="mergesort"):  # stable: ties by row
        if left < k:
            break
        if labels[first] >= 0:
            continue
        _take(first, k, matrix, tree, rows, away)
        members[:k] = rows[:k]
        taken = k
        left -= k
        while taken < 2 * k - 1 and left > 0:
            near, guest = np.inf, size
            for place in range(taken):
                nearest(matrix[members[place]], 1, tree, rows, away)
                if away[0] < near or (away[0] == near and rows[0] < guest):
                    near, guest = away[0], rows[0]
            alone = nearest(matrix[guest], 2, tree, rows, away) < 2
            if not alone and np.sqrt(near) >= gamma * np.sqrt(away[1]):
                break
            remove(guest, tree)
            members[taken] = guest
            taken += 1
            left -= 1
        for place in range(taken):
            labels[members[place]] = groups
        groups += 1
    return groups


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
