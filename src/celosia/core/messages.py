"""Messages are values: a key of the catalogue and its fields; text is made at the edge.

A template names its fields as `str.format` does (`{column}`, `{rows:,}`, `{value!r}`), and adds:

- `{rows|row is|rows are}`: the words for one, and for any other number;
- `{columns:list}`: several values with commas between them, `{columns:quoted}` each in quotes;
- `{problems:lines}`: several messages, one on each line.

A field may be a message itself. Numbers are written as the language writes them.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Literal, Self, get_args

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

language: ContextVar[Language | None] = ContextVar("language", default=None)
"""The language of what is shown; where it is None, the studio's page decides, or it is English."""

_resolvers: list[Callable[[], Language | None]] = []

_NUMERIC = frozenset(",_bdeEfFgGn%")
"""The last letters of forms that only numbers have."""

LINES = "\n- "
"""Between the lines of a field with the form `lines`."""


def resolve_by(resolver: Callable[[], Language | None]) -> None:
    """Ask this for the language wherever none was chosen: the page that is being shown."""
    _resolvers[:] = [resolver]


def current() -> Language:
    """The language to speak now."""
    found = language.get()
    if found is None and _resolvers:
        found = _resolvers[0]()
    return found or "en"


class Message(str):
    """Something to be said: a key of the catalogue and the fields of its template.

    As a text it is its English, so that data, JSON and comparisons do not depend on a language.
    Where it is shown (`str`, `print`, f-strings, reports) it speaks the current language.

    >>> hint = Message("words.did_you_mean", name="age")
    >>> hint
    " (did you mean 'age'?)"
    >>> hint.render("es"), hint.key, hint.fields
    (" (¿quiso decir 'age'?)", 'words.did_you_mean', {'name': 'age'})
    """

    __slots__ = ("fields", "key")
    key: str
    fields: Mapping[str, object]

    def __new__(cls, key: str, /, **fields: object) -> Self:
        """Fill in the English template."""
        self = super().__new__(cls, _text(key, fields, "en"))
        self.key = key
        self.fields = fields
        return self

    def render(self, into: Language | None = None) -> str:
        """The text in a language, the current one where none is named."""
        return _text(self.key, self.fields, into or current())

    def __str__(self) -> str:
        return self.render()

    def __format__(self, form: str) -> str:
        return format(self.render(), form)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.key, dict(self.fields))


def say(key: str, /, **fields: object) -> str:
    """A message in the current language, where it is shown at once: in a report or a chart."""
    return _text(key, fields, current())


@contextmanager
def speaking(into: Language | None) -> Iterator[None]:
    """Let everything that is shown inside be in a language; None leaves it to the page.

    >>> with speaking("es"):
    ...     print(Message("words.did_you_mean", name="edad"))
     (¿quiso decir 'edad'?)
    """
    token = language.set(into)
    try:
        yield
    finally:
        language.reset(token)


def _text(key: str, fields: Mapping[str, object], into: Language) -> str:
    from celosia.core.catalogue import template  # read when something is said

    return fill(template(key, into), fields, into)


def _rebuilt(key: str, fields: dict[str, object]) -> Message:
    """A message as it was in another process."""
    return Message(key, **fields)


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
    wanted = into or current()
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
        if isinstance(value, Fraction) and format_spec:  # Python 3.11 cannot format one
            value = float(value)
        try:
            text = format(value, format_spec)
        except (TypeError, ValueError):  # a message never fails: what cannot be formatted is shown
            return str(value)
        is_number = isinstance(value, float) or format_spec[-1:] in _NUMERIC
        return localise(text, self.into) if is_number else text

    def _texts(self, values: Iterable[object]) -> list[str]:
        return [render(each, self.into) for each in values]
