"""Hot loops of the lattice search: grouping packed keys and summing what suppression costs.

Every kernel takes arrays and scalars only; `tests/tables/recoding` holds a plain twin of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Array = NDArray[Any]


def slots_for(keys: int) -> int:
    """How many slots the kernels use for so many keys: a power of two, at least twice as many."""
    return 1 << max(4, (2 * keys - 1).bit_length())


@njit(cache=True, nogil=True)
def _mix(keys: Keys, row: int) -> np.uint64:
    """Spread a key over 64 bits (Fibonacci hashing of folded words) so that slots fill evenly."""
    state = np.uint64(0)
    for word in range(keys.shape[1]):
        state ^= keys[row, word]
        state = (state ^ (state >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return state


@njit(cache=True, nogil=True)
def _equal(keys: Keys, one: int, other: int) -> bool:
    for word in range(keys.shape[1]):  # noqa: SIM110 - a generator would be slow here
        if keys[one, word] != keys[other, word]:
            return False
    return True


@njit(cache=True, nogil=True)
def _slot_bits(keys: int) -> tuple[np.uint64, int]:
    """How to find a key's slot among at least twice as many slots as keys: shift and last slot."""
    bits = 4
    while 1 << bits < 2 * keys:
        bits += 1
    return np.uint64(64 - bits), (1 << bits) - 1


@njit(cache=True, nogil=True)
def group_rows(keys: Keys, slots: Array) -> tuple[Array, Array, int]:
    """For each row the number of its group, in order of first appearance; first rows; group count.

    `slots` are `slots_for` the number of rows, all -1.
    """
    shift, last = _slot_bits(keys.shape[0])
    group_of = np.empty(keys.shape[0], dtype=np.int64)
    first = np.empty(keys.shape[0], dtype=np.int64)
    groups = 0
    for row in range(keys.shape[0]):
        slot = np.int64(_mix(keys, row) >> shift)
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                first[groups] = row
                group_of[row] = groups
                groups += 1
                break
            if _equal(keys, first[group], row):
                group_of[row] = group
                break
            slot = (slot + 1) & last
    return group_of, first, groups


@njit(cache=True, nogil=True)
def roll_up(
    keys: Keys,
    counts: Array,
    word: int,
    bit: int,
    mask: int,
    table: Array,
    slots: Array,
    stamp: int,
    out_keys: Keys,
    out_counts: Array,
) -> int:
    """Merge classes after taking one column to a higher level; returns the number of classes.

    The column lies at `word`, `bit` and `mask` of a key; `table` has its new codes, already shifted
    into place. A slot holds a stamp in its upper half and a class in its lower one, and is empty
    unless the stamp is this call's: so the slots need no clearing between calls.
    """
    shift, last = _slot_bits(keys.shape[0])
    low, ones = np.uint64(bit), np.uint64(mask)
    keep = ~(ones << low)
    words = keys.shape[1]
    classes = 0
    for row in range(keys.shape[0]):
        # The new key is written where it belongs if its class is new; else it is written over.
        for place in range(words):
            out_keys[classes, place] = keys[row, place]
        old = keys[row, word]
        out_keys[classes, word] = (old & keep) | table[(old >> low) & ones]
        slot = np.int64(_mix(out_keys, classes) >> shift)
        while True:
            held = slots[slot]
            if held >> 32 != stamp:
                slots[slot] = stamp << 32 | classes
                out_counts[classes] = counts[row]
                classes += 1
                break
            found = held & 0xFFFFFFFF
            if _equal(out_keys, found, classes):
                out_counts[found] += counts[row]
                break
            slot = (slot + 1) & last
    return classes


@njit(cache=True, nogil=True)
def suppressed_leaves(
    keys: Keys, counts: Array, kept: Array, places: Array, leaves: Array, out: Array
) -> int:
    """Number of suppressed records; `out[column]` is the sum of their `leaves` before suppression.

    Each row of `places` is (word, bit, mask, start): the column's place in the key, and where the
    leaf counts of its codes at the node's level begin in `leaves`.
    """
    out[:] = 0
    suppressed = 0
    for row in range(keys.shape[0]):
        if kept[row]:
            continue
        suppressed += counts[row]
        for column in range(places.shape[0]):
            code = (keys[row, np.int64(places[column, 0])] >> places[column, 1]) & places[column, 2]
            out[column] += counts[row] * leaves[places[column, 3] + code]
    return suppressed
