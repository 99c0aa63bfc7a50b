"""Amounts of a plan in the unit of the answer: totals are measured in steps of a grid."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

_ROUNDED_UP = Context(prec=12, rounding=ROUND_CEILING)
"""Amounts are bounds: digits that are left out never make one smaller."""


def format_amount(value: Fraction) -> str:
    """An amount in plain decimals.

    >>> format_amount(Fraction(640)), format_amount(Fraction(1, 100)), format_amount(Fraction(1, 3))
    ('640', '0.01', '0.333333333334')
    """
    if value.denominator == 1:
        return str(value.numerator)
    return f"{_ROUNDED_UP.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"


def format_caps(most: int, step: Fraction) -> str:
    """The caps that one is chosen from, of which each is twice the one before.

    >>> format_caps(64, Fraction(1)), format_caps(64_000, Fraction(1, 100))
    ('caps 1, 2, 4, ... up to 64', 'caps 0.01, 0.02, 0.04, ... up to 640')
    """
    first = ", ".join(format_amount(number * step) for number in (1, 2, 4))
    return f"caps {first}, ... up to {format_amount(most * step)}"
