"""Checks that the parameters of masking methods share; what fails is named, never a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import real, whole
from celosia.core.wording import did_you_mean

LARGEST = 1e100
"""Parameters beyond this mean nothing for a table, and their squares would leave the floats."""


def wrong(kind: str, name: str, expected: Message) -> InputError:
    """The error for a parameter that is not what its method expects.

    What was received is left out: an order or a mapping holds values of the data.

    >>> print(wrong("noise", "amount", Message("tables.must_be.number_at_least", least=0)))
    noise: 'amount' must be a number of at least 0. See the reference of the method.
    """
    return InputError("CEL-V200", expected=expected, method=kind, parameter=name)


def number(
    kind: str, name: str, value: object, within: Callable[[float], bool], rule: Message
) -> float:
    """A finite number within a range, or an error that says what is wanted."""
    found = real(value)
    if found is None or not abs(found) <= LARGEST or not within(found):
        raise wrong(kind, name, rule)
    return found


def whole_number(kind: str, name: str, value: object, *, least: int) -> int:
    """A whole number of at least `least`, within 64 bits."""
    found = whole(value)
    if found is None or not least <= found < 2**63:
        raise wrong(kind, name, Message("tables.must_be.whole_at_least", least=least))
    return found


def choice(kind: str, name: str, value: object, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        hint = did_you_mean(value, allowed)
        raise wrong(kind, name, Message("tables.must_be.one_of", allowed=list(allowed), hint=hint))
    return value


def flag(kind: str, name: str, value: object) -> bool:
    """True or false, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise wrong(kind, name, Message("tables.must_be.true_or_false"))
    return value


def listed(kind: str, name: str, value: object, expected: Message) -> tuple[Any, ...]:
    """A list as a tuple; a text is no list, though Python could walk through it."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise wrong(kind, name, expected)
    return tuple(value)


def names(kind: str, name: str, value: object) -> tuple[str, ...]:
    """A list of different texts; one text alone counts as a list of it."""
    rule = Message("tables.must_be.texts")
    found = (value,) if isinstance(value, str) else listed(kind, name, value, rule)
    if not all(isinstance(each, str) for each in found) or len(set(found)) != len(found):
        raise wrong(kind, name, Message("tables.must_be.different_texts"))
    return found


def ordered_values(kind: str, name: str, value: object) -> tuple[Any, ...]:
    """A list of different texts, or of different numbers, from least to greatest."""
    rule = Message("tables.must_be.different_values")
    found = listed(kind, name, value, rule)
    texts = all(isinstance(each, str) for each in found)
    if not (texts or all(real(each) is not None for each in found)) or len(set(found)) < len(found):
        raise wrong(kind, name, rule)
    return found


def exactly_one(kind: str, given: Mapping[str, object]) -> str:
    """The one parameter that is not None; none or several are refused.

    >>> exactly_one("noise", {"amount": 0.1, "alpha": None})
    'amount'
    """
    found = [name for name, value in given.items() if value is not None]
    if not found:
        raise InputError("CEL-V201.none_given", given=list(given), method=kind)
    if len(found) > 1:
        raise InputError("CEL-V201.several_given", given=list(given), found=found, method=kind)
    return found[0]


def put(method: object, **values: object) -> None:
    """Set checked parameters of a frozen method: NumPy's numbers do not fit into JSON."""
    for name, value in values.items():
        object.__setattr__(method, name, value)
