"""Amounts of privacy, checked and read exactly; and computed ones, rounded to one side.

Promises and targets of users (`epsilon_amount` and its like) have limits that keep out slips. What
a loss is made of, or asked about (`check_cost` and its like), may be any number that makes sense.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf, isinf, nextafter

from celosia.core.methods import Parameter, bad_parameter
from celosia.core.numbers import exact, real, whole

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """An amount of a budget: an epsilon, and a delta, the chance that the promise fails.

    Or the amount is a rho of zero-concentrated differential privacy, or a Renyi curve. Then epsilon
    is what that amounts to at the delta, see `currencies.spending_of`.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    curve: tuple[tuple[Fraction, Fraction], ...] = ()
    """The most Renyi divergence of some orders, the least order first."""

    @property
    def currency(self) -> str:
        """In what charges are added up: `epsilon`, `rho` or `renyi`."""
        return "rho" if self.rho is not None else "renyi" if self.curve else "epsilon"


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


"""What is told to be wrong: these numbers belong to no one method."""
COST = Parameter(name="epsilon", kind="exact", least=0)
CHANCE = Parameter(name="delta", kind="number", least=0, most=1)
NOISE = Parameter(name="scale", kind="exact", above=0)
SHIFT = Parameter(name="shift", kind="whole", least=1)
TIMES = Parameter(name="times", kind="whole", least=1)
ASKED_EPSILON = Parameter(name="epsilon", kind="number", least=0)
ORDER = Parameter(name="order", kind="number", above=1)

# The ranges are tested here once more: accounts ask thousands of times, and `core.methods.checked`
# would take twice as long.


def check_cost(value: object, *, name: str = "epsilon") -> Fraction:
    """A finite cost of at least 0 as an exact number.

    Raises:
        InputError: CEL-I060 it is not.
    """
    number = exact(value)
    if number is None or number < 0:
        raise bad_parameter(WORD, replace(COST, name=name), value)
    return number


def check_chance(value: object, *, name: str = "delta") -> float:
    """A probability.

    Raises:
        InputError: CEL-I060 not a number from 0 to 1.
    """
    number = real(value)
    if number is None or not 0 <= number <= 1:
        raise bad_parameter(WORD, replace(CHANCE, name=name), value)
    return number


def check_noise(value: object, *, name: str) -> Fraction:
    """A scale or a variance of noise, as an exact number.

    Raises:
        InputError: CEL-I060 not a finite number above 0.
    """
    number = exact(value)
    if number is None or number <= 0:
        raise bad_parameter(WORD, replace(NOISE, name=name), value)
    return number


def check_shift(value: object) -> int:
    """The most steps that one neighbour can move a number by.

    Raises:
        InputError: CEL-I060 not a whole number of at least 1.
    """
    number = whole(value)
    if number is None or number < 1:
        raise bad_parameter(WORD, SHIFT, value)
    return number


def check_times(value: object, *, most: int | None = None) -> int:
    """How many releases there are.

    Raises:
        InputError: CEL-I060 not a whole number of at least 1, and at most `most`.
    """
    number = whole(value)
    if number is None or number < 1 or (most is not None and number > most):
        raise bad_parameter(WORD, replace(TIMES, most=most), value)
    return number


def check_epsilon(value: object) -> float:
    """An epsilon to ask a loss about; it may be infinite.

    Raises:
        InputError: CEL-I060 not a number of at least 0.
    """
    number = real(value)
    if number is None or not number >= 0:
        raise bad_parameter(WORD, ASKED_EPSILON, value)
    return number


def check_order(value: object) -> float:
    """An order of a Renyi divergence.

    Raises:
        InputError: CEL-I060 not a finite number above 1.
    """
    number = real(value)
    if number is None or not 1 < number < inf:
        raise bad_parameter(WORD, ORDER, value)
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
