"""Conversion of command-line words to values, without Pydantic where a word is plain.

Typer converts every value with Pydantic, which takes longer to load than most commands take to run.
A plain text, number or path needs none of it. Every other word, and every word that is wrong, is
left to Typer, whose values and messages therefore stay what they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_UNRESTRICTED = {
    "min": None,
    "max": None,
    "parser": None,
    "path_type": None,
    "exists": False,
    "file_okay": True,
    "dir_okay": True,
    "readable": True,
    "writable": False,
    "resolve_path": False,
    "allow_dash": False,
}
"""How Typer describes a parameter for which any text, number or path will do."""


def convert_plain_words(parameters: list[Any]) -> list[Any]:
    """Let each parameter of a Typer command convert plain words by itself; return them.

    A Typer that converts in another way is left alone.
    """
    for each in parameters:
        typer_converter: Callable[[], Any] | None = getattr(each, "get_runtime_param", None)
        descriptor: Any = getattr(each, "type_descriptor", None)
        info = getattr(descriptor, "parameter_info", None)
        if typer_converter is None or info is None or "get_runtime_param" in vars(each):
            continue
        if each.nargs == 1 and not getattr(each, "multiple", False) and _is_unrestricted(info):
            each.get_runtime_param = _PlainWordConverter(
                descriptor.annotation, typer_converter
            ).itself
    return parameters


class _PlainWordConverter:
    """Stands where Typer has a converter of its own, and makes that one only when it is needed."""

    def __init__(self, kind: Any, typer_converter: Callable[[], Any]) -> None:
        self._kind = kind
        self._typer_converter = typer_converter

    def itself(self) -> _PlainWordConverter:
        """What Typer asks a parameter for."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of the kind that the command declares."""
        if value is None:
            return None
        plain = plain_value(self._kind, value)
        return (
            self._typer_converter().coerce(value, param=param, ctx=ctx) if plain is None else plain
        )


def plain_value(kind: Any, value: object) -> str | int | float | Path | None:
    """The value of a plain word, or of a default that has its kind already; else None.

    >>> plain_value(float, "0.5"), plain_value(int, "12"), plain_value(int, " 12 ")
    (0.5, 12, None)
    """
    if not isinstance(value, str):
        return value if isinstance(value, int | float) and type(value) is kind else None
    fits, made = _KINDS.get(kind, (_is_never, str))
    return made(value) if fits(value) else None


def _is_whole(text: str) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,14}", text) is not None


def _is_decimal(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text) is not None


def _is_path(text: str) -> bool:
    """Whether the path can be read, or leads nowhere yet."""
    if "\0" in text or not _is_unicode(text):
        return False
    return os.access(text, os.R_OK) or not os.path.exists(text)


def _is_never(_: str) -> bool:
    return False


def _is_unrestricted(info: Any) -> bool:
    return all(getattr(info, name, usual) is usual for name, usual in _UNRESTRICTED.items())


def _is_unicode(text: str) -> bool:
    """Whether no byte of the word was foreign to the encoding of the system."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KINDS: dict[Any, tuple[Callable[[str], bool], Callable[[str], str | int | float | Path]]] = {
    int: (_is_whole, int),
    float: (_is_decimal, float),
    str: (_is_unicode, str),
    Path: (_is_path, Path),
}
"""By the kind that a command declares: which words are plain, and what makes a value of one."""
