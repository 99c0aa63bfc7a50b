"""Exact coins that fall heads with the chance exp(-gamma), for rational gamma."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.noise.laws import fill


def bernoulli_exp(
    numerators: NDArray[np.int64], denominator: int, rng: Source
) -> NDArray[np.bool_]:
    """One exact coin of chance exp(-numerator/denominator) for each numerator.

    Reference: Canonne, Kamath & Steinke 2020, Algorithm 1.

    >>> from celosia.core.randomness import Seeded
    >>> bernoulli_exp(np.array([0, 0, 10**9]), 7, Seeded(1)).tolist()
    [True, True, False]

    Raises:
        InputError: CEL-M022 a negative numerator, or a denominator outside 1 .. 2^63 - 1.
    """
    from celosia.mechanisms.noise import _kernels  # Numba loads when noise is drawn

    tops = np.asarray(numerators)
    if tops.dtype.kind not in "iu" or tops.ndim != 1 or not 0 < denominator < 2**63:
        raise _bad_chance()
    # Unsigned numbers of 2^63 and more would wrap to negative ones, which are refused as such.
    tops = np.ascontiguousarray(tops, dtype=np.int64)
    if tops.size and tops.min() < 0:
        raise _bad_chance()

    def step(units: NDArray[np.uint32], found: Any, done: int) -> tuple[int, int]:
        return _kernels.exponential_coins(units, tops, denominator, found, done)

    found = np.empty(tops.size, dtype=np.bool_)
    fill(found, step, rng, words_each=3)
    return found


def bernoulli_exp_rate(
    exponents: NDArray[np.int64], *, rate: Fraction, rng: Source
) -> NDArray[np.bool_]:
    """One exact coin of chance exp(-rate * exponent) for each exponent of at least 0.

    exp(-rate (a + b)) = exp(-rate a) exp(-rate b): an exponent that would overflow when multiplied
    is flipped piece by piece, and only coins that have survived all pieces so far are flipped on.
    """
    piece = 2**62 // rate.numerator
    left = np.array(exponents, dtype=np.int64)
    heads = np.ones(left.size, dtype=np.bool_)
    active = np.arange(left.size)
    while active.size:
        part = np.minimum(left[active], piece)
        heads[active] = bernoulli_exp(part * rate.numerator, rate.denominator, rng)
        left[active] -= part
        active = active[heads[active] & (left[active] > 0)]
    return heads


def _bad_chance() -> InputError:
    return InputError("CEL-M022")
