"""Values given and released: as arrays, as plain Python, in few digits, in intervals from zero."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message, say


def plain(value: Any) -> Any:
    """A released value as plain Python numbers, lists and mappings."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return str(value)


def short(value: Any) -> str:
    """A released value on one line.

    >>> short(54321.125), short([1, 2, 3]), short({"a": 1, "b": 2})
    ('54,321.1', '1, 2, 3', 'a 1, b 2')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {short(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(short(each) for each in value)
    if isinstance(value, float):
        return say("mechanisms.number", value=value, form=",.6g")
    return say("mechanisms.number", value=value, form=",") if isinstance(value, int) else str(value)


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


def array_of(values: Any) -> NDArray[Any] | None:
    """The values as an array, or None: lists of unequal lengths, or what is hidden under a mask.

    >>> array_of([1, 2]), array_of([[1], [2, 3]])
    (array([1, 2]), None)
    """
    # None, and no refusal from here: an error raised while NumPy's is handled would carry that
    # along, and its text may hold values. NumPy forgets a mask, and would use what is under it.
    try:
        return None if np.ma.is_masked(values) else np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None


def format_rounded_up(number: float, digits: int = 6) -> str:
    """A number in few digits that do not say less than it is.

    >>> format_rounded_up(0.5), format_rounded_up(1.0100501671)
    ('0.5', '1.01006')
    """
    return f"{rounded_up(number, digits):.{digits}g}"


def rounded_up(number: float, digits: int = 6) -> float:
    """A number of few digits that is not below the given one.

    >>> rounded_up(1.0100501671)
    1.01006
    """
    if not isfinite(number):
        return number
    return float(Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(number)))))
