"""How an epsilon and a chance of failure are shared out; public, so floats may do for chances."""

from __future__ import annotations

from fractions import Fraction

from celosia.core.errors import InputError
from celosia.core.numbers import exact


def check_share(share: object, *, name: str) -> Fraction:
    """A share of a whole as an exact number.

    >>> check_share(0.25, name="share")
    Fraction(1, 4)

    Raises:
        InputError: CEL-Q085 not a number from 1e-9 to 0.99.
    """
    number = exact(share)
    if number is None or not Fraction(1, 10**9) <= number <= Fraction(99, 100):
        raise InputError("CEL-Q085", name=name, share=share)
    return number


def split_failure(chance: float, size: int) -> tuple[float, ...]:
    """A chance shared out over the rungs of a ladder, each part the root of 2 below the one before.

    A false alarm costs in proportion to the cap of its rung, so that high rungs must be rarer; a
    part that falls with the cap itself would make true alarms there too rare. The last rung may be
    less than twice the one before, which does not matter.

    >>> [round(part, 4) for part in split_failure(0.05, 3)]
    [0.0227, 0.016, 0.0113]
    """
    weights = [2.0 ** (-rung / 2) for rung in range(size)]
    return tuple(chance * weight / sum(weights) for weight in weights)
