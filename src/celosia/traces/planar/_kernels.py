"""The batch path of the discrete planar Laplace law: whole numbers, and floats only with a proof.

A draw proposes two discrete Laplace numbers and accepts them with chance exp(-gamma), where gamma =
(p/q) sqrt(N) - (7/10)(p/q) M is irrational. Doubles decide a comparison only where they are further
apart than their certified error; a draw that they cannot decide (one in 2^40) is left to
`exact.one_draw`, which reads the same bits and so finds what these kernels would have found.
`tests/traces/planar/` compares both, draw for draw.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.mechanisms.noise._kernels import FAR, OUT, WHOLES, one_laplace, passes, whole_coin

Array = NDArray[Any]

UNSURE = -3
"""Doubles cannot tell on which side of gamma a uniform number lies."""

MOST = 1 << 31
"""A coordinate of a draw beyond does not fit the arithmetic; the scale keeps draws far below."""


@njit(cache=True, nogil=True)
def remainder_coin(units: Array, at: int, rest: float, error: float) -> tuple[bool, int]:
    """Heads with chance exp(-rest), for a rest in [0, 1) that is known up to `error`.

    Of steps that succeed with chance rest/k, k = 1, 2, ..., an even number succeeds in a row with
    this chance. The factors 1/k come from one unit (`WHOLES`), and each step takes two units for a
    uniform number of 64 bits.
    """
    unit = WHOLES[0]
    while unit >= WHOLES[0]:
        if at >= units.size:
            return False, OUT
        unit = np.int64(units[at])
        at += 1
    succeeded = 0
    while True:
        step = succeeded + 1
        if step < WHOLES.size:
            heads = unit < WHOLES[step]
        else:
            heads, at = passes(units, at, 1, step)
            if at == OUT:
                return False, OUT
        if heads:
            if at + 1 >= units.size:
                return False, OUT
            # Rounded to 53 bits: off by less than 2^-53, which `error` holds.
            uniform = (units[at] * 4294967296.0 + units[at + 1]) * (0.5**64)
            at += 2
            if abs(uniform - rest) <= error:
                return False, UNSURE
            heads = uniform < rest
        if not heads:
            return succeeded % 2 == 0, at
        succeeded += 1


@njit(cache=True, nogil=True)
def accepted(units: Array, at: int, a: int, b: int, p: int, q: int) -> tuple[bool, int]:
    """Whether a proposal is kept: heads with chance exp(-gamma)."""
    if a == 0 and b == 0:
        return True, at  # gamma is 0
    rate = p / q
    far = rate * sqrt(float(a * a + b * b))
    near = rate * 0.7 * float(abs(a) + abs(b))
    gamma = far - near
    # Each of far, near and their difference is off by a few units of the last place.
    error = 16.0 * 2.220446049250313e-16 * (far + near + 1.0)
    whole = floor(gamma)
    rest = gamma - whole
    if gamma < error or rest < error or rest > 1.0 - error:
        return False, UNSURE
    for _ in range(int(whole)):
        heads, at = whole_coin(units, at)
        if at == OUT or not heads:
            return False, at
    return remainder_coin(units, at, rest, error)


@njit(cache=True, nogil=True)
def planar(  # noqa: PLR0911 - each end of the stream is one
    units: Array, top: int, bottom: int, p: int, q: int, xs: Array, ys: Array, done: int
) -> tuple[int, int, int]:
    """Fill `xs` and `ys` from `done` on.

    Returns the number done, the place in the stream (or `FAR`), and whether the draw that begins
    there must be decided exactly.
    """
    at = 0
    while done < xs.size:
        after = at
        while True:
            start = after
            a, after = one_laplace(units, start, top, bottom)
            if after == FAR or abs(a) >= MOST:
                return done, FAR, 0
            if after == OUT:
                return done, at, 0
            b, after = one_laplace(units, after, top, bottom)
            if after == FAR or abs(b) >= MOST:
                return done, FAR, 0
            if after == OUT:
                return done, at, 0
            kept, after = accepted(units, after, a, b, p, q)
            if after == UNSURE:
                return done, at, 1
            if after == OUT:
                return done, at, 0
            if kept:
                break
        xs[done] = a
        ys[done] = b
        done += 1
        at = after
    return done, at, 0
