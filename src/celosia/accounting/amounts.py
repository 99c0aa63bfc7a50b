"""Amounts of privacy as users write them, read exactly; and computed ones, rounded to one side.

These are for promises and targets: limits keep out slips. What a loss is made of, or asked
about, may be any number that makes sense, and is checked in `celosia.accounting.checks`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isinf

from celosia.core.methods import Parameter, bad_parameter
from celosia.core.numbers import exact, whole

MARGIN = Fraction(1, 10**12)
"""Far more than the few last bits by which a function of `math` or SciPy may be wrong."""


def above(value: float) -> Fraction:
    """A rational number that is surely not below what a computed float of at least 0 stands for.

    >>> above(0.25) > Fraction(1, 4)
    True
    """
    return Fraction(value) * (1 + MARGIN)


def below(value: float) -> Fraction:
    """A rational number that is surely not above what a computed float of at least 0 stands for."""
    return Fraction(value) * (1 - MARGIN)


def raised(value: float) -> float:
    """A float that is surely not below what a computed float of at least 0 stands for."""
    return value if isinf(value) else value * (1 + 2 * float(MARGIN))


WORD = "privacy loss"
EPSILON = Parameter(name="epsilon", kind="exact", above=0)
EPSILON_OR_ZERO = Parameter(name="epsilon", kind="exact", least=0)
DELTA = Parameter(name="delta", kind="exact", above=0, below=1)
DELTA_OR_ZERO = Parameter(name="delta", kind="exact", least=0, below=1)
SHARE = Parameter(kind="exact", above=0, below=1)


def epsilon_amount(
    value: object, *, name: str = "epsilon", zero: bool = False, most: int = 10**6
) -> Fraction:
    """An epsilon (or a rho) as an exact number.

    >>> epsilon_amount(0.1)
    Fraction(1, 10)

    Raises:
        InputError: CEL-I060 not a number above 0, or from 0 where `zero` is allowed, up to `most`.
    """
    number = exact(value)
    if number is None or not 0 <= number <= most or (number == 0 and not zero):
        declared = EPSILON_OR_ZERO if zero else EPSILON
        raise bad_parameter(WORD, replace(declared, name=name, most=most), value)
    return number


def delta_amount(value: object, *, zero: bool = False) -> Fraction:
    """A delta as an exact number.

    Raises:
        InputError: CEL-I060 not above 0 (or from 0 where `zero` is allowed) and below 1.
    """
    number = exact(value)
    if number is None or not 0 <= number < 1 or (number == 0 and not zero):
        raise bad_parameter(WORD, DELTA_OR_ZERO if zero else DELTA, value)
    return number


def share_amount(value: object, *, name: str) -> Fraction:
    """A probability strictly between 0 and 1.

    Raises:
        InputError: CEL-I060 it is not.
    """
    number = exact(value)
    if number is None or not 0 < number < 1:
        raise bad_parameter(WORD, replace(SHARE, name=name), value)
    return number


def count_amount(value: object, *, name: str, least: int = 1, most: int = 10**12) -> int:
    """A whole number in a range.

    Raises:
        InputError: CEL-I060 it is not.
    """
    number = whole(value)
    if number is None or not least <= number <= most:
        declared = Parameter(name=name, kind="whole", least=least, most=most)
        raise bad_parameter(WORD, declared, value)
    return number
