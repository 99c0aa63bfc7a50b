"""Exact sampling from a stream of uniform 32-bit numbers: whole-number arithmetic, no floats.

The algorithms are those of Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential
Privacy" (Algorithms 1 to 3). Every kernel reads `units` from the place `at` on and returns the
place after what it used, or `OUT` when the stream ends first; the caller then repeats the
unfinished draw with a longer stream, so that the result depends on the stream alone and not on how
it was cut.
`tests/mechanisms/noise/twin.py` holds a plain twin of each kernel.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]

OUT = -1
"""The stream has ended."""

FAR = -2
"""A draw so far out that it would not fit into 64 bits; see `MOST_TURNS`."""

MOST_TURNS = 1000
"""Multiples of the scale that a draw may reach; one in e^1000 (below 10^-434) would go beyond.

No parameter exceeds 2^52 (`reach.REACH`), so that a thousand times as much fits into 62 bits.
"""

WHOLES = np.array([107 * factorial(11) // factorial(n) for n in range(12)], dtype=np.int64)
HALVES = np.array(
    [23 * factorial(9) * 2**9 // (factorial(n) * 2**n) for n in range(10)], dtype=np.int64
)
"""A number below `table[0]`, uniform, is below `table[n]` with the chance 1/n! (or 1/(n! 2^n)).

