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


@njit(cache=True, nogil=True)
def _mix(words: Array) -> np.uint64:
    """Spread a key over 64 bits (multiply and fold, as in splitmix64) so that slots fill evenly."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for word in words:
        state = (state ^ word) * np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    return state * np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def group_rows(keys: Keys, slots: Array) -> tuple[Array, Array, int]:
    """For each row the number of its group, in order of first appearance; first rows; group count.

    `slots` has a power-of-two length of more than the number of rows, filled with -1.
    """
    shift = np.uint64(64 - int(np.log2(slots.size) + 0.5))
    last = slots.size - 1
    group_of = np.empty(keys.shape[0], dtype=np.int64)
    first = np.empty(keys.shape[0], dtype=np.int64)
    groups = 0
    for row in range(keys.shape[0]):
        slot = np.int64(_mix(keys[row]) >> shift)
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                first[groups] = row
                group_of[row] = groups
                groups += 1
                break
            same = True
            for word in range(keys.shape[1]):
                if keys[first[group], word] != keys[row, word]:
                    same = False
                    break
            if same:
                group_of[row] = group
                break
            slot = (slot + 1) & last
    return group_of, first, groups


@njit(cache=True, nogil=True)
def roll_up(
    keys: Keys,
    counts: Array,
    raised: Array,
    tables: Array,
    slots: Array,
    stamps: Array,
    stamp: int,
    out_keys: Keys,
    out_counts: Array,
) -> int:
    """Merge classes after taking some columns to higher levels; returns the number of classes.

    Each row of `raised` is (word, bit, mask, start): the column's place in the key and where its
    table of new codes, already shifted into place, begins in `tables`. A slot counts as empty
    unless its stamp is this call's, so the slots need no clearing between calls.
    """
    shift = np.uint64(64 - int(np.log2(slots.size) + 0.5))
    last = slots.size - 1
    words = keys.shape[1]
    key = np.empty(words, dtype=np.uint64)
    classes = 0
    for row in range(keys.shape[0]):
        for word in range(words):
            key[word] = keys[row, word]
        for column in range(raised.shape[0]):
            place = np.int64(raised[column, 0])
            bit = raised[column, 1]
            mask = raised[column, 2]
            code = (key[place] >> bit) & mask
            key[place] = (key[place] & ~(mask << bit)) | tables[raised[column, 3] + code]
        slot = np.int64(_mix(key) >> shift)
        while stamps[slot] == stamp:
            found = slots[slot]
            same = True
            for word in range(words):
                if out_keys[found, word] != key[word]:
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & last
        if stamps[slot] != stamp:
            stamps[slot] = stamp
            slots[slot] = classes
            for word in range(words):
                out_keys[classes, word] = key[word]
            out_counts[classes] = counts[row]
            classes += 1
        else:
            out_counts[slots[slot]] += counts[row]
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
