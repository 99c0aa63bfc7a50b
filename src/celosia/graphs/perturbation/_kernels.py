"""Switches and moves of edges, compiled.

Both change `keys` (one key an edge, in any order) and `table` (an edge set of the same keys), eat
random words, and count in `tally` what they did: changes made, and tries. A place below `bound` is
the low bits of a word, and words beyond are skipped: exactly uniform. With two `vectors` they are
steered: see `_drifts`. Numbers stay below n * n < 2**62.
"""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, edge_key, insert
from celosia.graphs.arrays import Floats, Whole, Words

Number = int | np.int64


@njit(cache=True, nogil=True)
def _low_bits(bound: int) -> int:
    mask = 1
    while mask < bound:
        mask *= 2
    return mask - 1


@njit(cache=True, nogil=True)
def _drifts(first: float, second: float, drift: Floats, last: bool) -> bool:
    """Whether an exchange with these predicted changes is taken; if so, they join the drift.

    It is taken if it brings both eigenvalues together nearer to where they were: both at once,
    because pulling back the one that drifted the most may push the other. A start without drift
    takes any exchange, and so does the `last` one that patience allows.
    """
    before = drift[0] ** 2 + drift[1] ** 2
    after = (drift[0] + first) ** 2 + (drift[1] + second) ** 2
    if not last and after >= before and before != 0:
        return False
    drift[0] += first
    drift[1] += second
    return True


@njit(cache=True, nogil=True)
def switches(
    keys: Whole,
    table: Whole,
    order: int,
    words: Words,
    goal: int,
    most: int,
    tally: Whole,
    patience: int,
    vectors: Floats,
    drift: Floats,
) -> None:
    """Replace random edges {i, j}, {k, p} by {i, p}, {k, j} where that keeps the graph simple."""
    mask = np.uint64(_low_bits(len(keys)))
    held: Number = -1
    looked = 0
    for word in words:
        if tally[0] == goal or tally[1] == most:
            break
        place = np.int64(word & mask)
        if place >= len(keys):
            continue
        if held < 0:
            held = place
            continue
        first = held
        held = -1
        tally[1] += 1
        one, other = keys[first], keys[place]
        i, j = one // order, one % order
        k, p = other // order, other % order
        if word >> np.uint64(63):  # far above the mask: independent of the place
            k, p = p, k
        if i in (k, p) or j in (k, p):
            continue
        new, also = edge_key(i, p, order), edge_key(k, j, order)
        if contains(table, new) or contains(table, also):
            continue
        if len(vectors):
            # To first order an eigenvalue moves by v' D v, D being the change of the matrix: here
            # 2 (x_i x_p + x_k x_j - x_i x_j - x_k x_p) of the adjacency, and of the Laplacian the
            # same with squares of differences. Both are products.
            x, y = vectors[0], vectors[1]
            up = 2 * (x[i] - x[k]) * (x[p] - x[j])
            across = 2 * (y[i] - y[k]) * (y[j] - y[p])
            looked += 1
            if not _drifts(up, across, drift, looked >= patience):
                continue
            looked = 0
        delete(table, one)
        delete(table, other)
        insert(table, new)
        insert(table, also)
        keys[first], keys[place] = new, also
        tally[0] += 1


@njit(cache=True, nogil=True)
def moves(
    keys: Whole,
    free: Whole,
    table: Whole,
    order: int,
    words: Words,
    goal: int,
    most: int,
    tally: Whole,
    patience: int,
    vectors: Floats,
    drift: Floats,
) -> None:
    """Replace a random edge by a random pair that is none, again and again.

    `free` lists all pairs that are none where the graph is dense; where it is empty, random pairs
    are drawn until one of them is none.
    """
    listed = len(free) > 0
    bound = len(free) if listed else order * (order - 1)
    edges, pairs = np.uint64(_low_bits(len(keys))), np.uint64(_low_bits(bound))
    held: Number = -1
    looked = 0
    for word in words:
        if tally[0] == goal or tally[1] == most:
            break
        if held < 0:
            place = np.int64(word & edges)
            held = place if place < len(keys) else -1
            continue
        place = np.int64(word & pairs)
        if place >= bound:
            continue
        if listed:
            new = free[place]
        else:
            # Ordered pairs of different vertices: the diagonal is stepped over, and each pair is
            # there twice, so all pairs are equally likely.
            one, other = place // (order - 1), place % (order - 1)
            new = edge_key(one, other + 1 if other >= one else other, order)
            if contains(table, new):
                continue
        tally[1] += 1
        old, first = keys[held], held
        held = -1
        if len(vectors):
            i, j, k, p = old // order, old % order, new // order, new % order
            x, y = vectors[0], vectors[1]
            up = 2 * (x[k] * x[p] - x[i] * x[j])
            across = (y[k] - y[p]) ** 2 - (y[i] - y[j]) ** 2
            looked += 1
            if not _drifts(up, across, drift, looked >= patience):
                continue
            looked = 0
        keys[first] = new
        if listed:
            free[place] = old
        else:
            delete(table, old)
            insert(table, new)
        tally[0] += 1
