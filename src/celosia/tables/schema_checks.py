"""Checks of what a schema says, whether in a file or in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean


def name_list(names: str | Iterable[str]) -> list[str]:
    """Column names as a list; a text is one name, not a row of letters."""
    return [names] if isinstance(names, str) else list(names)


def check_choice(value: Any, allowed: Iterable[str], place: str, kind: type) -> Any:
    """The value as `kind`, refused unless it is one of the allowed words."""
    options = [str(option) for option in allowed]
    if not isinstance(value, str) or value not in options:
        raise InputError(
            "CEL-S007.not_allowed",
            place=place,
            options=", ".join(options),
            value=value,
            hint=did_you_mean(value, options),
        )
    return kind(value)


def section(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of settings by its name; empty if it is not there."""
    found = table.get(name, {})
    if not isinstance(found, Mapping):
        raise InputError("CEL-S008", name=name, kind=type(found).__name__)
    return found


def check_keys(table: Mapping[str, Any], allowed: set[str], place: str) -> None:
    """Refuse keys that are not known."""
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise InputError(
            "CEL-S009",
            place=place,
            unknown=unknown[0],
            hint=did_you_mean(unknown[0], allowed),
            allowed=", ".join(sorted(allowed)),
        )


def in_column(error: InputError, name: str) -> InputError:
    """The same error with the column's name in front."""
    error.details = {**error.details, "column": name}
    return error.within(Message("tables.place.column", column=name))


def suggested(name: str, known: Iterable[str]) -> Message:
    """A name in quotes, with the nearest known one after it.

    >>> suggested("agee", ["age", "zip"])
    "'agee' (did you mean 'age'?)"
    """
    return Message("tables.suggested_name", name=name, hint=did_you_mean(name, known))
