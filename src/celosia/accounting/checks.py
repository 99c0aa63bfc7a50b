"""What losses are made of and asked about, refused before anything is computed from it.

Promises and targets of users are read in `celosia.accounting.amounts`, within narrower limits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter

from celosia.core.errors import InputError
from celosia.core.numbers import exact, real, whole


def check_cost(value: object, *, name: str = "epsilon") -> Fraction:
    """A finite cost of at least 0 as an exact number.

    Raises:
        InputError: CEL-B001 it is not.
    """
    number = exact(value)
    if number is None or number < 0:
        raise InputError("CEL-B001.check_cost", name=name, value=value)
    return number


def check_chance(value: object, *, name: str = "delta") -> float:
    """A probability.

    Raises:
        InputError: CEL-B002 not a number from 0 to 1.
    """
    number = real(value)
    if number is None or not 0 <= number <= 1:
        raise InputError("CEL-B002", name=name, value=value)
    return number


def check_noise(value: object, *, name: str) -> Fraction:
    """A scale or a variance of noise, as an exact number.

    Raises:
        InputError: CEL-B003 not a finite number above 0.
    """
    number = exact(value)
    if number is None or number <= 0:
        raise InputError("CEL-B003", name=name, value=value)
    return number


def check_shift(value: object) -> int:
    """The most steps that one neighbour can move a number by.

    Raises:
        InputError: CEL-B004 not a whole number of at least 1.
    """
    number = whole(value)
    if number is None or number < 1:
        raise InputError("CEL-B004", value=value)
    return number


def check_times(value: object, *, most: int | None = None) -> int:
    """How many releases there are.

    Raises:
        InputError: CEL-B007 not a whole number of at least 1, and at most `most`.
    """
    number = whole(value)
    if number is None or number < 1 or (most is not None and number > most):
        allowed = "of at least 1" if most is None else f"from 1 to {most}"
        raise InputError("CEL-B007", allowed=allowed, value=value)
    return number


def check_epsilon(value: object) -> float:
    """An epsilon to ask a loss about; it may be infinite.

    Raises:
        InputError: CEL-B001 not a number of at least 0.
    """
    number = real(value)
    if number is None or not number >= 0:
        raise InputError("CEL-B001.check_epsilon", value=value)
    return number


def check_order(value: object) -> float:
    """An order of a Renyi divergence.

    Raises:
        InputError: CEL-B006 not a finite number above 1.
    """
    number = real(value)
    if number is None or not 1 < number < inf:
        raise InputError("CEL-B006", value=value)
    return number


@lru_cache(maxsize=4096)
def round_up(value: Fraction) -> float:
    """The nearest float that does not mean less than a fraction.

    A float means its shortest decimal, as everywhere here, so 3/10 is 0.3.

    >>> round_up(Fraction(3, 10)), round_up(Fraction(1, 3)) > 1 / 3
    (0.3, True)
    """
    try:
        number = float(value)
    except OverflowError:
        return inf
    meant = exact(number)
    return number if meant is not None and meant >= value else nextafter(number, inf)


def format_amount(value: Fraction) -> str:
    """A fraction as a person would write it: as a decimal where it is short, else as a fraction.

    >>> format_amount(Fraction(3, 10)), format_amount(Fraction(1, 3)), format_amount(Fraction(2))
    ('0.3', '1/3', '2')
    """
    if value.denominator == 1:
        return str(value.numerator)
    number = float(value)
    return repr(number) if exact(number) == value else str(value)
