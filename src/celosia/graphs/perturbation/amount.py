"""The amount of change: a number of edges, or a share of them."""

from __future__ import annotations

from math import floor
from typing import Any

from celosia.core.methods import parameter
from celosia.core.numbers import exact, whole


def amount_of_change() -> Any:
    """The `amount` of a method: a whole number of at least 0, or a share in [0, 1]."""
    return parameter(kind="number", least=0, check=_check_amount, allowed="words.amount", start=0.2)


def _check_amount(amount: Any) -> Any:
    number, share = whole(amount), exact(amount)
    if share is None or share < 0 or (number is None and share > 1):
        raise ValueError(amount)
    return amount


def count_of(amount: float, size: int) -> int:
    """How many edges are meant in a graph with `size` of them, a share rounded to the nearest.

    >>> count_of(3, 12), count_of(0.25, 12), count_of(1.0, 12)
    (3, 3, 12)
    """
    number, share = whole(amount), exact(amount)
    assert share is not None, "checked on creation"
    return number if number is not None else floor(share * size + exact(0.5))  # type: ignore[operator]
