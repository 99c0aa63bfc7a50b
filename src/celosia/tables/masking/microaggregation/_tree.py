"""Records in boxes that halve: the nearest and the farthest of a point without looking at all.

Node 1 holds all records, and node i is halved into 2i and 2i + 1 along its widest side; the last
level holds the records, a few each. Bounds are taken with the same operations, in the same order,
as distances; rounding is monotone, so a bound is never on the wrong side of a computed distance,
and what is found, ties included, is what a look at every record would find.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]

ROOM = 32
"""Records in a box of the last level; measured best among 16, 32, 64."""


class Tree(NamedTuple):
    """The boxes and what is left in them."""

    cells: Array
    """Of each leaf, its records as columns."""
    names: Array
    """Of each leaf, the rows of its records."""
    counts: Array
    """How many records each node has left."""
    low: Array
    """The least value of each node in each column."""
    high: Array
    """The greatest."""
    first: Array
    """The lowest row of each node, to settle ties without opening it."""
    places: Array
    """The leaf of each row, and its slot there."""


@njit(cache=True, nogil=True)
def _halve(keys: Array, rows: Array, first: int, middle: int, last: int) -> None:
    """Order `rows[first:last]` so that those before `middle` have the smaller keys."""
    last -= 1
    while first < last:
        pivot = keys[rows[(first + last) // 2]]
        left, right = first, last
        while left <= right:
            while keys[rows[left]] < pivot:
                left += 1
            while keys[rows[right]] > pivot:
                right -= 1
            if left <= right:
                rows[left], rows[right] = rows[right], rows[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            return


@njit(cache=True, nogil=True)
def build(matrix: Array) -> Tree:
    """Boxes over the rows of a matrix."""
    size, width = matrix.shape
    leaves = 1
    while leaves * ROOM < size:
        leaves *= 2
    start = np.zeros(2 * leaves, dtype=np.int64)
    stop = np.zeros(2 * leaves, dtype=np.int64)
    low = np.full((2 * leaves, width), np.inf)
    high = np.full((2 * leaves, width), -np.inf)
    columns = np.ascontiguousarray(matrix.T)
    first = np.full(2 * leaves, size, dtype=np.int64)
    rows = np.arange(size)
    stop[1] = size
    for node in range(1, 2 * leaves):
        for place in range(start[node], stop[node]):
            first[node] = min(first[node], rows[place])
            for column in range(width):
                value = columns[column, rows[place]]
                low[node, column] = min(low[node, column], value)
                high[node, column] = max(high[node, column], value)
        if node < leaves:
            widest = np.argmax(high[node] - low[node])
            middle = (start[node] + stop[node]) // 2
            _halve(columns[widest], rows, start[node], middle, stop[node])
            start[2 * node], stop[2 * node] = start[node], middle
            start[2 * node + 1], stop[2 * node + 1] = middle, stop[node]
    cells = np.zeros((leaves, width, ROOM))
    names = np.zeros((leaves, ROOM), dtype=np.int64)
    places = np.zeros((size, 2), dtype=np.int64)
    for leaf in range(leaves):
        node = leaves + leaf
        for slot in range(stop[node] - start[node]):
            row = rows[start[node] + slot]
            names[leaf, slot] = row
            places[row, 0], places[row, 1] = leaf, slot
            for column in range(width):
                cells[leaf, column, slot] = columns[column, row]
    return Tree(cells, names, stop - start, low, high, first, places)


@njit(cache=True, nogil=True)
def remove(row: int, tree: Tree) -> None:
    """Take a record out; boxes shrink to what they still hold."""
    cells, names, counts, low, high, first, places = tree
    leaf, slot = places[row]
    width = cells.shape[1]
    node = cells.shape[0] + leaf
    last = counts[node] - 1
    other = names[leaf, last]
    names[leaf, slot] = other
    places[other, 0], places[other, 1] = leaf, slot
    changed = first[node] == row
    for column in range(width):
        value = cells[leaf, column, slot]
        changed |= value == low[node, column] or value == high[node, column]
        cells[leaf, column, slot] = cells[leaf, column, last]
    counts[node] = last
    if changed:
        first[node] = places.shape[0]
        for place in range(last):
            first[node] = min(first[node], names[leaf, place])
        for column in range(width):
            low[node, column], high[node, column] = np.inf, -np.inf
            for place in range(last):
                value = cells[leaf, column, place]
                low[node, column] = min(low[node, column], value)
                high[node, column] = max(high[node, column], value)
    while node > 1:
        node //= 2
        counts[node] -= 1
        if not changed:
            continue
        lowest = min(first[2 * node], first[2 * node + 1])
        changed = lowest != first[node]
        first[node] = lowest
        for column in range(width):
            least = min(low[2 * node, column], low[2 * node + 1, column])
            most = max(high[2 * node, column], high[2 * node + 1, column])
            changed |= least != low[node, column] or most != high[node, column]
            low[node, column], high[node, column] = least, most


@njit(cache=True, nogil=True)
def _beyond(point: Array, low: Array, high: Array, node: int) -> float:
    """The squared distance to the far corner of a box: none of its records is farther."""
    total = 0.0
    for column in range(point.size):
        apart = max(point[column] - low[node, column], high[node, column] - point[column])
        total += apart * apart
    return total


@njit(cache=True, nogil=True)
def _before(point: Array, low: Array, high: Array, node: int) -> float:
    """The squared distance to a box: none of its records is nearer."""
    total = 0.0
    for column in range(point.size):
        apart = max(low[node, column] - point[column], point[column] - high[node, column])
        if apart > 0.0:
            total += apart * apart
        else:
            total += 0.0
    return total


@njit(cache=True, nogil=True)
def _distances(point: Array, cells: Array, leaf: int, count: int, out: Array) -> None:
    """Squared distances to the records of a leaf, columns added from left to right."""
    for slot in range(count):
        apart = cells[leaf, 0, slot] - point[0]
        out[slot] = apart * apart
    for column in range(1, point.size):
        for slot in range(count):
            apart = cells[leaf, column, slot] - point[column]
            out[slot] += apart * apart


@njit(cache=True, nogil=True)
def farthest(point: Array, tree: Tree) -> int:
    """The record farthest from a point; the lowest row of those equally far."""
    cells, names, counts, low, high, first, _places = tree
    leaves = cells.shape[0]
    nodes = np.empty(64, dtype=np.int64)
    bounds = np.empty(64)
    apart = np.empty(ROOM)
    nodes[0], bounds[0] = 1, np.inf
    waiting = 1
    best, found = -1.0, first.size
    while waiting:
        waiting -= 1
        node, bound = nodes[waiting], bounds[waiting]
        if bound < best or (bound == best and first[node] > found):
            continue
        if node >= leaves:
            _distances(point, cells, node - leaves, counts[node], apart)
            for slot in range(counts[node]):
                name = names[node - leaves, slot]
                if apart[slot] > best or (apart[slot] == best and name < found):
                    best, found = apart[slot], name
            continue
        left, right = 2 * node, 2 * node + 1
        to_left = _beyond(point, low, high, left) if counts[left] else -2.0
        to_right = _beyond(point, low, high, right) if counts[right] else -2.0
        if to_left > to_right or (to_left == to_right and first[left] < first[right]):
            left, right, to_left, to_right = right, left, to_right, to_left
        if to_left >= best and to_left >= 0.0:
            nodes[waiting], bounds[waiting] = left, to_left
            waiting += 1
        if to_right >= best and to_right >= 0.0:
            nodes[waiting], bounds[waiting] = right, to_right
            waiting += 1
    return found


@njit(cache=True, nogil=True)
def nearest(point: Array, wanted: int, tree: Tree, rows: Array, away: Array) -> int:
    """Fill `rows` and `away` with the records nearest to a point, nearest and lowest row first.

    Returns how many were found, which is `wanted` unless fewer are left.
    """
    cells, names, counts, low, high, first, _places = tree
    leaves = cells.shape[0]
    nodes = np.empty(64, dtype=np.int64)
    bounds = np.empty(64)
    apart = np.empty(ROOM)
    nodes[0], bounds[0] = 1, 0.0
    waiting = 1
    found = 0
    worst, last = np.inf, first.size
    while waiting:
        waiting -= 1
        node, bound = nodes[waiting], bounds[waiting]
        if bound > worst or (bound == worst and first[node] > last):
            continue
        if node < leaves:
            left, right = 2 * node, 2 * node + 1
            to_left = _before(point, low, high, left) if counts[left] else np.inf
            to_right = _before(point, low, high, right) if counts[right] else np.inf
            if to_left < to_right or (to_left == to_right and first[left] < first[right]):
                left, right, to_left, to_right = right, left, to_right, to_left
            if to_left <= worst and to_left < np.inf:
                nodes[waiting], bounds[waiting] = left, to_left
                waiting += 1
            if to_right <= worst and to_right < np.inf:
                nodes[waiting], bounds[waiting] = right, to_right
                waiting += 1
            continue
        _distances(point, cells, node - leaves, counts[node], apart)
        for slot in range(counts[node]):
            name, far = names[node - leaves, slot], apart[slot]
            if far > worst or (far == worst and name > last):
                continue
            found = min(found + 1, wanted)
            place = found - 1
            while place > 0 and (
                far < away[place - 1] or (far == away[place - 1] and name < rows[place - 1])
            ):
                rows[place], away[place] = rows[place - 1], away[place - 1]
                place -= 1
            rows[place], away[place] = name, far
            if found == wanted:
                worst, last = away[wanted - 1], rows[wanted - 1]
    return found
