"""Kernels of stable hashing; `tests/sketches/plain.py` says in plain Python what they equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Words = NDArray[np.uint64]
Places = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_PRIME = np.uint64(2**61 - 1)
_LOW = np.uint64(2**32 - 1)
_U3, _U29, _U32, _U61 = np.uint64(3), np.uint64(29), np.uint64(32), np.uint64(61)
_U27, _U30, _U31 = np.uint64(27), np.uint64(30), np.uint64(31)
_LOW29 = np.uint64(2**29 - 1)

BLOCK = 512
"""Digests at a time: their columns stay in the fastest cache."""


@njit(cache=True, inline="always")
def mix(word: np.uint64) -> np.uint64:
    """SplitMix64 of one word."""
    word = word + _GOLDEN
    word = (word ^ (word >> _U30)) * _FIRST
    word = (word ^ (word >> _U27)) * _SECOND
    return word ^ (word >> _U31)


@njit(cache=True)
def mixed(words: Words) -> Words:
    """SplitMix64 of each word."""
    found = np.empty_like(words)
    for place in range(words.size):
        found[place] = mix(words[place])
    return found


@njit(cache=True, inline="always")
def _reduced(number: np.uint64) -> np.uint64:
    """A word modulo 2^61 - 1."""
    number = (number & _PRIME) + (number >> _U61)
    return number - _PRIME if number >= _PRIME else number


@njit(cache=True, inline="always")
def _times(left: np.uint64, right: np.uint64) -> np.uint64:
    """The product of two numbers below 2^61, modulo 2^61 - 1.

    With halves of 32 and 29 bits: low * low < 2^64, the middle two < 2^62 together, and
    2^64 = 8, 2^32 m = (m mod 2^29) 2^32 + floor(m / 2^29) modulo the prime, so all sums fit.
    """
    low_left, high_left = left & _LOW, left >> _U32
    low_right, high_right = right & _LOW, right >> _U32
    middle = low_left * high_right + high_left * low_right
    top = (high_left * high_right) << _U3
    found = _reduced(low_left * low_right) + _reduced(top)
    found += (middle >> _U29) + ((middle & _LOW29) << _U32)
    return _reduced(found)


@njit(cache=True, inline="always")
def _remainder(number: np.uint64, width: np.int64, fold: np.uint64, inverse: float) -> np.int64:
    """A number below 2^61 modulo a width below 2^41, by a float quotient that is then put right.

    Processors do this on several numbers at a time, but not whole-number division. `fold` is
    2^32 mod width for widths up to 2^20: the folded number is below 2^50, hence an exact float.
    It is 0 for wider ones: then rounding moves the quotient by less than 2^61 / 2^20 * 2^-51 < 1.
    Both ways the quotient is at most one off, on either side.
    """
    if fold:
        number = (number >> _U32) * fold + (number & _LOW)
    left = np.int64(number)
    left -= np.int64(np.float64(left) * inverse) * width
    left += width if left < 0 else 0
    left -= width if left >= width else 0
    return left


@njit(cache=True, inline="always")
def _fold(width: np.int64) -> np.uint64:
    """2^32 mod width where folding is wanted; a width that divides 2^32 needs the low half only."""
    if width > 2**20:
        return np.uint64(0)
    fold = np.uint64(2**32) % np.uint64(width)
    return fold if fold else np.uint64(width)


@njit(cache=True)
def fill_columns(digests: Words, coefficients: Words, width: np.int64, found: Places) -> None:
    """Write the columns of a block of digests under one polynomial (Horner's scheme)."""
    size, last = digests.size, coefficients.size - 1
    fold, inverse = _fold(width), 1.0 / np.float64(width)
    if last == 1:  # by far the most used: without the arrays between the steps
        for place in range(size):
            power = _times(coefficients[1], _reduced(digests[place]))
            power = _reduced(power + coefficients[0])
            found[place] = _remainder(power, width, fold, inverse)
        return
    values, powers = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    for place in range(size):
        values[place] = _reduced(digests[place])
        powers[place] = coefficients[last]
    for degree in range(last - 1, -1, -1):
        added = coefficients[degree]
        for place in range(size):
            powers[place] = _reduced(_times(powers[place], values[place]) + added)
    for place in range(size):
        found[place] = _remainder(powers[place], width, fold, inverse)


@njit(cache=True)
def columns(digests: Words, coefficients: Words, width: np.int64) -> Places:
    """The columns of digests under one polynomial."""
    found = np.empty(digests.size, dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        fill_columns(digests[start:end], coefficients, width, found[start:end])
    return found


@njit(cache=True)
def columns_at(
    digests: Words, rows: Places, coefficients: NDArray[np.uint64], width: np.int64
) -> Places:
    """The column of each digest under the polynomial of a row of its own."""
    found = np.empty(digests.size, dtype=np.int64)
    fold, inverse = _fold(width), 1.0 / np.float64(width)
    last = coefficients.shape[1] - 1
    values, powers = np.empty(BLOCK, dtype=np.uint64), np.empty(BLOCK, dtype=np.uint64)
    added = np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, digests.size, BLOCK):  # apart from looking up, several at a time
        size = min(BLOCK, digests.size - start)
        for place in range(size):
            values[place] = _reduced(digests[start + place])
            powers[place] = coefficients[rows[start + place], last]
        for degree in range(last - 1, -1, -1):
            for place in range(size):
                added[place] = coefficients[rows[start + place], degree]
            for place in range(size):
                powers[place] = _reduced(_times(powers[place], values[place]) + added[place])
        for place in range(size):
            found[start + place] = _remainder(powers[place], width, fold, inverse)
    return found


@njit(cache=True)
def every_column(
    digests: Words, coefficients: NDArray[np.uint64], width: np.int64
) -> NDArray[np.int64]:
    """The columns of all digests under all polynomials, row by row."""
    found = np.empty((coefficients.shape[0], digests.size), dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        for row in range(coefficients.shape[0]):
            fill_columns(digests[start:end], coefficients[row], width, found[row, start:end])
    return found
