"""Kernels of local hashing and of subset selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Words = NDArray[np.uint64]
Places = NDArray[np.int64]
Bytes = NDArray[np.uint8]

BLOCK = 512
"""Values that stay in the nearest cache while all reports pass by them."""
SPARE = 8
"""Words beyond one for each draw. A word is refused with a chance below 2^-41."""


@njit(cache=True, nogil=True)
def hashed(first: Words, second: Words, third: Words, high: Words, low: Words) -> Words:
    """Pair-multiply-shift: 32 bits of each value under a function of its own."""
    found = np.empty(high.size, dtype=np.uint64)
    for place in range(high.size):
        product = (first[place] + high[place]) * (second[place] + low[place])
        found[place] = (product + third[place]) >> np.uint64(32)
    return found


@njit(cache=True, nogil=True)
def supported(
    first: Words, second: Words, shift: Words, reach: Words, high: Words, low: Words
) -> Places:
    """How many reports support each value: the hash lies in the bucket that was reported.

    `shift` moves the start of the bucket to 0 and `reach` is its length, both in units of 2^-64 of
    the circle, so one unsigned comparison tells whether a hash is inside.
    """
    found = np.zeros(high.size, dtype=np.int64)
    for start in range(0, high.size, BLOCK):
        upper, lower = high[start : start + BLOCK], low[start : start + BLOCK]
        here = found[start : start + BLOCK]
        for report in range(first.size):
            one, two, moved, length = first[report], second[report], shift[report], reach[report]
            for value in range(here.size):
                product = (one + upper[value]) * (two + lower[value])
                here[value] += np.int64(product + moved < length)
    return found


@njit(cache=True)
def subsets(
    words: Words, places: Places, kept: NDArray[np.bool_], values: int, size: int, made: Bytes
) -> bool:
    """Uniform subsets as bits, with the value at `places` where it is kept, else without it.

    Floyd's algorithm over the other values. False where a row of words was used up; that depends
    only on how many words were refused, so drawing all of them again leaves subsets uniform.
    """
    for row in range(places.size):
        own = places[row]
        drawn = size
        if kept[row]:
            made[row, own >> 3] |= np.uint8(1 << (own & 7))
            drawn -= 1
        at = 0
        for last in range(values - 1 - drawn, values - 1):
            bound = np.uint64(last + 1)
            # The number of words modulo the bound: those from the last whole multiple on.
            rest = (~bound + np.uint64(1)) % bound
            while True:
                if at == words.shape[1]:
                    return False
                word = words[row, at]
                at += 1
                if word >= rest:
                    break
            other = np.int64(word % bound)
            other += other >= own
            if made[row, other >> 3] >> (other & 7) & 1:
                other = last + (last >= own)
            made[row, other >> 3] |= np.uint8(1 << (other & 7))
    return True


@njit(cache=True)
def members(bits: Bytes, size: int) -> Places:
    """The places of the bits that are set, `size` in each row, in rising order."""
    found = np.empty((bits.shape[0], size), dtype=np.int64)
    for row in range(bits.shape[0]):
        at = 0
        for byte in range(bits.shape[1]):
            left = bits[row, byte]
            place = 8 * byte
            while left:
                if left & 1:
                    found[row, at] = place
                    at += 1
                left >>= 1
                place += 1
    return found
