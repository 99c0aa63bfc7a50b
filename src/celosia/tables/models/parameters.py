"""Checks that the parameters of models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from celosia.core.errors import InputError
from celosia.core.numbers import real, whole
from celosia.tables.models.model import Model

LEAST, MOST = 1e-12, 1_000_000_000
"""Parameters beyond these mean nothing for a table of people, and would overflow the arithmetic."""

TIE = 1e-12
"""Relative difference below which two sides of a condition count as equal."""

SLACK = 1e-9
"""How far the proven bounds stay on the safe side of rounding; larger than `TIE` on purpose."""


def put(model: Model, **values: object) -> None:
    """Set checked parameters of a frozen model: NumPy's numbers do not fit into JSON."""
    for name, value in values.items():
        object.__setattr__(model, name, value)


def whole_parameter(  # noqa: PLR0913 - a rule is a name, a bound and the words around them
    code: str, name: str, value: object, least: int, *, why: str, fix: str
) -> int:
    """A whole number of at least `least`, or an error that says what is wanted."""
    number = whole(value)
    if number is None or not least <= number <= MOST:
        rule = f"at most {MOST:,}" if number and number > MOST else f"at least {least}"
        raise InputError(
            code,
            f"{name} must be a whole number of {rule}, got {value!r}.",
            why=why,
            fix=fix,
            **{name: value},
        )
    return number


def real_parameter(  # noqa: PLR0913 - a rule is a name, a range and the words around them
    code: str,
    name: str,
    value: object,
    within: Callable[[float], bool],
    rule: str,
    *,
    why: str,
    fix: str,
) -> float:
    """A finite number within a range, or an error that says what is wanted."""
    number = real(value)
    if number is None or not within(number) or not (number == 0 or LEAST <= number <= MOST):
        raise InputError(
            code, f"{name} must be {rule}, got {value!r}.", why=why, fix=fix, **{name: value}
        )
    return number


def group_size(k: object) -> int:
    """The `k` of a model: the number of records or people that it asks for."""
    return whole_parameter(
        "CEL-P010",
        "k",
        k,
        2,
        why="A class of one is a single person.",
        fix="Try k = 5, the usual choice.",
    )


def sampling_share(value: object) -> float:
    """The share of the population that is in the table."""
    return real_parameter(
        "CEL-P026",
        "sampling_fraction",
        value,
        lambda share: 0 < share <= 1,
        "a number above 0 and at most 1",
        why="It is the share of the population that is in the table.",
        fix="Divide the records of the table by the size of the population, such as 0.1.",
    )


def flag(name: str, value: object) -> bool:
    """A choice of yes or no."""
    if not isinstance(value, bool | np.bool_):
        raise InputError("CEL-P037", name=name, value=value, **{name: value})
    return bool(value)


def column_name(value: object) -> str | None:
    """The name of a sensitive column, or None for every one."""
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError("CEL-P039", column=value)
    return value


def plain(model: Model, name: str) -> dict[str, Any]:
    """The name of a model and its parameters; `model_from_dict` reads it back."""
    return {"model": name} | {
        each.name: getattr(model, each.name)
        for each in fields(model)  # type: ignore[arg-type]  # every model is a dataclass
    }
