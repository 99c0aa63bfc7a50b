"""Rotations of edge ends, and switches that bring edges back: the loops, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, edge_key, insert
from celosia.graphs._kernels import common_neighbours
from celosia.graphs.arrays import Flags, Vertices, Whole, Words


@njit(cache=True, nogil=True)
def _least_central(
    loser: int, winner: int, pivots: Whole, starts: Whole, neighbours: Vertices
) -> int:
    """Which pivot touches edges of the least neighbourhood centrality, summed over both edges.

    NC(u, v) is |union| - |intersection| of the neighbours, over a constant; the degrees of the
    loser and the winner are the same for all pivots.
    """
    pairs = np.empty((2 * len(pivots), 2), dtype=np.int64)
    for place in range(len(pivots)):
        pairs[2 * place, 0], pairs[2 * place, 1] = loser, pivots[place]
        pairs[2 * place + 1, 0], pairs[2 * place + 1, 1] = pivots[place], winner
    shared = common_neighbours(starts, neighbours, pairs)
    best, least = 0, np.int64(2**62)
    for place in range(len(pivots)):
        pivot = pivots[place]
        degree = starts[pivot + 1] - starts[pivot]
        score = 2 * (degree - shared[2 * place] - shared[2 * place + 1])
        if score < least:
            best, least = place, score
    return best


@njit(cache=True, nogil=True)
def rotate(
    losers: Whole,
    winners: Whole,
    words: Words,
    order: int,
    table: Whole,
    starts: Whole,
    ends: Whole,
    rows: Vertices,
    neighbours: Vertices,
    look: int,
) -> Flags:
    """Move an edge end from each loser to its winner, in `table`; which were possible.

    {loser, pivot} becomes {pivot, winner}. Pivots are the loser's neighbours from a random place
    on: the first possible one or, of the first `look`, the one of least centrality in the graph
    as given. `rows` are the neighbours at the start, of which each loser's used ones are taken out
    (`ends`); edges that came or went otherwise are seen in `table`.
    """
    done = np.zeros(len(losers), dtype=np.bool_)
    pivots = np.empty(look, dtype=np.int64)
    places = np.empty(look, dtype=np.int64)
    for each in range(len(losers)):
        loser, winner = losers[each], winners[each]
        if loser == winner:
            done[each] = True
            continue
        start, size = starts[loser], ends[loser] - starts[loser]
        if size == 0:
            continue
        offset = np.int64(words[each] % np.uint64(size))  # a row is far below 2**64: no bias seen
        found = 0
        for step in range(size):
            place = start + (offset + step) % size
            pivot = np.int64(rows[place])
            if (
                pivot != winner
                and contains(table, edge_key(loser, pivot, order))
                and not contains(table, edge_key(pivot, winner, order))
            ):
                pivots[found], places[found] = pivot, place
                found += 1
                if found == look:
                    break
        if found == 0:
            continue
        best = 0
        if look > 1:
            best = _least_central(loser, winner, pivots[:found], starts, neighbours)
        # The pivot loses one edge and gains one: only the two degrees change that should.
        delete(table, edge_key(loser, pivots[best], order))
        insert(table, edge_key(pivots[best], winner, order))
        ends[loser] -= 1  # the last one takes its place: the order of a row means nothing
        rows[places[best]] = rows[ends[loser]]
        done[each] = True
    return done


@njit(cache=True, nogil=True)
def delete_between(edges: Vertices, places: Whole, left: Whole) -> Flags:
    """Which edges go, in the order of `places`: those whose ends both have some `left` to lose."""
    gone = np.zeros(len(edges), dtype=np.bool_)
    for place in places:
        one, other = edges[place, 0], edges[place, 1]
        if left[one] > 0 and left[other] > 0:
            left[one] -= 1
            left[other] -= 1
            gone[place] = True
    return gone


@njit(cache=True, nogil=True)
def _replace(row: Vertices, old: int | np.int64, new: int | np.int64) -> None:
    for place in range(len(row)):
        if row[place] == old:
            row[place] = new
            return


@njit(cache=True, nogil=True)
def _strangers(
    vertex: int, partner: int, row: Vertices, given: Whole, order: int, look: int
) -> Whole:
    """The first `look` neighbours that the vertex does not have in the given graph."""
    found = np.empty(look, dtype=np.int64)
    count = 0
    for other in row:
        if count == look:
            break
        if other != partner and not contains(given, edge_key(vertex, other, order)):
            found[count] = other
            count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def bring_back(
    lost: Whole, order: int, given: Whole, made: Whole, starts: Whole, rows: Vertices, look: int
) -> int:
    """For each lost edge {i, j}, switch {i, p}, {j, q} to {i, j}, {p, q}; how many came back.

    Only edges that the given graph lacks are given up, so that each switch gains one or, where
    {p, q} was lost as well, two; such a pair is taken first.
    """
    # All four degrees stay as they are, and with them the degree anonymity that was reached.
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
                joined = edge_key(one, other, order)
                if best == 2 or one == other or contains(made, joined):
                    continue
                gain = 2 if contains(given, joined) else 1
                if gain > best:
                    best, p, q = gain, one, other
        if best == 0:
            continue
        delete(made, edge_key(i, p, order))
        delete(made, edge_key(j, q, order))
        insert(made, key)
        insert(made, edge_key(p, q, order))
        _replace(rows[starts[i] : starts[i + 1]], p, j)
        _replace(rows[starts[j] : starts[j + 1]], q, i)
        _replace(rows[starts[p] : starts[p + 1]], i, q)
        _replace(rows[starts[q] : starts[q + 1]], j, p)
        back += best
    return back
