"""Masking methods by the names that recipes call them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.tables.masking.method import Method


def methods() -> dict[str, type[Method]]:
    """Every method by its name, sorted.

    >>> {"mdav", "noise", "rank-swap", "pram", "sampling", "copula"} <= set(methods())
    True
    """
    # Here and not above: most of them load compiled kernels.
    from celosia.tables import private, synthesis  # noqa: PLC0415
    from celosia.tables.masking import (  # noqa: PLC0415
        coding,
        microaggregation,
        perturbation,
        suppression,
    )

    packages = (coding, microaggregation, perturbation, suppression, synthesis, private)
    found = {each.kind: each for package in packages for each in package.METHODS}
    return dict(sorted(found.items()))


def method_from(name: Any, parameters: Mapping[str, Any]) -> Method:
    """A method by its name with its parameters, as a step of a recipe gives them.

    Raises:
        InputError: CEL-V010 no method of that name; CEL-V011 a parameter it does not have;
            CEL-V012 one that it needs is not given; or the method refuses a value.

    >>> method_from("mdav", {"k": 5}).as_dict()
    {'method': 'mdav', 'k': 5}
    """
    known = methods()
    if not isinstance(name, str) or name not in known:
        raise InputError(
            "CEL-V010",
            f"there is no masking method {name!r}{did_you_mean(str(name), known)}.",
            fix=f"Choose one of {', '.join(known)}.",
        )
    kind = known[name]
    allowed = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    for key in parameters:
        if key not in allowed:
            raise InputError(
                "CEL-V011",
                f"{name} has no parameter '{key}'{did_you_mean(key, allowed)}.",
                why="A misspelt parameter would be ignored in silence.",
                fix=f"Use: {', '.join(allowed)}." if allowed else "It takes none.",
            )
    for each in fields(kind):  # type: ignore[arg-type]
        needed = each.default is MISSING and each.default_factory is MISSING
        if needed and each.name not in parameters:
            raise InputError(
                "CEL-V012",
                f"{name} needs the parameter '{each.name}'.",
                fix=f"Add {each.name} = ... to its step.",
            )
    return kind(**parameters)
