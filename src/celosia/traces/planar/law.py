"""The discrete planar Laplace law: P(a, b) proportional to exp(-rate sqrt(a^2 + b^2)).

Its normaliser does not depend on where the noise is added, because the lattice is unbounded. So the
triangle inequality gives the ratio exp(rate * distance) exactly, and a place that falls outside the
map is moved afterwards, never drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, inf, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Source

GRID = 2**20
"""Rates are whole multiples of 1 / GRID."""

LEAST_RATE, MOST_RATE = Fraction(1, 2**14), Fraction(32)
"""Rates that 64-bit arithmetic can draw: a thousand times the scale stays below 2^31."""

CHUNK = 2**16
"""Words that are read at once."""


def rate_of(times: float | Fraction, within: float | Fraction, step: float) -> Fraction:
    """The rate for a step of the lattice at which places `within` metres differ by `times`.

    Rounded down to the grid of rates: the noise is never too small.

    >>> float(rate_of(4, 200, 10))
    0.0693140...
    """
    context = Context(prec=60)
    ratio = Decimal(Fraction(times).numerator) / Decimal(Fraction(times).denominator)
    metres = Fraction(within)
    side = Fraction(str(step))
    # 60 digits, of which the last may be wrong: the floor is lowered where it could matter.
    exact = context.ln(ratio) * GRID * side.numerator * metres.denominator
    found = context.divide(exact, Decimal(side.denominator * metres.numerator))
    slack = found - Decimal("1e-40")
    return Fraction(int(slack), GRID)


@dataclass(frozen=True)
class DiscretePlanarLaplace:
    """The law for a rational rate t = p/q for each step of the lattice.

    Raises:
        InputError: CEL-J006 the rate is out of reach.

    >>> from celosia.core.randomness import Seeded
    >>> law = DiscretePlanarLaplace(Fraction(1, 2))
    >>> x, y = law.draw(3, Seeded(7))
    >>> x.size, round(law.normaliser, 6)
    (3, 25.246545)
    """

    rate: Fraction

    def __post_init__(self) -> None:
        if not LEAST_RATE <= self.rate <= MOST_RATE:
            raise InputError("CEL-J006", least=float(LEAST_RATE), most=float(MOST_RATE))

    @cached_property
    def normaliser(self) -> float:
        """The sum of exp(-t r) over all cells, to float precision."""
        return self._sums[0]

    @cached_property
    def mean_radius(self) -> float:
        """The mean distance, in steps."""
        return self._sums[1] / self._sums[0]

    @cached_property
    def _sums(self) -> tuple[float, float]:
        rate = float(self.rate)
        reach = ceil(42 / rate)  # beyond, exp(-42) times the area is below 1e-15 of the sum
        if reach > 20_000:  # the sum and the integral agree to all digits for such small rates
            return 2 * pi / rate**2, 4 * pi / rate**3
        total, moment = 1.0, 0.0
        other = np.arange(0, reach + 1, dtype=np.float64)
        for first in range(1, reach + 1):
            # One quadrant without one of its axes, four times: each cell but the centre once.
            radius = np.sqrt(float(first) ** 2 + other**2)
            weight = np.exp(-rate * radius)
            total += 4 * float(weight.sum())
            moment += 4 * float((weight * radius).sum())
        return total, moment

    def mass(self, a: int, b: int) -> float:
        """The chance of one cell."""
        return exp(-float(self.rate) * sqrt(a * a + b * b)) / self.normaliser

    @property
    def acceptance(self) -> float:
        """The chance that a proposal is kept."""
        from math import tanh

        rate = 0.7 * float(self.rate)
        # The proposals have mass tanh(rate/2)^2 exp(-rate M), and dominate without a factor.
        return self.normaliser * tanh(rate / 2) ** 2

    def draw(self, size: int, rng: Source) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`size` independent exact draws: steps east and steps north."""
        from celosia.mechanisms.noise._kernels import OUT  # Numba loads when noise is drawn
        from celosia.traces.planar import _kernels
        from celosia.traces.planar.exact import one_draw, scale

        p, q = self.rate.numerator, self.rate.denominator
        top, bottom = scale(p, q)

        def step(units: NDArray[np.uint32], xs: Any, ys: Any, done: int) -> tuple[int, int]:
            at = 0
            while True:
                done, used, unsure = _kernels.planar(units[at:], top, bottom, p, q, xs, ys, done)
                if used < 0:
                    return done, used
                at += used
                if not unsure:
                    return done, at
                a, b, after = one_draw(units, at, p, q)
                if after == OUT:
                    return done, at
                if after < 0:
                    return done, after
                xs[done], ys[done] = a, b
                done, at = done + 1, after

        return _fill(size, step, rng)

    def draw_exactly(self, size: int, rng: Source) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same draws from the same bits, without a float: the twin of `draw`."""
        from celosia.traces.planar.exact import one_draw

        p, q = self.rate.numerator, self.rate.denominator

        def step(units: NDArray[np.uint32], xs: Any, ys: Any, done: int) -> tuple[int, int]:
            at = 0
            while done < xs.size:
                a, b, after = one_draw(units, at, p, q)
                if after == -1:
                    break
                if after < 0:
                    return done, after
                xs[done], ys[done] = a, b
                done, at = done + 1, after
            return done, at

        return _fill(size, step, rng)


def _fill(size: int, step: Any, rng: Source) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let a path fill two arrays, with as many random words as it takes."""
    xs, ys = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    done, left = 0, np.empty(0, dtype=np.uint32)
    while done < size:
        words = rng.words(min(CHUNK, 16 * (size - done) + 64))
        units = np.concatenate([left, words.view(np.uint32)])
        done, at = step(units, xs, ys, done)
        if at < 0:
            raise PrivacyError("CEL-M021")
        left = units[at:]
    return xs, ys


def continuous_quantile(confidence: float, epsilon: float) -> float:
    """The radius that continuous planar Laplace noise stays within, for docs and comparison.

    The inverse of 1 - (1 + r epsilon) exp(-r epsilon), by Lambert's W (Andrés et al. 2013).

    >>> from math import log
    >>> round(continuous_quantile(0.5, log(4) / 200), 2)
    242.13
    """
    from scipy.special import lambertw

    if not 0 <= confidence < 1 or not 0 < epsilon < inf:
        raise ValueError("a chance below 1 and an epsilon above 0 are needed.")
    branch = lambertw((confidence - 1) / np.e, -1)
    return float(-(branch.real + 1) / epsilon)
