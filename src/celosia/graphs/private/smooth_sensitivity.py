"""The smooth sensitivity of a graph, and the noise that it allows."""

from __future__ import annotations

from fractions import Fraction
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

ROUNDING = 2.0**-40
"""By which share a smooth bound may be rounded up; far more than the error of the floats in it."""


def smoothness(epsilon: Fraction, delta: float) -> float:
    """The beta at which discrete Laplace noise of scale 2 S / epsilon is (epsilon, delta)-DP.

    Let S and S' be beta-smooth bounds of neighbours with S <= e^beta S', s and s' the scales, y the
    answer, f and f' the counts, w = |y - f| / s. The loss of y is
    log(tanh(1/2s) / tanh(1/2s')) - |y - f| / s + |y - f'| / s'.

    - s >= s': the first term is at most 0, the rest at most w (s/s' - 1) + |f - f'| / s', that is
      w (e^beta - 1) + epsilon / 2. It exceeds epsilon only if w > epsilon / (2 (e^beta - 1)) = x,
      which has a chance of at most 2 e^-x: delta, for e^beta - 1 = epsilon / (2 ln(2/delta)).
    - s < s': tanh(z)/z falls, so the first term is at most log(s'/s) <= beta <= epsilon / 2, and
      the rest at most |f - f'| / s' <= epsilon / 2.

    A bound that is rounded up by a share of r is still (beta + r)-smooth; twice that is set aside.

    Reference: Nissim, Raskhodnikova, Smith 2007, Lemma 2.9, for a continuous law.

    Raises:
        InputError: CEL-G303 there is no such beta.
    """
    most = log1p(float(epsilon) / (2 * log(2 / delta))) * (1 - 2.0**-40)
    beta = most - 2 * ROUNDING
    if beta <= 0 or delta > 0.5:
        raise InputError("CEL-G303", epsilon=float(epsilon))
    return beta


def smooth_bound(widths: NDArray[np.int64], beta: float) -> Fraction:
    """The greatest exp(-beta t) widths[t], rounded up by less than a share of 2^-40.

    `widths[t]` bounds how far a neighbour of a graph t steps away can move the count; the last one
    is the bound for all graphs. Exponents above 50 cannot matter: widths are from 1 to 2^60.

    >>> float(smooth_bound(np.array([1, 2, 3]), 0.5)) - 2 * 2.718281828459045**-0.5 < 1e-11
    True
    """
    exponents = -beta * np.arange(widths.size)
    greatest = float(np.max(widths * np.exp(np.maximum(exponents, -745.0))))
    return Fraction(greatest * (1 + ROUNDING / 2))
