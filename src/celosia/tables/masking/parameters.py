"""Checks that the parameters of masking methods share; what fails is named, never a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from celosia.core.errors import InputError
from celosia.core.numbers import real, whole
from celosia.core.wording import did_you_mean

LARGEST = 1e100
"""Parameters beyond this mean nothing for a table, and their squares would leave the floats."""


def wrong(kind: str, name: str, expected: str) -> InputError:
    """The error for a parameter that is not what its method expects.

    What was received is left out: an order or a mapping holds values of the data.

    >>> print(wrong("noise", "amount", "a number of at least 0"))
    noise: 'amount' must be a number of at least 0. See the reference of the method.
    """
    return InputError("CEL-V200", expected=expected, method=kind, parameter=name)


def number(
    kind: str, name: str, value: object, within: Callable[[float], bool], rule: str
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
        raise wrong(kind, name, f"a whole number of at least {least}")
    return found


def choice(kind: str, name: str, value: object, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise wrong(kind, name, f"one of {', '.join(allowed)}{did_you_mean(value, allowed)}")
    return value


def flag(kind: str, name: str, value: object) -> bool:
    """True or false, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise wrong(kind, name, "true or false")
    return value


def listed(kind: str, name: str, value: object, expected: str) -> tuple[Any, ...]:
    """A list as a tuple; a text is no list, though Python could walk through it."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise wrong(kind, name, expected)
    return tuple(value)


def names(kind: str, name: str, value: object) -> tuple[str, ...]:
    """A list of different texts; one text alone counts as a list of it."""
    found = (value,) if isinstance(value, str) else listed(kind, name, value, "a list of texts")
    if not all(isinstance(each, str) for each in found) or len(set(found)) != len(found):
        raise wrong(kind, name, "a list of different texts")
    return found


def ordered_values(kind: str, name: str, value: object) -> tuple[Any, ...]:
    """A list of different texts, or of different numbers, from least to greatest."""
    found = listed(kind, name, value, "a list of different texts or numbers")
    texts = all(isinstance(each, str) for each in found)
    if not (texts or all(real(each) is not None for each in found)) or len(set(found)) < len(found):
        raise wrong(kind, name, "a list of different texts or numbers")
    return found


def exactly_one(kind: str, given: Mapping[str, object]) -> str:
    """The one parameter that is not None; none or several are refused.

    >>> exactly_one("noise", {"amount": 0.1, "alpha": None})
    'amount'
    """
    found = [name for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise InputError(
            "CEL-V201",
            given=", ".join(given),
            found=" and ".join(found) or "none of them",
            method=kind,
        )
    return found[0]


def not_together(kind: str, first: str, second: str, why: str) -> InputError:
    """The error for two parameters that exclude each other."""
    return InputError(
        "CEL-V201",
        f"{kind}: '{first}' and '{second}' do not go together.",
        why=why,
        fix="Leave one of them out.",
        method=kind,
    )


def put(method: object, **values: object) -> None:
    """Set checked parameters of a frozen method: NumPy's numbers do not fit into JSON."""
    for name, value in values.items():
        object.__setattr__(method, name, value)
