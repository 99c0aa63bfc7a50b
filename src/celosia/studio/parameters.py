"""Forms for the parameters of any method, as its class declares them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from celosia.core.messages import Message, render
from celosia.core.methods import Method, Parameter, bad_parameter, checked, help_of, parameters
from celosia.core.numbers import real, whole
from celosia.studio.language import current


@dataclass(frozen=True, slots=True)
class MethodCard:
    """A method to choose, with the parameters that its form asks for."""

    kind: str
    """Its name in the registry."""
    controls: tuple[Parameter, ...]
    private: bool = False
    """Whether it has a privacy loss."""
    makes: str = ""
    """The class of what it makes, where methods make different things."""

    @property
    def title(self) -> str:
        """What it is called, in the language of the page."""
        return render(Message(f"methods.{self.kind}.title"), current())

    @property
    def summary(self) -> str:
        """What it does, in the language of the page, as a sentence begins."""
        text = re.sub(
            r"^mdav\b", "MDAV", render(Message(f"methods.{self.kind}.summary"), current())
        )
        return text[:1].upper() + text[1:]

    def first_choice(self) -> dict[str, Any]:
        """The method with the parameters that it starts with."""
        return {"method": self.kind, "parameters": starting(self.controls)}


def controls(method: type[Method]) -> tuple[Parameter, ...]:
    """The parameters of a method that a form asks for, in the order of its class.

    >>> from celosia.tables.masking import Mdav
    >>> [each.name for each in controls(Mdav)][:2]
    ['k', 'nominal']
    """
    return tuple(
        replace(
            each,
            is_main=each.is_required or each.start is not None or each.is_main,
            is_optional=True,  # what is left empty is as by default
        )
        for each in parameters(method)
        if each.is_asked
    )


def value_of(method: Method, name: str) -> Any:
    """What a method has for a parameter; None where it declares no such parameter.

    >>> from celosia.tables.masking import Mdav
    >>> value_of(Mdav(k=4), "k"), value_of(Mdav(k=4), "epsilon")
    (4, None)
    """
    return getattr(method, name) if declares(method, name) else None


def declares(method: Method, name: str) -> bool:
    """Whether a method has a parameter of this name."""
    return any(each.name == name for each in parameters(type(method)))


def help_text(method: str, parameter: Parameter) -> str:
    """What a parameter does, in the language of the page."""
    return render(help_of(method, parameter.name), current())


def starting(some: tuple[Parameter, ...]) -> dict[str, Any]:
    """The parameters that a method starts with.

    >>> from celosia.tables.masking import Mdav
    >>> starting(controls(Mdav))
    {'k': 5}
    """
    return {each.name: each.start for each in some if each.start is not None}


def parsed(method: str, control: Parameter, given: Any) -> Any:
    """A value as the method wants it, from what was put in; None where it is left out.

    Raises:
        InputError: CEL-I060, it is no such value.

    >>> parsed("mdav", Parameter(name="k", kind="whole"), "5")
    5
    """
    if given is None or given in ("", [], ()):
        return None
    if control.kind in ("whole", "number"):
        return _number(method, control, given)
    ways: dict[str, Callable[[Any], Any]] = {
        "flag": bool,
        "columns": lambda some: [str(each) for each in some],
        "several": lambda some: [str(each) for each in some],
        "values": lambda text: [part.strip() for part in str(text).split(",") if part.strip()],
        "toml": lambda text: _toml(method, control, str(text)),
    }
    return ways.get(control.kind, str)(given)


def shown(control: Parameter, chosen: Mapping[str, Any]) -> Any:
    """What stands in a control for the parameters chosen: the inverse of `parsed`."""
    value = chosen.get(control.name, control.default)
    if control.kind in ("columns", "several"):
        return list(value or ())
    if control.kind == "values":
        return ", ".join(str(each) for each in value or ())
    if control.kind == "toml":
        from celosia.studio.toml import inline

        return "" if value is None else inline(value)
    if control.kind == "whole" and value is not None:
        return whole(value)
    return value


def changed(
    method: str, chosen: Mapping[str, Any], control: Parameter, given: Any
) -> dict[str, Any]:
    """The parameters with another value in a control; what is as by default is left out.

    Raises:
        InputError: CEL-I060, it is no such value.
    """
    value = parsed(method, control, given)
    rest = {name: each for name, each in chosen.items() if name != control.name}
    default = list(control.default) if isinstance(control.default, tuple) else control.default
    if value is None or value == default:
        return rest
    return rest | {control.name: value}


def _number(method: str, control: Parameter, given: Any) -> int | float:
    text = given.strip().replace(",", ".") if isinstance(given, str) else given
    try:
        value = real(float(text))
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is None or not isfinite(value) or (control.kind == "whole" and value != int(value)):
        raise bad_parameter(method, control, None)
    checked(method, replace(control, kind="number", check=None), value)
    return int(value) if control.kind == "whole" or value == int(value) else value


def _toml(method: str, control: Parameter, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        raise bad_parameter(method, control, None) from None
