"""Intervals of numbers that cannot be below zero, from noisy ones that can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from celosia.core.messages import Message

Key = TypeVar("Key")


def below_zero() -> Message:
    """The warning about a single number that noise took below zero."""
    return Message("mechanisms.warning.below_zero")


def from_zero(low: Any, value: Any, high: Any) -> tuple[Any, Any]:
    """Bounds of an exact number that is at least 0, which hold the released number as well.

    Cutting both bounds off at 0 loses nothing: the exact number is not below it. The released
    number stays as it is, because sums of numbers that are cut off are too high on average; where
    it is below 0 the lower bound is this number, and where it lies above the bounds the upper one.

    Args:
        low: the lower bound before it is cut off, a number or an array.
        value: what was released.
        high: the upper bound before it is cut off.

    >>> from_zero(2, 5, 8), from_zero(-1, 2, 5)
    ((2, 8), (0, 5))
    >>> from_zero(-5, -2, 1), from_zero(-9, -6, -3)
    ((-2, 1), (-6, 0))
    """
    if isinstance(value, np.ndarray):
        return np.minimum(value, np.maximum(low, 0)), np.maximum(value, np.maximum(high, 0))
    return min(value, max(low, 0)), max(value, high, 0)


def counts_from_zero(
    counts: Mapping[Key, int], error: int
) -> tuple[dict[Key, int], dict[Key, int]]:
    """Lower and upper bounds of exact counts by key, which hold the released counts as well.

    >>> counts_from_zero({"a": 5, "b": -2}, 3)
    ({'a': 2, 'b': -2}, {'a': 8, 'b': 1})
    """
    ends = {key: from_zero(count - error, count, count + error) for key, count in counts.items()}
    return {key: low for key, (low, _) in ends.items()}, {
        key: high for key, (_, high) in ends.items()
    }