107 * 11! and 23 * 9! * 2^9 are just below 2^32, so that one unit in 180 is drawn again.
"""


@njit(cache=True, nogil=True)
def below(units: Array, at: int, bound: int) -> tuple[int, int]:
    """A uniform whole number below `bound`, which is at most 2^63 - 1.

    Lemire 2019, "Fast Random Integer Generation in an Interval": the high half of unit * bound,
    drawn again where the low half is below 2^32 mod bound (2^64 mod bound with two units).
    """
    if bound <= 1 << 31:
        while at < units.size:
            product = np.int64(units[at]) * bound  # below 2^63
            at += 1
            low = product & 0xFFFFFFFF
            if low >= bound or low >= ((1 << 32) - bound) % bound:
                return int(product >> 32), at
        return 0, OUT
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    wide = np.uint64(bound)
    bound_high, bound_low = wide >> half, wide & mask
    while at + 1 < units.size:
        unit_high, unit_low = np.uint64(units[at]), np.uint64(units[at + 1])
        at += 2
        # The 128-bit product from four 64-bit ones; no sum of them exceeds 2^64 - 1.
        lowest = unit_low * bound_low
        middle = unit_high * bound_low + (lowest >> half)
        other = unit_low * bound_high + (middle & mask)
        low_word = (other << half) | (lowest & mask)
        if low_word >= wide or low_word >= (np.uint64(0) - wide) % wide:
            high = np.int64(unit_high * bound_high + (middle >> half) + (other >> half))
            return int(high), at
    return 0, OUT


@njit(cache=True, nogil=True)
def passes(units: Array, at: int, part: int, whole: int) -> tuple[bool, int]:
    """Heads with chance part/whole; a sure coin takes nothing from the stream."""
    if part >= whole:
        return True, at
    number, at = below(units, at, whole)
    return at != OUT and number < part, at


@njit(cache=True, nogil=True)
def coin(
    units: Array, at: int, table: Array, first: int, of_first: int, second: int, of_second: int
) -> tuple[bool, int]:
    """Heads with chance exp(-g), g = first/of_first * second/of_second, halved for `HALVES`.

    Algorithm 1: of steps that succeed with chance g/k, k = 1, 2, ..., an even number succeeds in a
    row with chance exp(-g). All the factors 1/k (and 1/2) come from a single unit. Neither fraction
    is above 1.
    """
    unit = table[0]
    while unit >= table[0]:
        if at >= units.size:
            return False, OUT
        unit = np.int64(units[at])
        at += 1
    succeeded = 0
    while True:
        step = succeeded + 1
        if step < table.size:
            heads = unit < table[step]
        else:
            heads, at = passes(units, at, 1, step if table.size == WHOLES.size else 2 * step)
        if heads:
            heads, at = passes(units, at, first, of_first)
        if heads:
            heads, at = passes(units, at, second, of_second)
        if at == OUT:
            return False, OUT
        if not heads:
            return succeeded % 2 == 0, at
        succeeded += 1


@njit(cache=True, nogil=True)
def whole_coin(units: Array, at: int) -> tuple[bool, int]:
    """Heads with chance 1/e: `coin` for g = 1, a fifth faster in all."""
    while at < units.size:
        unit = np.int64(units[at])
        at += 1
        if unit >= WHOLES[0]:
            continue
        step = 2  # the first step succeeds with chance 1
        while step < WHOLES.size and unit < WHOLES[step]:
            step += 1
        heads = step == WHOLES.size
        while heads:
            heads, at = passes(units, at, 1, step)
            if at == OUT:
                return False, OUT
            step += heads
        return step % 2 == 1, at
    return False, OUT


@njit(cache=True, nogil=True)
def exponential_coin(units: Array, at: int, numerator: int, denominator: int) -> tuple[bool, int]:
    """Heads with chance exp(-numerator/denominator), of any size."""
    # exp(-n - r) = exp(-1)^n exp(-r): a coin for each factor, all of which must show heads.
    while numerator >= denominator:
        heads, at = whole_coin(units, at)
        if at == OUT or not heads:
            return False, at
        numerator -= denominator
    return coin(units, at, WHOLES, numerator, denominator, 1, 1)


@njit(cache=True, nogil=True)
def one_laplace(units: Array, at: int, top: int, bottom: int) -> tuple[int, int]:
    """One discrete Laplace draw of scale top/bottom (Algorithm 2).

    The sign is drawn together with the first uniform number, as its last bit.
    """
    while True:
        number, at = below(units, at, 2 * top)
        if at == OUT:
            return 0, OUT
        negative, rest = number & 1, number >> 1
        heads, at = coin(units, at, WHOLES, rest, top, 1, 1)
        if at == OUT:
            return 0, OUT
        if not heads:
            continue
        turns = 0
        while True:
            heads, at = whole_coin(units, at)
            if at == OUT:
                return 0, OUT
            if not heads:
                break
            turns += 1
            if turns == MOST_TURNS:
                return 0, FAR
        size = (rest + top * turns) // bottom
        if negative == 0:
            return size, at
        # Minus zero is drawn again, or 0 would be twice as likely as it must be.
        if size > 0:
            return -size, at


@njit(cache=True, nogil=True)
def accepted(units: Array, at: int, distance: int, low: int, high: int) -> tuple[bool, int]:
    """Heads with chance exp(-distance^2 / (2 low high)), low <= high.

    With distance = i low + c the exponent is i^2 low/(2 high) + i c/high + (c/low)(c/high)/2:
    coins whose parts are below `high`, where the square itself would not fit into 64 bits.
    """
    turns, rest = distance // low, distance % low
    heads, at = coin(units, at, HALVES, rest, low, rest, high)
    if at == OUT or not heads:
        return False, at
    for turn in range(turns):
        heads, at = coin(units, at, WHOLES, rest, high, 1, 1)
        if at == OUT or not heads:
            return False, at
        for _ in range(2 * turn + 1):  # 1 + 3 + 5 + ... = turns^2
            heads, at = coin(units, at, HALVES, low, high, 1, 1)
            if at == OUT or not heads:
                return False, at
    return True, at


@njit(cache=True, nogil=True)
def laplace(units: Array, top: int, bottom: int, found: Array, done: int) -> tuple[int, int]:
    """Fill `found` from `done` on; the number done and the place in the stream (or `FAR`)."""
    at = 0
    while done < found.size:
        number, after = one_laplace(units, at, top, bottom)
        if after == OUT:
            break
        if after == FAR:
            return done, FAR
        found[done] = number
        done += 1
        at = after  # only now: a draw that the stream ends within is begun again, not cut short
    return done, at


@njit(cache=True, nogil=True)
def gaussian(
    units: Array,
    top: int,
    bottom: int,
    factor: int,
    centre: int,
    low: int,
    high: int,
    found: Array,
    done: int,
) -> tuple[int, int]:
    """The same for the discrete Gaussian: Laplace proposals of scale top/bottom (Algorithm 3).

    A proposal y is kept with chance exp(-(factor |y| - centre)^2 / (2 low high)).
    """
    at = 0
    while done < found.size:
        number, after = one_laplace(units, at, top, bottom)
        if after == OUT:
            break
        if after == FAR:
            return done, FAR
        distance = abs(factor * abs(number) - centre)
        kept, after = accepted(units, after, distance, low, high)
        if after == OUT:
            break
        if kept:
            found[done] = number
            done += 1
        at = after
    return done, at


@njit(cache=True, nogil=True)
def exponential_coins(
    units: Array, numerators: Array, denominator: int, found: Array, done: int
) -> tuple[int, int]:
    """One coin of chance exp(-numerator/denominator) for each numerator."""
    at = 0
    while done < found.size:
        heads, after = exponential_coin(units, at, numerators[done], denominator)
        if after == OUT:
            break
        found[done] = heads
        done += 1
        at = after
    return done, at
