"""Messages are values: a key of the catalogue and its fields; text is made at the edge.

A template names its fields as `str.format` does (`{column}`, `{rows:,}`, `{value!r}`), and adds:

- `{rows|row is|rows are}`: the words for one, and for any other number;
- `{columns:list}`: several values with commas between them, `{columns:quoted}` each in quotes;
- `{problems:lines}`: several messages, one on each line.

A field may be a message itself. Numbers are written as the language writes them.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, get_args

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

language: ContextVar[Language] = ContextVar("language", default="en")
"""The language of what is rendered where none is named: commands and pages set it."""

_NUMERIC = frozenset(",_bdeEfFgGn%")
"""The last letters of forms that only numbers have."""

LINES = "\n- "
"""Between the lines of a field with the form `lines`."""


class Message:
    """Something to be said: a key of the catalogue and the fields of its template.

    >>> hint = Message("words.did_you_mean", name="age")
    >>> str(hint), hint.render("es")
    (" (did you mean 'age'?)", " (¿quiso decir 'age'?)")
    >>> hint
    Message('words.did_you_mean', name='age')
    """

    __slots__ = ("fields", "key")

    def __init__(self, key: str, /, **fields: object) -> None:
        self.key = key
        self.fields: dict[str, object] = fields

    def render(self, into: Language | None = None) -> str:
        """The text in a language, the current one where none is named."""
        from celosia.core.catalogue import template  # noqa: PLC0415 - read when something is said

        wanted = into or language.get()
        return fill(template(self.key, wanted), self.fields, wanted)

    def __str__(self) -> str:
        return self.render()

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def __repr__(self) -> str:
        words = [repr(self.key), *(f"{name}={value!r}" for name, value in self.fields.items())]
        return f"Message({', '.join(words)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return (self.key, self.fields) == (other.key, other.fields)

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        return True

    def __getstate__(self) -> tuple[str, dict[str, object]]:
        return self.key, self.fields

    def __setstate__(self, state: tuple[str, dict[str, object]]) -> None:
        self.key, self.fields = state


def fill(template: str, fields: Mapping[str, object], into: Language) -> str:
    """A template with its fields, in a language.

    >>> fill("{n:,} {n|row|rows} of {names:list}", {"n": 1200, "names": ["a", "b"]}, "en")
    '1,200 rows of a, b'
    """
    return _Formatter(into).vformat(template, (), fields)


def localise(number: str, into: Language) -> str:
    """A number that is written in English, as a language writes it.

    >>> localise("10,000.5", "es")
    '10.000,5'
    """
    return number if into == "en" else number.translate(str.maketrans(",.", ".,"))


def render(value: object, into: Language | None = None) -> str:
    """Anything that may be said as a text: messages in a language, the rest as it is."""
    wanted = into or language.get()
    if isinstance(value, Message):
        return value.render(wanted)
    said = getattr(value, "render", None)  # an error, which core.errors declares
    return said(wanted) if said is not None else str(value)


class _Formatter(string.Formatter):
    """`str.format` with plurals, lists and nested messages."""

    def __init__(self, into: Language) -> None:
        self.into = into

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, str]:
        name, *words = field_name.split("|")
        value = kwargs.get(name, f"{{{name}}}")  # a test finds what is not given
        if words:
            one, many = words
            return (one if value == 1 else many), name
        return value, name

    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "list":
                return ", ".join(self._texts(value))
            case "quoted":
                return ", ".join(f"'{each}'" for each in self._texts(value))
            case "lines":
                return LINES.join(self._texts(value))
        if isinstance(value, Message) or hasattr(value, "render"):
            return format(render(value, self.into), format_spec)
        text = format(value, format_spec)
        is_number = isinstance(value, float) or format_spec[-1:] in _NUMERIC
        return localise(text, self.into) if is_number else text

    def _texts(self, values: Iterable[object]) -> list[str]:
        return [render(each, self.into) for each in values]
