"""Checks and the written form that all builders share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean


def wrong(kind: str, key: str, expected: Message) -> InputError:
    """The error for a parameter that is not what its builder expects.

    What was received is left out: parameters such as an order or a tree hold values of the data.

    >>> print(wrong("mask", "character", Message("tables.must_be.one_character")))
    mask: 'character' must be one character. See the reference of hierarchies for examples.
    """
    return InputError("CEL-H020", expected=expected, kind=kind, key=key)


def items(kind: str, key: str, value: object, expected: Message) -> tuple[Any, ...]:
    """A list parameter as a tuple; a text is no list, though Python could walk through it."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise wrong(kind, key, expected)
    return tuple(value)


def is_number(value: object) -> bool:
    """True for a finite number, within what a float can hold, that is not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 10**300 and math.isfinite(value)


def is_whole(value: object, *, minimum: int) -> bool:
    """True for a whole number of at least `minimum` that is not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def whole_numbers(kind: str, key: str, value: object, *, minimum: int) -> tuple[int, ...]:
    """A list of increasing whole numbers as a tuple."""
    expected = Message("tables.must_be.rising_whole_numbers", least=minimum)
    numbers = items(kind, key, value, expected)
    rising = all(is_whole(number, minimum=minimum) for number in numbers) and all(
        low < high for low, high in pairwise(numbers)
    )
    if not rising:
        raise wrong(kind, key, expected)
    return numbers


def check_multiples(kind: str, key: str, numbers: Sequence[int]) -> None:
    """Refuse levels that do not nest: each number must be a multiple of the one before."""
    for level in range(1, len(numbers)):
        if numbers[level] <= numbers[level - 1] or numbers[level] % numbers[level - 1]:
            raise InputError("CEL-H021.not_a_multiple", kind=kind, key=key, level=level + 1)


def check_choice(kind: str, key: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a word that is not one of `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        hint = did_you_mean(value, allowed)
        raise wrong(kind, key, Message("tables.must_be.one_of", allowed=list(allowed), hint=hint))


def check_flag(kind: str, key: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise wrong(kind, key, Message("tables.must_be.true_or_false"))


def as_written(kind: str, builder: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults, as TOML can write them."""
    table: dict[str, Any] = {"kind": kind}
    for field in fields(builder):
        value = getattr(builder, field.name)
        if value != field.default:
            table[field.name] = _plain(value)
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    return value
