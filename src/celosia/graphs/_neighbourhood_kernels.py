"""Switches that steer the triangles of a vertex and keep every degree, compiled.

`rows` has the neighbours of each vertex, in any order, from `starts` on; `table` is an edge set of
the same edges. Both are changed together, and `corners`, the triangles of each vertex, with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, edge_key, insert
from celosia.graphs.arrays import Vertices, Whole, Words

Number = Any
"""A whole number, of Python or of an array."""

SAMPLED = 4
"""Switches that are looked at before the best of them is made: fewer edges change."""


@njit(cache=True, nogil=True)
def common_neighbours(
    starts: Whole,
    rows: Vertices,
    table: Whole,
    one: Number,
    other: Number,
    corners: Whole,
    step: int,
) -> int:
    """How many neighbours two vertices share; `step` is added to the triangles of each of them.

    The shorter row is walked. What it holds counts only if the set has it: rows change first.
    """
    order = len(starts) - 1
    if starts[one + 1] - starts[one] > starts[other + 1] - starts[other]:
        one, other = other, one
    found = 0
    for place in range(starts[one], starts[one + 1]):
        near = rows[place]
        if (
            near != other
            and contains(table, edge_key(near, other, order))
            and contains(table, edge_key(near, one, order))
        ):
            found += 1
            if step != 0:
                corners[near] += step
    return found


@njit(cache=True, nogil=True)
def _count_edge(
    starts: Whole,
    rows: Vertices,
    table: Whole,
    one: Number,
    other: Number,
    corners: Whole,
    step: int,
) -> None:
    """Add `step` for each triangle on an edge to the triangles of its three corners."""
    found = step * common_neighbours(starts, rows, table, one, other, corners, step)
    corners[one] += found
    corners[other] += found


@njit(cache=True, nogil=True)
def _replace(starts: Whole, rows: Vertices, vertex: Number, old: Number, new: Number) -> None:
    place = starts[vertex]
    while rows[place] != old:
        place += 1
    rows[place] = new


@njit(cache=True, nogil=True)
def switch(
    starts: Whole,
    rows: Vertices,
    table: Whole,
    corners: Whole,
    u: Number,
    x: Number,
    p: Number,
    q: Number,
) -> None:
    """Replace the edges {u, x}, {p, q} by {u, p}, {x, q}, which must be free."""
    # An edge is counted while it is out of the set, and each edge by itself: a triangle is counted
    # once when its last edge comes, and once when its first edge goes.
    order = len(starts) - 1
    delete(table, edge_key(u, x, order))
    _count_edge(starts, rows, table, u, x, corners, -1)
    delete(table, edge_key(p, q, order))
    _count_edge(starts, rows, table, p, q, corners, -1)
    _replace(starts, rows, u, x, p)
    _replace(starts, rows, x, u, q)
    _replace(starts, rows, p, q, u)
    _replace(starts, rows, q, p, x)
    _count_edge(starts, rows, table, u, p, corners, 1)
    insert(table, edge_key(u, p, order))
    _count_edge(starts, rows, table, x, q, corners, 1)
    insert(table, edge_key(x, q, order))


@njit(cache=True, nogil=True)
def _gap(value: Number, low: Number, high: Number) -> int:
    return int(max(low - value, value - high, 0))


@njit(cache=True, nogil=True)
def _best_switch(
    starts: Whole,
    rows: Vertices,
    table: Whole,
    corners: Whole,
    u: Number,
    low: Number,
    high: Number,
    words: Words,
    chosen: Whole,
) -> bool:
    """Of some random switches that give u another neighbour, the one that seems best, if any.

    Contacts of contacts close triangles; vertices from anywhere open them.
    """
    order, now = len(starts) - 1, corners[u]
    degree = np.uint64(starts[u + 1] - starts[u])
    least = -1
    for turn in range(SAMPLED):
        first, second = words[4 * turn], words[4 * turn + 1]
        third, fourth = words[4 * turn + 2], words[4 * turn + 3]
        x = rows[starts[u] + np.int64(first % degree)]
        if now < low:
            middle = rows[starts[u] + np.int64(second % degree)]
            reach = np.uint64(starts[middle + 1] - starts[middle])
            p = rows[starts[middle] + np.int64(third % reach)]
        else:
            p = rows[np.int64(second % np.uint64(len(rows)))]
        if u == p or contains(table, edge_key(u, p, order)):  # p is not x, a neighbour of u
            continue
        q = rows[starts[p] + np.int64(fourth % np.uint64(starts[p + 1] - starts[p]))]
        if x == q or contains(table, edge_key(x, q, order)):  # q is not u: p is not beside u
            continue
        gained = common_neighbours(starts, rows, table, u, p, corners, 0)
        lost = common_neighbours(starts, rows, table, u, x, corners, 0)
        gap = _gap(now + gained - lost, low, high)
        if least < 0 or gap < least:
            least = gap
            chosen[0], chosen[1], chosen[2] = x, p, q
    return least >= 0


@njit(cache=True, nogil=True)
def steer(
    starts: Whole,
    rows: Vertices,
    table: Whole,
    corners: Whole,
    vertex: Number,
    low: Number,
    high: Number,
    words: Words,
) -> int:
    """Switch until the triangles of a vertex are from `low` to `high`; how many switches it took.

    It ends where the words do. A switch that brings the vertex no nearer is taken back.
    """
    chosen = np.zeros(3, dtype=np.int64)
    done, width = 0, 4 * SAMPLED
    for first in range(0, len(words) - width + 1, width):
        before = _gap(corners[vertex], low, high)
        if before == 0:
            break
        draw = words[first : first + width]
        if not _best_switch(starts, rows, table, corners, vertex, low, high, draw, chosen):
            continue
        x, p, q = chosen
        switch(starts, rows, table, corners, vertex, x, p, q)
        if _gap(corners[vertex], low, high) < before:
            done += 1
        else:
            switch(starts, rows, table, corners, vertex, p, x, q)
    return done


@njit(cache=True, nogil=True)
def nearest_range(
    others: Whole, own: Number, k: int, tolerance: int, whole: int, found: Whole
) -> None:
    """The nearest numbers of triangles that k - 1 of the others, sorted, are near enough to.

    Two numbers are near if they differ by at most `tolerance` / `whole` of the greater. Where no
    k - 1 of the others can be near one number, a range about the middle of those k - 1 that are
    the closest together: they will come there, too.
    """
    # The others are sorted: k - 1 of them that fit one number may as well be neighbours in order,
    # so only windows are tried. A number fits a window if it is near its least and its greatest.
    least, closest = -1, np.inf
    kept = whole - tolerance
    for first in range(len(others) - k + 2):
        small, great = others[first], others[first + k - 2]
        low, high = -(-great * kept // whole), small * whole // kept
        if low <= high:
            gap = _gap(own, low, high)
            if least < 0 or gap < least:
                least = gap
                found[0], found[1] = low, high
        elif least < 0:
            spread = np.log((great + 1) / (small + 1)) + abs(np.log((own + 1) / (small + 1))) / 8
            if spread < closest:
                closest = spread
                middle = np.sqrt((small + 1.0) * (great + 1.0)) - 1
                found[0] = np.int64(np.ceil(middle * (1 - tolerance / whole / 2)))
                found[1] = max(found[0], found[0] * whole // kept)
