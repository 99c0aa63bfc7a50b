"""The amount of change: a number of edges, or a share of them."""

from __future__ import annotations

from math import floor

from celosia.core.errors import InputError
from celosia.core.numbers import exact, whole


def check_amount(amount: object) -> None:
    """Refuse what is neither a whole number of at least 0 nor a share in [0, 1].

    Raises:
        InputError: CEL-G053 otherwise.
    """
    number, share = whole(amount), exact(amount)
    if share is None or share < 0 or (number is None and share > 1):
        raise InputError("CEL-G053", amount=amount)


def count_of(amount: float, size: int) -> int:
    """How many edges are meant in a graph with `size` of them, a share rounded to the nearest.

    >>> count_of(3, 12), count_of(0.25, 12), count_of(1.0, 12)
    (3, 3, 12)
    """
    number, share = whole(amount), exact(amount)
    assert share is not None, "checked on creation"
    return number if number is not None else floor(share * size + exact(0.5))  # type: ignore[operator]
