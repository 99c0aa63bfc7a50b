"""Numbers as they come from users: Python's own and NumPy's, but no truth values and no texts."""

from __future__ import annotations

from numbers import Integral, Real


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
