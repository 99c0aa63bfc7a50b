"""Numbers of privacy in words: never less than they are."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite

from celosia.core.messages import current, localise, say

DIGITS = 6


def format_at_least(value: float) -> str:
    """A number rounded down: an epsilon that may be spent.

    >>> format_at_least(0.6931471805599453), format_at_least(0.1), format_at_least(123456.9)
    ('0.693147', '0.1', '123456')
    """
    return localise(_rounded(value, ROUND_FLOOR), current())


def format_at_most(value: float) -> str:
    """A number rounded up: an epsilon or an error that is promised not to be exceeded.

    >>> format_at_most(0.6931471805599453), format_at_most(0.1), format_at_most(10.0)
    ('0.693148', '0.1', '10')
    """
    if not isfinite(value):
        return say("cli.word.infinite")
    return localise(_rounded(value, ROUND_CEILING), current())


def _rounded(value: float, direction: str) -> str:
    number = Context(prec=DIGITS, rounding=direction).create_decimal(Decimal(repr(value)))
    plain = f"{number.normalize():f}"
    return plain if len(plain) <= 12 else f"{number.normalize():E}".replace("E", "e")


def format_share(value: float) -> str:
    """A probability in per cent, as short as it was given.

    >>> format_share(0.95), format_share(0.999), format_share(0.5)
    ('95%', '99.9%', '50%')
    """
    return localise(f"{(Decimal(repr(value)) * 100).normalize():f}%", current())
