"""Controls for the parameters of any method: what each is, what it may be, and what is said of it.

The names, types and defaults are those that the method's class declares; ranges and words are those
of `parameter_words`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from math import isfinite
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import real, whole
from celosia.studio.parameter_labels import HIDDEN, WORDS, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One parameter of a method, ready to be asked for."""

    name: str
    kind: Kind
    help: str
    """What it does, in English: a key of the catalogue."""
    default: Any = None
    """What the method takes where nothing is given; None where it does without."""
    start: Any = None
    """What is put in when the method is chosen; None for nothing."""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    main: bool = False
    """Whether it is always shown; the others are shown when asked for."""
    example: str = ""


def controls(method: type[Any], kind: str) -> tuple[Control, ...]:
    """The controls of a method's parameters, in the order of its class.

    Args:
        method: the class.
        kind: its name in the registry.

    >>> from celosia.tables.masking import Mdav
    >>> [each.name for each in controls(Mdav, "mdav")][:2]
    ['k', 'nominal']
    """
    hints = get_type_hints(method)
    found = []
    for each in fields(method):
        if {each.name, f"{kind}.{each.name}"} & HIDDEN:
            continue
        words = WORDS.get(f"{kind}.{each.name}") or WORDS[each.name]
        default = None if each.default is MISSING else each.default
        found.append(
            Control(
                name=each.name,
                kind=words.kind or _kind(hints[each.name]),
                help=words.help,
                default=default,
                start=words.start,
                least=words.least,
                most=words.most,
                choices=words.choices or _choices(hints[each.name]),
                required=each.default is MISSING,
                main=each.default is MISSING or words.start is not None or words.main,
                example=words.example,
            )
        )
    return tuple(found)


def starting(some: tuple[Control, ...]) -> dict[str, Any]:
    """The parameters that a method starts with.

    >>> from celosia.tables.masking import Mdav
    >>> starting(controls(Mdav, "mdav"))
    {'k': 5}
    """
    return {each.name: each.start for each in some if each.start is not None}


def parsed(control: Control, given: Any) -> Any:
    """A value as the method wants it, from what was put in; None where it is left out.

    Raises:
        InputError: CEL-W070, it is no such value.

    >>> parsed(Control(name="k", kind="whole", help=""), "5")
    5
    """
    if given is None or given in ("", [], ()):
        return None
    if control.kind in ("whole", "number"):
        return _number(control, given)
    ways: dict[str, Callable[[Any], Any]] = {
        "flag": bool,
        "columns": lambda some: [str(each) for each in some],
        "several": lambda some: [str(each) for each in some],
        "values": lambda text: [part.strip() for part in str(text).split(",") if part.strip()],
        "toml": lambda text: _toml(control, str(text)),
    }
    return ways.get(control.kind, str)(given)


def shown(control: Control, parameters: Mapping[str, Any]) -> Any:
    """What stands in a control for the parameters chosen: the inverse of `parsed`."""
    value = parameters.get(control.name, control.default)
    if control.kind in ("columns", "several"):
        return list(value or ())
    if control.kind == "values":
        return ", ".join(str(each) for each in value or ())
    if control.kind == "toml":
        from celosia.studio.toml import inline  # noqa: PLC0415 - only here

        return "" if value is None else inline(value)
    if control.kind == "whole" and value is not None:
        return whole(value)
    return value


def changed(parameters: Mapping[str, Any], control: Control, given: Any) -> dict[str, Any]:
    """The parameters with another value in a control; what is as by default is left out.

    Raises:
        InputError: CEL-W070, it is no such value.
    """
    value = parsed(control, given)
    rest = {name: each for name, each in parameters.items() if name != control.name}
    default = list(control.default) if isinstance(control.default, tuple) else control.default
    if value is None or value == default:
        return rest
    return rest | {control.name: value}


def _number(control: Control, given: Any) -> int | float:
    text = given.strip().replace(",", ".") if isinstance(given, str) else given
    try:
        value = real(float(text))
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is None or not isfinite(value) or (control.kind == "whole" and value != int(value)):
        raise _wrong(control)
    low, high = control.least, control.most
    if (low is not None and value < low) or (high is not None and value > high):
        raise _wrong(control)
    return int(value) if control.kind == "whole" or value == int(value) else value


def _toml(control: Control, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        raise _wrong(control) from None


def _wrong(control: Control) -> InputError:
    """What was put in is not told again: it may be a value of the table."""
    kinds = {"whole": "studio.value.whole", "number": "studio.value.number"}
    if control.least is None:
        key = "CEL-W070.any" if control.most is None else "CEL-W070.most"
    else:
        key = "CEL-W070.least" if control.most is None else "CEL-W070.between"
    example = control.example
    return InputError(
        key,
        parameter=control.name,
        kind=Message(kinds.get(control.kind, "studio.value.toml")),
        least=control.least,
        most=control.most,
        remedy=Message("studio.value.like", example=example)
        if example
        else Message("studio.value.another"),
    )


def _plain(hint: Any) -> Any:
    """A type without its None."""
    if get_origin(hint) in (Union, UnionType):
        rest = [each for each in get_args(hint) if each is not type(None)]
        return rest[0]
    return hint


def _kind(hint: Any) -> Kind:
    plain = _plain(hint)
    if get_origin(plain) is Literal:
        return "choice"
    simple: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number"}
    return simple.get(plain, "toml")


def _choices(hint: Any) -> tuple[str, ...]:
    plain = _plain(hint)
    return tuple(get_args(plain)) if get_origin(plain) is Literal else ()
