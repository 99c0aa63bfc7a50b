"""BLAKE2b with a digest of 8 bytes over many byte strings at a time; `hashlib` says the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Words = NDArray[np.uint64]

_START = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
"""RFC 7693, section 2.6."""

_ORDERS = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.int64,
)
"""RFC 7693, section 2.7."""

_PARAMETERS = np.uint64(0x01010008)
"""A digest of 8 bytes, no key, a fan-out and a depth of 1."""

_U1, _U16, _U24, _U32 = np.uint64(1), np.uint64(16), np.uint64(24), np.uint64(32)
_U40, _U48, _U63 = np.uint64(40), np.uint64(48), np.uint64(63)
_ALL = np.uint64(2**64 - 1)


@njit(cache=True)
def _stir(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, x: np.uint64, y: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The function G of RFC 7693, section 3.1; numbers instead of an array stay in registers."""
    a += b + x
    d ^= a
    d = (d >> _U32) | (d << _U32)
    c += d
    b ^= c
    b = (b >> _U24) | (b << _U40)
    a += b + y
    d ^= a
    d = (d >> _U16) | (d << _U48)
    c += d
    b ^= c
    b = (b >> _U63) | (b << _U1)
    return a, b, c, d


@njit(cache=True)
def _compress(state: Words, m: Words, read: int, last: bool) -> None:
    """The function F of RFC 7693, section 3.2."""
    v0, v1, v2, v3 = state[0], state[1], state[2], state[3]
    v4, v5, v6, v7 = state[4], state[5], state[6], state[7]
    v8, v9, v10, v11 = _START[0], _START[1], _START[2], _START[3]
    v12, v13, v14, v15 = _START[4] ^ np.uint64(read), _START[5], _START[6], _START[7]
    if last:
        v14 ^= _ALL
    for turn in range(12):
        order = _ORDERS[turn]
        v0, v4, v8, v12 = _stir(v0, v4, v8, v12, m[order[0]], m[order[1]])
        v1, v5, v9, v13 = _stir(v1, v5, v9, v13, m[order[2]], m[order[3]])
        v2, v6, v10, v14 = _stir(v2, v6, v10, v14, m[order[4]], m[order[5]])
        v3, v7, v11, v15 = _stir(v3, v7, v11, v15, m[order[6]], m[order[7]])
        v0, v5, v10, v15 = _stir(v0, v5, v10, v15, m[order[8]], m[order[9]])
        v1, v6, v11, v12 = _stir(v1, v6, v11, v12, m[order[10]], m[order[11]])
        v2, v7, v8, v13 = _stir(v2, v7, v8, v13, m[order[12]], m[order[13]])
        v3, v4, v9, v14 = _stir(v3, v4, v9, v14, m[order[14]], m[order[15]])
    mixed = (v0 ^ v8, v1 ^ v9, v2 ^ v10, v3 ^ v11, v4 ^ v12, v5 ^ v13, v6 ^ v14, v7 ^ v15)
    for place in range(8):
        state[place] ^= mixed[place]


@njit(cache=True)
def blake(data: NDArray[np.uint8], ends: NDArray[np.int64], person: Words) -> Words:
    """The digests of `data[ends[i] : ends[i + 1]]`, under a personal string of two words."""
    found = np.empty(ends.size - 1, dtype=np.uint64)
    state, m = np.empty(8, np.uint64), np.empty(16, np.uint64)
    for each in range(found.size):
        state[:] = _START
        state[0] ^= _PARAMETERS
        state[6] ^= person[0]
        state[7] ^= person[1]
        at, end, read = ends[each], ends[each + 1], 0
        while True:
            size = min(128, end - at)
            m[:] = 0
            for place in range(size):
                m[place >> 3] |= np.uint64(data[at + place]) << np.uint64(8 * (place & 7))
            at += size
            read += size
            _compress(state, m, read, at == end)
            if at == end:
                break
        found[each] = state[0]
    return found
