"""Numbers as they come from users: Python's own and NumPy's, but no truth values and no texts."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real


def whole(value: object) -> int | None:
    """The whole number that a value is, or None.

    >>> whole(5), whole(True), whole("5"), whole(5.0)
    (5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    return int(value)


def real(value: object) -> float | None:
    """The number that a value is, or None; also for one too large to be a float.

    >>> real(0.5), real(1), real(True), real("0.5")
    (0.5, 1.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all measure
        return None


def exact(value: object) -> Fraction | None:
    """The number that a value is written as, without rounding; None for NaN, infinity and texts.

    A float means the shortest decimal that reads back as it: 0.1 is one tenth, not the binary
    number next to it, so that ten charges of 0.1 make 1.

    >>> exact(0.1), exact(3), exact(Fraction(1, 3)), exact("0.1"), exact(float("nan"))
    (Fraction(1, 10), Fraction(3, 1), Fraction(1, 3), None, None)
    """
    if type(value) is Fraction:
        return value
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, bool):
        return None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    number = real(value)
    if number is None or not isfinite(number):
        return None
    return Fraction(repr(number))


def exactly(value: object) -> Fraction:
    """`exact` of a number that was checked when it came in."""
    found = exact(value)
    assert found is not None, "checked before"
    return found
