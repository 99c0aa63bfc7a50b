"""Parameters of mechanisms, declared once; refused before noise is drawn or budget is spent."""

from __future__ import annotations

from dataclasses import MISSING, field
from fractions import Fraction
from typing import Any

from celosia.core.errors import InputError, PrivacyError
from celosia.core.methods import Parameter, bad_parameter, checked
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import real, whole

LEAST_EPSILON = Fraction(1, 10**9)
MOST_EPSILON = Fraction(100)
"""e^100: beyond it there is no protection, and the number is most likely a slip."""

EPSILON = Parameter(name="epsilon", kind="exact", least=1e-9, most=100, start=1, is_main=True)
RHO = Parameter(name="rho", kind="exact", least=1e-9, most=100, start=0.5)
DELTA = Parameter(name="delta", kind="number", above=0, below=1, start=1e-6)
DELTA_OR_ZERO = Parameter(name="delta", kind="number", least=0, below=1, start=1e-6)
CONFIDENCE = Parameter(name="confidence", kind="number", above=0, below=1, start=0.95)
SENSITIVITY = Parameter(name="sensitivity", kind="exact", above=0, start=1)
LOWER = Parameter(name="lower", kind="exact", start=0, is_main=True)
UPPER = Parameter(name="upper", kind="exact", start=100, is_main=True)
ERROR = Parameter(name="error", kind="exact", least=0)

WORD = "mechanism"
"""What is told to be wrong where a number is checked that belongs to no one mechanism."""


def field_of(declared: Parameter, default: Any = MISSING) -> Any:
    """A field of a mechanism; `parameter` is a word of mechanisms themselves."""
    return field(default=default, metadata={"parameter": declared})


def whole_number(*, least: int = 1, most: int = 2**53) -> Parameter:
    """A whole number in a range."""
    return Parameter(kind="whole", least=least, most=most)


def check_epsilon(epsilon: object, *, name: str = "epsilon") -> Fraction:
    """An epsilon, or a rho, as an exact number.

    >>> check_epsilon(0.1)
    Fraction(1, 10)

    Raises:
        InputError: CEL-I060 not a number from 1e-9 to 100.
    """
    found: Fraction = checked(WORD, RHO if name == "rho" else EPSILON, epsilon)
    return found


def check_delta(delta: object, *, zero: bool = False) -> float:
    """A delta above 0 (or from 0 where `zero` is allowed) and below 1.

    Raises:
        InputError: CEL-I060 it is not.
    """
    return float(checked(WORD, DELTA_OR_ZERO if zero else DELTA, delta))


def check_confidence(confidence: object) -> float:
    """A confidence strictly between 0 and 1.

    Raises:
        InputError: CEL-I060 it is not.
    """
    number = real(confidence)
    if number is None or not 0 < number < 1:  # as `checked`, but searches ask for it often
        raise bad_parameter(WORD, CONFIDENCE, confidence)
    return number


def check_sensitivity(sensitivity: object) -> Fraction:
    """A sensitivity: how far one neighbour step can move the answer.

    Raises:
        InputError: CEL-I060 not a positive number.
    """
    found: Fraction = checked(WORD, SENSITIVITY, sensitivity)
    return found


def check_bounds(lower: object, upper: object) -> tuple[Fraction, Fraction]:
    """The range that values are clipped to.

    Raises:
        InputError: CEL-I060 not two numbers; CEL-M006 the lower is not below the upper.
    """
    low, high = checked(WORD, LOWER, lower), checked(WORD, UPPER, upper)
    if low >= high:
        raise InputError("CEL-M006", lower=lower, upper=upper)
    return low, high


def check_whole(value: object, *, name: str, least: int = 1, most: int = 2**53) -> int:
    """A whole number in a range.

    Raises:
        InputError: CEL-I060 it is not.
    """
    number = whole(value)
    if number is None or not least <= number <= most:  # as `checked`, but each draw asks for it
        declared = Parameter(name=name, kind="whole", least=least, most=most)
        raise bad_parameter(WORD, declared, value)
    return number


def check_error(error: object) -> Fraction:
    """An error of at least 0.

    Raises:
        InputError: CEL-I060 it is not.
    """
    found: Fraction = checked(WORD, ERROR, error)
    return found


def check_monotone(monotone: bool, neighbours: Neighbours, *, code: str) -> None:
    """Refuse the claim that all of many numbers move in one direction where it cannot hold.

    Args:
        monotone: the claim.
        neighbours: under which it is made.
        code: of the refusal.

    Raises:
        PrivacyError: a unit is changed.
    """
    if monotone and neighbours.relation is not Relation.ADD_REMOVE:
        raise PrivacyError(code)
