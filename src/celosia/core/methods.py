"""Methods by name: a class from a registry and its parameters from a file or a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean

Kind = TypeVar("Kind")


def build(known: Mapping[str, type[Kind]], name: Any, parameters: Mapping[str, Any]) -> Kind:
    """One of the known classes, each a dataclass whose fields are its parameters.

    Raises:
        InputError: CEL-V010 no method of that name; CEL-V011 a parameter it does not have;
            CEL-V012 one that it needs is not given; or the method refuses a value.
    """
    if not isinstance(name, str) or name not in known:
        raise InputError(
            "CEL-V010", name=name, hint=did_you_mean(str(name), known), known=", ".join(known)
        )
    kind = known[name]
    allowed = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    for key in parameters:
        if key not in allowed:
            raise InputError(
                "CEL-V011.unknown" if allowed else "CEL-V011.none",
                name=name,
                parameter=key,
                hint=did_you_mean(key, allowed),
                allowed=list(allowed),
            )
    for key, each in allowed.items():
        needed = each.default is MISSING and each.default_factory is MISSING
        if needed and key not in parameters:
            raise InputError("CEL-V012", name=name, key=key)
    return kind(**parameters)
