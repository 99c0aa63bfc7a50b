"""The notation of the command line for any method: NAME, or NAME:VALUE,...,KEY=VALUE,..."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from celosia.core.errors import InputError
from celosia.core.methods import Method, Parameter, build, parameters, unknown_method

Some = TypeVar("Some")


def method_from_text(
    known: Mapping[str, type[Some]], text: object, *, what: str = "method"
) -> Some:
    """A method in the notation of the command line: NAME, or NAME:VALUE,...,KEY=VALUE,...

    Values without a key are the parameters in the order in which the method declares them.

    Raises:
        InputError: as `method_from_dict`; CEL-I064 the notation cannot be read.
    """
    if not isinstance(text, str):
        raise InputError("CEL-I064", text=type(text).__name__)
    name = text.partition(":")[0].strip().lower()
    if name not in known:
        raise unknown_method(known, name, what)
    given = values_from_text(parameters(known[name]), text)
    return build(known, name, given, what=what)


def values_from_text(declared: Sequence[Parameter], text: str) -> dict[str, Any]:
    """The parameters of a method in the notation of the command line, as they are written."""
    given: dict[str, Any] = {}
    any_key = False
    for place, part in enumerate(_split(text.partition(":")[2])):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key.isidentifier():  # a value that has such a sign inside
            key, equals, value = part.strip(), "", ""
        if not equals:
            if place >= len(declared) or any_key:
                raise InputError("CEL-I064", text=text)
            key, value = declared[place].name, key
        any_key = any_key or bool(equals)
        if key in given:
            raise InputError("CEL-I064", text=text)
        given[key] = _parse(next((each for each in declared if each.name == key), None), value)
    return given


def notation(method: Method) -> str:
    """A method as the command line writes it; `method_from_text` reads it back."""
    given = {key: value for key, value in method.as_dict().items() if key != "method"}
    written = ",".join(f"{key}={_write(value)}" for key, value in given.items())
    return f"{method.method_name}:{written}" if written else method.method_name


def _write(value: Any, *, is_inner: bool = False) -> str:
    """A parameter as TOML writes it; a plain word by itself needs no quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        is_bare = value.isidentifier() and not is_inner
        return value if is_bare else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = (
            f"{json.dumps(key)} = {_write(each, is_inner=True)}" for key, each in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_write(each, is_inner=True) for each in value)}]"
    return repr(value)


def _split(listed: str) -> list[str]:
    """The parts between commas that stand in no brackets or quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for at, mark in enumerate(listed):
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        elif mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(listed[start:at])
            start = at + 1
    parts.append(listed[start:])
    return [part for part in parts if part.strip()]


def _parse(declared: Parameter | None, text: str) -> Any:
    """A value of the command line as a TOML file would have it; a word is a text."""
    if declared is not None and declared.kind in ("text", "column", "choice"):
        return text.strip("\"'")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if text.startswith("[") and text.endswith("]"):  # a list of plain words
            return [_parse(None, part.strip()) for part in _split(text[1:-1])]
        return text
