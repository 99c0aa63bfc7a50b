"""Parameters of mechanisms, refused before any noise is drawn or any budget is spent."""

from __future__ import annotations

from fractions import Fraction

from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import exact, real, whole

LEAST_EPSILON = Fraction(1, 10**9)
MOST_EPSILON = Fraction(100)
"""e^100: beyond it there is no protection, and the number is most likely a slip."""


def check_epsilon(epsilon: object, *, name: str = "epsilon") -> Fraction:
    """An epsilon as an exact number.

    >>> check_epsilon(0.1)
    Fraction(1, 10)

    Raises:
        InputError: CEL-M002 not a number from 1e-9 to 100.
    """
    number = exact(epsilon)
    if number is None or not LEAST_EPSILON <= number <= MOST_EPSILON:
        raise InputError("CEL-M002", name=name, epsilon=epsilon)
    return number


def check_delta(delta: object, *, zero: bool = False) -> float:
    """A delta above 0 (or from 0 where `zero` is allowed) and below 1.

    Raises:
        InputError: CEL-M003 it is not.
    """
    number = real(delta)
    if number is None or not (0 <= number < 1) or (number == 0 and not zero):
        least = "at least 0" if zero else "above 0"
        raise InputError("CEL-M003", least=least, delta=delta)
    return number


def check_confidence(confidence: object) -> float:
    """A confidence strictly between 0 and 1.

    Raises:
        InputError: CEL-M004 it is not.
    """
    number = real(confidence)
    if number is None or not 0 < number < 1:
        raise InputError("CEL-M004", confidence=confidence)
    return number


def check_sensitivity(sensitivity: object) -> Fraction:
    """A sensitivity: how far one neighbour step can move the answer.

    Raises:
        InputError: CEL-M005 not a positive number.
    """
    number = exact(sensitivity)
    if number is None or number <= 0:
        raise InputError("CEL-M005.not_positive", sensitivity=sensitivity)
    return number


def check_bounds(lower: object, upper: object) -> tuple[Fraction, Fraction]:
    """The range that values are clipped to.

    Raises:
        InputError: CEL-M006 not two numbers, the lower below the upper.
    """
    low, high = exact(lower), exact(upper)
    if low is None or high is None or low >= high:
        raise InputError("CEL-M006", lower=lower, upper=upper)
    return low, high


def check_whole(value: object, *, name: str, least: int = 1, most: int = 2**53) -> int:
    """A whole number in a range.

    Raises:
        InputError: CEL-M007 it is not.
    """
    number = whole(value)
    if number is None or not least <= number <= most:
        raise InputError("CEL-M007", name=name, least=least, most=most, value=value)
    return number


def check_may_be_empty(may_be_empty: object) -> None:
    """Refuse anything but True and False.

    Raises:
        InputError: CEL-M084 it is something else.
    """
    if not isinstance(may_be_empty, bool):
        raise InputError("CEL-M084")


def check_monotone(monotone: object, neighbours: Neighbours, *, code: str) -> None:
    """Refuse the claim that all of many numbers move in one direction where it cannot hold.

    Args:
        monotone: the claim.
        neighbours: under which it is made.
        code: of the refusal.

    Raises:
        InputError: neither True nor False.
        PrivacyError: a unit is changed.
    """
    if not isinstance(monotone, bool):
        raise InputError(f"{code}.not_boolean")
    if monotone and neighbours.relation is not Relation.ADD_REMOVE:
        raise PrivacyError(f"{code}.changed_unit")
