"""Amounts as they are stored: exact fractions as texts, rounded up where they must be."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from celosia.accounting.filters import Price
from celosia.core.errors import PrivacyError

STEPS = 720720 * 10**30
"""The resolution of charges. Decimals of 30 places and halves to sixteenths are exact.

Without a common denominator an analyst could make each sum slower than the last, by charges with
ever new denominators.
"""


def round_up_to_step(amount: Fraction) -> Fraction:
    """The least multiple of 1/STEPS that is not below an amount.

    >>> round_up_to_step(Fraction(1, 10)), round_up_to_step(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 3))
    >>> round_up_to_step(Fraction(1, 10**99)) > 0
    True
    """
    return Fraction(ceil(amount * STEPS), STEPS)


def round_price_up(price: Price) -> Price:
    """Round each currency of a price up."""
    return Price(
        {
            name: None if amount is None else round_up_to_step(amount)
            for name, amount in price.amounts.items()
        }
    )


def format_fraction(amount: Fraction) -> str:
    """A fraction as `numerator/denominator`.

    >>> format_fraction(Fraction(0.5)), format_fraction(Fraction(2))
    ('1/2', '2/1')
    """
    return f"{amount.numerator}/{amount.denominator}"


def parse_amount(text: object) -> Fraction:
    """The fraction that a text stands for.

    Raises:
        PrivacyError: CEL-Q104 it is not one that this ledger wrote.
    """
    top, slash, bottom = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not (slash and _digits(top) and _digits(bottom) and int(bottom)):
        raise PrivacyError("CEL-Q104.not_an_amount")
    return Fraction(int(top), int(bottom))


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
