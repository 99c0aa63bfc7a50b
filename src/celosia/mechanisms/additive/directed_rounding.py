"""Exponentials, logarithms and scales, rounded in the direction that protects."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, inf, nextafter

from celosia.core.numbers import exact

DIGITS = 80
"""Decimal digits carried: far more than any probability here can show."""
SLACK = Fraction(1, 10 ** (DIGITS - 10))
"""More than all roundings of one exponential or logarithm together."""
LOG_PLACES = 15
"""Decimals of a logarithm that is told: it is rounded up at the last one."""


def exp_below(power: Fraction) -> Fraction:
    """A number at or a hair below e^power, for a power from 0 to 100.

    >>> float(exp_below(Fraction(1)))
    2.718281828459045
    """
    context = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    value = context.exp(context.divide(Decimal(power.numerator), Decimal(power.denominator)))
    return Fraction(value) * (1 - SLACK)


def log_above(ratio: Fraction) -> Fraction:
    """A number of 15 decimals at or just above ln(ratio), for a ratio of at least 1.

    >>> float(log_above(Fraction(3)))
    1.09861228866811
    """
    context = Context(prec=DIGITS, rounding=ROUND_CEILING)
    value = context.ln(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    places = 10**LOG_PLACES
    return Fraction(ceil((Fraction(value) + SLACK) * places), places)


def short_above(number: Fraction, *, bits: int = 24) -> Fraction:
    """A positive number itself where its numerator is short, else one just above that is.

    For what was found by search and need not be told to the last digit: at most one part in
    2^(bits - 2) is added, and a number beyond 2^bits becomes whole.

    >>> short_above(Fraction(10, 3)), short_above(Fraction(10**9, 3))
    (Fraction(10, 3), Fraction(333333334, 1))
    """
    if number.numerator < 2**bits:
        return number
    length = number.numerator.bit_length() - number.denominator.bit_length()
    places = 2 ** max(0, bits - 1 - length)
    return Fraction(ceil(number * places), places)


def float_above(number: Fraction) -> float:
    """The float nearest to a number that does not mean less than it.

    >>> float_above(Fraction(1, 5)), float_above(Fraction(1, 3)) > 1 / 3
    (0.2, True)
    """
    value = float(number)
    meant = exact(value)
    return value if meant is not None and meant >= number else nextafter(value, inf)
