"""Amounts of a plan in the unit of the answer: totals are measured in steps of a grid."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from celosia.core.messages import Message

_ROUNDED_UP = Context(prec=12, rounding=ROUND_CEILING)
"""Amounts are bounds: digits that are left out never make one smaller."""


def decimal_amount(value: Fraction) -> Decimal:
    """An amount in plain decimals, rounded up.

    >>> print(*map(decimal_amount, [Fraction(640), Fraction(1, 100), Fraction(1, 3)]))
    640 0.01 0.333333333334
    """
    if value.denominator == 1:
        return Decimal(value.numerator)
    return _ROUNDED_UP.divide(Decimal(value.numerator), Decimal(value.denominator))


def describe_caps(most: int, step: Fraction) -> Message:
    """The caps that one is chosen from, of which each is twice the one before.

    >>> describe_caps(64, Fraction(1)), describe_caps(64_000, Fraction(1, 100))
    ('caps 1, 2, 4, ... up to 64', 'caps 0.01, 0.02, 0.04, ... up to 640')
    """
    first, second, third, last = (decimal_amount(each * step) for each in (1, 2, 4, most))
    return Message("queries.bound.caps", first=first, second=second, third=third, most=last)
