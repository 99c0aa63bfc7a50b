"""MurmurHash3 (x64, 128 bits) over many values at once, as DataSketches hashes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.sketches._kernels import Words

_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_M1, _M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_A1, _A2 = np.uint64(0x52DCE729), np.uint64(0x38495AB5)
_FIVE, _U8, _U27, _U31, _U33 = (np.uint64(each) for each in (5, 8, 27, 31, 33))
_U64 = np.uint64(64)


@njit(cache=True)
def _rotated(word: np.uint64, by: np.uint64) -> np.uint64:
    return (word << by) | (word >> (_U64 - by))


@njit(cache=True)
def _finished(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _U33)) * _M1
    word = (word ^ (word >> _U33)) * _M2
    return word ^ (word >> _U33)


@njit(cache=True)
def _word(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """Up to eight bytes as a number, the lowest first."""
    found = np.uint64(0)
    for place in range(end - 1, start - 1, -1):
        found = (found << _U8) | np.uint64(data[place])
    return found


@njit(cache=True)
def murmur(data: NDArray[np.uint8], ends: NDArray[np.int64], seed: np.uint64) -> Words:
    """Both words of the hash of each value; value i is `data[ends[i]:ends[i + 1]]`."""
    made = np.empty((ends.size - 1, 2), dtype=np.uint64)
    for value in range(ends.size - 1):
        at, end = ends[value], ends[value + 1]
        size = np.uint64(end - at)
        first, second = seed, seed
        while end - at >= 16:
            first ^= _rotated(_word(data, at, at + 8) * _C1, _U31) * _C2
            first = (_rotated(first, _U27) + second) * _FIVE + _A1
            second ^= _rotated(_word(data, at + 8, at + 16) * _C2, _U33) * _C1
            second = (_rotated(second, _U31) + first) * _FIVE + _A2
            at += 16
        second ^= _rotated(_word(data, min(at + 8, end), end) * _C2, _U33) * _C1
        first ^= _rotated(_word(data, at, min(at + 8, end)) * _C1, _U31) * _C2
        first, second = first ^ size, second ^ size
        first += second
        second += first
        first, second = _finished(first), _finished(second)
        first += second
        made[value, 0], made[value, 1] = first, second + first
    return made
