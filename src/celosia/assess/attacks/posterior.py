"""The belief of an attacker who knows the population, before and after a release."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from celosia.core.errors import InputError
from celosia.core.numbers import real


def posterior(
    class_counts: Mapping[str, float],
    f_given_q: Mapping[str, float],
    f_given_class: Mapping[str, float],
) -> dict[str, float]:
    """The attacker's belief in each value of a person, given the person's class.

    Args:
        class_counts: n(q*, s), how many records of the class have each value.
        f_given_q: f(s | q), how common each value is among people with the same quasi-identifiers:
            the prior belief.
        f_given_class: f(s | q*), the same among all whose quasi-identifiers generalise to q*.

    The belief in s is n(q*, s) f(s|q) / f(s|q*), divided by the sum of this over all values. Where
    both frequencies agree, it is the share of the value in its class.

    >>> posterior({"flu": 1, "cold": 1}, {"flu": 0.1, "cold": 0.9}, {"flu": 0.5, "cold": 0.5})
    {'flu': 0.1, 'cold': 0.9}

    Raises:
        InputError: CEL-A060 a frequency is missing or is none, or the class cannot be.

    Reference: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, theorem 3.1.
    """
    weights = {
        value: _weight(count, f_given_q.get(value), f_given_class.get(value))
        for value, count in class_counts.items()
    }
    total = sum(weights.values())
    if not total > 0:
        raise InputError("CEL-A060.no_value")
    return {value: weight / total for value, weight in weights.items()}


def positive_disclosures(beliefs: Mapping[str, float], *, delta: float) -> tuple[str, ...]:
    """The values that the attacker is nearly sure of: belief above 1 - delta.

    >>> positive_disclosures({"flu": 0.95, "cold": 0.05}, delta=0.1)
    ('flu',)
    """
    return tuple(value for value, belief in beliefs.items() if belief > 1 - delta)


def negative_disclosures(beliefs: Mapping[str, float], *, epsilon: float) -> tuple[str, ...]:
    """The values that the attacker can nearly rule out: belief below epsilon.

    >>> negative_disclosures({"flu": 0.95, "cold": 0.05}, epsilon=0.1)
    ('cold',)
    """
    return tuple(value for value, belief in beliefs.items() if belief < epsilon)


def _weight(count: float, given_q: float | None, given_class: float | None) -> float:
    """The share before it is divided by the sum."""
    number = real(count)
    if number is None or not (number >= 0 and isfinite(number)):
        raise InputError("CEL-A060.no_count")
    if number == 0:
        return 0.0
    frequencies = [real(given_q), real(given_class)]
    if any(f is None or not 0 <= f <= 1 for f in frequencies):
        raise InputError("CEL-A060.no_frequency")
    before, among = (f or 0.0 for f in frequencies)
    if among == 0:
        raise InputError("CEL-A060.zero_frequency")
    return number * before / among
