"""Exact coins whose exponents are whole numbers times one rate, however large."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.mechanisms.noise.bernoulli import bernoulli_exp


def flip(exponents: NDArray[np.int64], *, rate: Fraction, rng: Source) -> NDArray[np.bool_]:
    """One exact Bernoulli(exp(-rate * exponent)) an exponent of at least 0.

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
