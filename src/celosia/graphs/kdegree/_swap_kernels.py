"""Switches that bring back edges of a given graph, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit
from celosia.graphs._edge_set import contains, delete, insert
from celosia.graphs.kdegree._rotation_kernels import _key

Whole = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _replace(row: NDArray[np.int32], old: int | np.int64, new: int | np.int64) -> None:
    for place in range(len(row)):
        if row[place] == old:
            row[place] = new
            return


@njit(cache=True, nogil=True)
def _strangers(
    vertex: int, partner: int, row: NDArray[np.int32], given: Whole, order: int, look: int
) -> Whole:
    """The first `look` neighbours that the vertex does not have in the given graph."""
    found = np.empty(look, dtype=np.int64)
    count = 0
    for other in row:
        if count == look:
            break
        if other != partner and not contains(given, _key(vertex, other, order)):
            found[count] = other
            count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def bring_back(
    lost: Whole,
    order: int,
    given: Whole,
    made: Whole,
    starts: Whole,
    rows: NDArray[np.int32],
    look: int,
) -> int:
    """For each lost edge {i, j}, switch {i, p}, {j, q} to {i, j}, {p, q}; how many came back.

    Only edges that the given graph lacks are given up, so that each switch gains one or, where
    {p, q} was lost as well, two; such a pair is taken first.
    """
    back = 0
    for key in lost:
        i, j = key // order, key % order
        if contains(made, key):
            continue
        first = _strangers(i, j, rows[starts[i] : starts[i + 1]], given, order, look)
        second = _strangers(j, i, rows[starts[j] : starts[j + 1]], given, order, look)
        best, p, q = 0, np.int64(0), np.int64(0)
        for one in first:
            for other in second:
                joined = _key(one, other, order)
                if best == 2 or one == other or contains(made, joined):
                    continue
                gain = 2 if contains(given, joined) else 1
                if gain > best:
                    best, p, q = gain, one, other
        if best == 0:
            continue
        delete(made, _key(i, p, order))
        delete(made, _key(j, q, order))
        insert(made, key)
        insert(made, _key(p, q, order))
        _replace(rows[starts[i] : starts[i + 1]], p, j)
        _replace(rows[starts[j] : starts[j + 1]], q, i)
        _replace(rows[starts[p] : starts[p + 1]], i, q)
        _replace(rows[starts[q] : starts[q + 1]], j, p)
        back += best
    return back
