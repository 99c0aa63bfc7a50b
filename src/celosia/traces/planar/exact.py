"""The exact path of the discrete planar Laplace law: whole numbers of any size, no float at all.

gamma = p (sqrt(100 N) - 7 M) / (10 q). A uniform number u = U / 2^w lies below the rest of gamma if
((U + f 2^w) 10 q + 7 p M 2^w)^2 < 100 p^2 N 4^w, where f = floor(gamma) comes from an integer
square root; u is extended by 32 bits while its two ends disagree.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from celosia.mechanisms.noise._kernels import FAR, OUT, WHOLES, one_laplace, passes, whole_coin
from celosia.traces.planar._kernels import MOST

Units = NDArray[np.uint32]


def one_draw(units: Units, at: int, p: int, q: int) -> tuple[int, int, int]:
    """One draw from the stream: both coordinates, and the place after it (`OUT`, `FAR`).

    `OUT` means that the stream ended first: the same draw begins again with a longer one.
    """
    top, bottom = scale(p, q)
    while True:
        a, at = one_laplace(units, at, top, bottom)
        if at in (OUT, FAR) or abs(a) >= MOST:
            return 0, 0, at if at == OUT else FAR
        b, at = one_laplace(units, at, top, bottom)
        if at in (OUT, FAR) or abs(b) >= MOST:
            return 0, 0, at if at == OUT else FAR
        kept, at = accepted(units, at, (int(a), int(b)), p, q)
        if at == OUT:
            return 0, 0, OUT
        if kept:
            return int(a), int(b), at


def scale(p: int, q: int) -> tuple[int, int]:
    """The scale of the proposals, 10 q / (7 p): 7/10 is below 1/sqrt(2), so that they dominate."""
    return 10 * q, 7 * p


def accepted(units: Units, at: int, draw: tuple[int, int], p: int, q: int) -> tuple[bool, int]:
    """Whether a proposal is kept: heads with chance exp(-gamma)."""
    a, b = draw
    squared, taxi = a * a + b * b, abs(a) + abs(b)
    if not squared:
        return True, at
    # floor((floor(y) - c) / d) = floor((y - c) / d) for whole c and d.
    square = 100 * p * p * squared
    shift, width = 7 * p * taxi, 10 * q
    whole = (isqrt(square) - shift) // width
    for _ in range(whole):
        heads, at = whole_coin(units, at)
        if at == OUT or not heads:
            return False, at
    return _remainder_coin(units, at, whole * width + shift, width, square)


def _remainder_coin(units: Units, at: int, base: int, width: int, square: int) -> tuple[bool, int]:
    """Heads with chance exp(-rest), rest = (sqrt(square) - base) / width; as the kernel does it."""
    table = WHOLES
    unit = int(table[0])
    while unit >= table[0]:
        if at >= units.size:
            return False, OUT
        unit = int(units[at])
        at += 1
    succeeded = 0
    while True:
        step = succeeded + 1
        if step < table.size:
            heads = unit < int(table[step])
        else:
            heads, at = passes(units, at, 1, step)
            if at == OUT:
                return False, OUT
        if heads:
            heads, at = _below_rest(units, at, base, width, square)
            if at == OUT:
                return False, OUT
        if not heads:
            return succeeded % 2 == 0, at
        succeeded += 1


def _below_rest(units: Units, at: int, base: int, width: int, square: int) -> tuple[bool, int]:
    """Whether a uniform number lies below the rest; it begins with 64 bits."""
    if at + 1 >= units.size:
        return False, OUT
    number, bits = (int(units[at]) << 32) | int(units[at + 1]), 64
    at += 2
    while True:
        limit = square << (2 * bits)
        low = number * width + (base << bits)
        if low * low >= limit:
            return False, at
        if (low + width) ** 2 <= limit:
            return True, at
        if at >= units.size:
            return False, OUT
        number, bits = (number << 32) | int(units[at]), bits + 32
        at += 1
