"""A set of edges that kernels can search and change: open addressing in one array.

A set of Python or of Numba takes several times the memory and the time of this one. Keys are whole
numbers of at least 0, as `Graph.keys` has them.
"""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Whole

EMPTY = -1
"""A place without a key."""


def edge_set(keys: Whole, *, room: int = 0) -> Whole:
    """A set of these keys with space for `room` more; at most two thirds of it fills up.

    >>> held = edge_set(np.array([3, 8], dtype=np.int64), room=1)
    >>> insert(held, 5), insert(held, 5), delete(held, 3), contains(held, 3), contains(held, 5)
    (True, False, True, False, True)
    """
    places = 1 << (3 * (len(keys) + room) // 2 + 1).bit_length()
    table = np.full(places, EMPTY, dtype=np.int64)
    _fill(table, keys)
    return table


@njit(cache=True, nogil=True)
def edge_key(one: int | np.int64, other: int | np.int64, order: int) -> int:
    """The edge between two vertices as one number, the smaller vertex first; see `Graph.keys`."""
    return one * order + other if one < other else other * order + one  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def _home(key: int, mask: int) -> int:
    """Where a key belongs: a multiplication by 2**64 / phi between two shifts spreads the bits."""
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    place: int = np.int64(mixed >> np.uint64(29)) & mask  # type: ignore[assignment]  # 35 bits
    return place


@njit(cache=True, nogil=True)
def _find(table: Whole, key: int) -> int:
    """The place of a key, or the free place where it would go."""
    mask = len(table) - 1
    place = _home(key, mask)
    while table[place] != EMPTY and table[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def contains(table: Whole, key: int) -> bool:
    """Whether the key is in the set."""
    return bool(table[_find(table, key)] == key)


@njit(cache=True, nogil=True)
def insert(table: Whole, key: int) -> bool:
    """Put a key in; False if it was there. There must be room: see `edge_set`."""
    place = _find(table, key)
    if table[place] == key:
        return False
    table[place] = key
    return True


@njit(cache=True, nogil=True)
def delete(table: Whole, key: int) -> bool:
    """Take a key out; False if it was not there.

    Keys that were pushed past the gap move back into it, so no gravestones gather however many
    keys come and go (Knuth, The Art of Computer Programming 3, algorithm 6.4 R).
    """
    mask = len(table) - 1
    gap = _find(table, key)
    if table[gap] != key:
        return False
    place = gap
    while True:
        place = (place + 1) & mask
        if table[place] == EMPTY:
            break
        home = _home(table[place], mask)
        if ((place - home) & mask) >= ((place - gap) & mask):  # its home is not after the gap
            table[gap] = table[place]
            gap = place
    table[gap] = EMPTY
    return True


@njit(cache=True, nogil=True)
def _fill(table: Whole, keys: Whole) -> None:
    for key in keys:
        table[_find(table, key)] = key
