"""Which scales can be drawn in 64-bit arithmetic, and how the others are rounded up to one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt

from celosia.core.errors import InputError
from celosia.core.numbers import exact

REACH = 2**52
"""The largest number that a kernel works with; a thousand times as much still fits into 62 bits."""

LEAST, MOST = Fraction(1, 2**10), Fraction(REACH)
"""The scales (of the Gaussian: standard deviations) that are drawn."""

BOTTOM = 2**62


def scale_within_reach(scale: object) -> Fraction:
    """The scale itself, or the next larger one that 64-bit arithmetic can draw.

    Rounding up adds noise, less than one part in 2^50 of it; never does it take any away.

    >>> scale_within_reach(Fraction(20, 3))
    Fraction(20, 3)

    Raises:
        InputError: CEL-M020 not a number, or out of reach.
    """
    number = exact(scale)
    if number is None or not LEAST <= number <= MOST:
        raise InputError("CEL-M020.laplace", given=scale)
    if number.numerator <= REACH and number.denominator <= BOTTOM:
        return number
    bits = _places(number)
    return Fraction(-((-number.numerator << bits) // number.denominator), 1 << bits)


def parameter_within_reach(parameter: object) -> Fraction:
    """The same for sigma^2; where it is rounded, sigma becomes a rational number.

    >>> parameter_within_reach(0.5)
    Fraction(1, 2)

    Raises:
        InputError: CEL-M020 not a number, or out of reach.
    """
    number = exact(parameter)
    if number is None or not LEAST**2 <= number <= MOST**2:
        raise InputError("CEL-M020.gaussian", given=parameter)
    if Proposal.of(number).within_reach:
        return number
    bits = _places(Fraction(isqrt(number.numerator) + 1, isqrt(number.denominator)))
    squared = -((-number.numerator << 2 * bits) // number.denominator)
    return Fraction(isqrt(squared - 1) + 1, 1 << bits) ** 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a discrete Gaussian is drawn: from which Laplace law, and what is kept of it.

    A draw y of scale top/bottom is kept with chance exp(-(factor |y| - centre)^2 / (2 low high)),
    which is exp(-(|y| - sigma^2 bottom/top)^2 / (2 sigma^2)) with all common factors taken out:
    Algorithm 3 of Canonne, Kamath & Steinke 2020 for a rational scale near sigma.
    """

    top: int
    bottom: int
    factor: int
    centre: int
    low: int
    high: int

    @classmethod
    def of(cls, parameter: Fraction) -> Proposal:
        """The proposal for a sigma^2, with the scale sigma itself where that is rational."""
        above, under = parameter.numerator, parameter.denominator
        top, bottom = isqrt(above), isqrt(under)
        if top**2 != above or bottom**2 != under:
            top, bottom = _nearest_root(above, under), 1
            if top == 0 or above < under:
                top, bottom = 1, _nearest_root(under, above)
        parts = under * top * bottom, above * bottom**2, under * top**2
        factor, centre, other = (part // gcd(*parts) for part in parts)
        return cls(top, bottom, factor, centre, min(centre, other), max(centre, other))

    @property
    def within_reach(self) -> bool:
        """True when no kernel can overflow.

        |y| <= top/bottom * MOST_TURNS, so factor |y| <= high * MOST_TURNS < 2^62.
        """
        return max(self.top, self.high) <= REACH and self.bottom <= BOTTOM


def _nearest_root(above: int, under: int) -> int:
    """The whole number nearest to the root of above/under."""
    return (isqrt(4 * above // under) + 1) // 2


def _places(number: Fraction) -> int:
    """Binary places that a number may keep so that its numerator stays within reach."""
    return max(0, 51 - number.numerator.bit_length() + number.denominator.bit_length())
