"""The loops behind private graphs with communities, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, edge_key, insert
from celosia.graphs.arrays import Floats, Vertices, Whole, Words


@njit(cache=True, nogil=True)
def improve_vectors(starts: Whole, neighbours: Vertices, vectors: Floats, balance: Floats) -> None:
    """Put the vector of each vertex where it is best, given those of all others.

    `balance` is the sum of all vectors times their degrees. The best place of vertex i is along
    the sum over its neighbours, less d_i / (2 m) times the balance of the others.
    """
    # Coordinate ascent on the relaxed modularity, the sum of (A_ij - d_i d_j / 2m) v_i . v_j over
    # unit vectors: all else fixed it is linear in v_i, so its best place is along the pull.
    ends, columns = len(neighbours), vectors.shape[1]
    pull = np.empty(columns)
    for vertex in range(len(starts) - 1):
        degree = starts[vertex + 1] - starts[vertex]
        for column in range(columns):
            others = balance[column] - degree * vectors[vertex, column]
            pull[column] = -degree * others / ends
        for place in range(starts[vertex], starts[vertex + 1]):
            for column in range(columns):
                pull[column] += vectors[neighbours[place], column]
        length = np.sqrt(np.sum(pull * pull))
        if degree == 0 or length == 0.0:
            continue
        for column in range(columns):
            new = pull[column] / length
            balance[column] += degree * (new - vectors[vertex, column])
            vectors[vertex, column] = new


@njit(cache=True, nogil=True)
def join_ends(
    ends: Whole, blocks: Whole, order: int, table: Whole, keys: Whole, count: int
) -> tuple[int, int]:
    """Join each two ends that follow each other in one block, unless that is a loop or an edge.

    The new edges go to `table` and `keys`, which holds `count`; ends that stay are moved to the
    front. How many edges there are, and how many ends are left.
    """
    left = place = 0
    while place < len(ends):
        if place + 1 < len(ends) and blocks[place] == blocks[place + 1]:
            one, other = ends[place], ends[place + 1]
            place += 2
            key = edge_key(one, other, order)
            if one != other and insert(table, key):
                keys[count] = key
                count += 1
            else:
                ends[left], ends[left + 1] = one, other
                left += 2
        else:
            ends[left] = ends[place]
            left += 1
            place += 1
    return count, left


@njit(cache=True, nogil=True)
def _draw(state: Words, bound: int) -> int:
    """A number below `bound` by xorshift: for a search that looks at released numbers only."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return int((word >> np.uint64(20)) % np.uint64(bound))


@njit(cache=True, nogil=True)
def _apart(one: int, other: int) -> int:
    """How many halvings up two blocks are one."""
    steps = 0
    while one != other:
        one >>= 1
        other >>= 1
        steps += 1
    return steps


@njit(cache=True, nogil=True)
def _shared(starts: Whole, rows: Whole, table: Whole, order: int, one: int, other: int) -> int:
    """How many neighbours two vertices share by the edges in `table`."""
    if starts[one + 1] - starts[one] > starts[other + 1] - starts[other]:
        one, other = other, one
    found = 0
    for place in range(starts[one], starts[one + 1]):
        middle = rows[place]
        if middle == other or not contains(table, edge_key(one, middle, order)):
            continue
        if contains(table, edge_key(middle, other, order)):
            found += 1
    return found


@njit(cache=True, nogil=True)
def _replace(starts: Whole, rows: Whole, vertex: int, old: int, new: int) -> None:
    for place in range(starts[vertex], starts[vertex + 1]):
        if rows[place] == old:
            rows[place] = new
            break


@njit(cache=True, nogil=True)
def close_triangles(
    starts: Whole,
    rows: Whole,
    table: Whole,
    blocks: Whole,
    wanted: int,
    attempts: int,
    state: Words,
) -> int:
    """Switches {a, x}, {b, y} to {a, b}, {x, y} that bring `wanted` more triangles, or fewer.

    A switch is made if it brings triangles (if `wanted` is below 0: takes some away) and the new
    edges join no blocks that are farther from each other, in sum. All degrees stay. `rows` has the
    neighbours, in any order. By how much the number of triangles changed.
    """
    order, changed = len(starts) - 1, 0
    for _ in range(attempts):
        if changed == wanted or (changed > wanted) == (wanted > 0):
            break
        a = rows[_draw(state, len(rows))]
        x = rows[starts[a] + _draw(state, starts[a + 1] - starts[a])]
        if wanted > 0:  # b is a neighbour of a neighbour
            middle = rows[starts[a] + _draw(state, starts[a + 1] - starts[a])]
            b = rows[starts[middle] + _draw(state, starts[middle + 1] - starts[middle])]
        else:
            middle, b = -1, rows[_draw(state, len(rows))]
        y = rows[starts[b] + _draw(state, starts[b + 1] - starts[b])]
        if a in (b, y) or x in (b, y, middle) or y == middle:
            continue
        near = _apart(blocks[a], blocks[b]) + _apart(blocks[x], blocks[y])
        if near > _apart(blocks[a], blocks[x]) + _apart(blocks[b], blocks[y]):
            continue
        new, also = edge_key(a, b, order), edge_key(x, y, order)
        if contains(table, new) or contains(table, also):
            continue
        # Both are counted with all four edges out. No triangle holds both edges that go, nor both
        # that come, for they share no vertex: the difference is exact.
        delete(table, edge_key(a, x, order))
        delete(table, edge_key(b, y, order))
        lost = _shared(starts, rows, table, order, a, x) + _shared(starts, rows, table, order, b, y)
        gain = _shared(starts, rows, table, order, a, b) + _shared(starts, rows, table, order, x, y)
        if gain == lost or (gain > lost) != (wanted > 0):
            insert(table, edge_key(a, x, order))
            insert(table, edge_key(b, y, order))
            continue
        insert(table, new)
        insert(table, also)
        _replace(starts, rows, a, x, b)
        _replace(starts, rows, b, y, a)
        _replace(starts, rows, x, a, y)
        _replace(starts, rows, y, b, x)
        changed += gain - lost
    return changed
