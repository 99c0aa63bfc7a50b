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
from difflib import get_close_matches
from fractions import Fraction
from functools import cache, reduce
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self, get_args, runtime_checkable

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


@runtime_checkable
class Rendered(Protocol):
    """What has a text in each language: a message, an error, a price."""

    def render(self, into: Language | None = None) -> str:
        """The text in a language, the current one where none is named."""
        ...


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

    @classmethod
    def of(cls, key: str, value: object, /, **others: object) -> Self:
        """What is to be said of a value: its attributes are the fields that are not given.

        >>> from pathlib import PurePath
        >>> Message.of("words.did_you_mean", PurePath("survey/age"))
        " (did you mean 'age'?)"
        """
        return cls(key, **_attributes(key, value, others))

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


def say_of(key: str, value: object, /, **others: object) -> str:
    """The same as `Message.of` in the current language."""
    return say(key, **_attributes(key, value, others))


def _attributes(key: str, value: object, others: Mapping[str, object]) -> dict[str, object]:
    return {
        name: others[name] if name in others else getattr(value, name) for name in _field_names(key)
    }


@cache
def _field_names(key: str) -> tuple[str, ...]:
    """The fields of a template, which has the same in every language."""
    parsed = string.Formatter().parse(template(key, "en"))
    return tuple({name.partition("|")[0]: None for _, name, _, _ in parsed if name})


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
    return value.render(into or current()) if isinstance(value, Rendered) else str(value)


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
        if isinstance(value, Rendered):
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


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The nearest known name, to put after a name in a sentence; or nothing.

    >>> did_you_mean("agee", ["age", "zip"])
    " (did you mean 'age'?)"
    >>> did_you_mean("disease", ["age", "zip"])
    ''
    """
    near = get_close_matches(str(name), list(known), n=1)
    return Message("words.did_you_mean", name=near[0]) if near else ""


def quoted_names(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Unknown names for a message, in quotes, each with the nearest known one.

    >>> quoted_names(["agee"], ["age", "zip"])
    ["'agee' (did you mean 'age'?)"]
    """
    near = list(known)
    return [
        Message("words.quoted_name", name=name, hint=did_you_mean(name, near)) for name in names
    ]


def counted(number: int, one: str, many: str) -> str:
    """A number with the words that go with it.

    >>> counted(1, "cell is", "cells are"), counted(1200, "cell is", "cells are")
    ('1 cell is', '1,200 cells are')
    """
    return f"{number:,} {one if number == 1 else many}"


def plural(word: str) -> str:
    """The usual plural of an English word.

    >>> plural("customer"), plural("entity"), plural("key"), plural("box"), plural("class")
    ('customers', 'entities', 'keys', 'boxes', 'classes')
    """
    if word.endswith("y") and word[-2:-1] not in ("", *"aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


_UNITS = {
    "row": ("words.unit.row", "words.units.row", "words.one.row"),
    "person": ("words.unit.person", "words.units.person", "words.one.person"),
    "customer": ("words.unit.customer", "words.units.customer", "words.one.customer"),
    "patient": ("words.unit.patient", "words.units.patient", "words.one.patient"),
    "entity": ("words.unit.entity", "words.units.entity", "words.one.entity"),
    "fact": ("words.unit.fact", "words.units.fact", "words.one.fact"),
    "triple": ("words.unit.triple", "words.units.triple", "words.one.triple"),
    "record": ("words.unit.record", "words.units.record", "words.one.record"),
}
"""Privacy units that have words in every language: singular, plural, and with the number one."""


def unit_word(unit: str) -> str:
    """A privacy unit as a word of a message; a name that an owner made up stays as it is.

    >>> unit_word("row"), unit_word("lodger")
    ('row', 'lodger')
    """
    return Message(_UNITS[unit][0]) if unit in _UNITS else unit


def unit_words(unit: str) -> str:
    """The plural of `unit_word`.

    >>> unit_words("entity"), unit_words("lodger")
    ('entities', 'lodgers')
    """
    return Message(_UNITS[unit][1]) if unit in _UNITS else plural(unit)


def one_unit(unit: str) -> Message:
    """One of a privacy unit.

    >>> one_unit("person"), one_unit("lodger")
    ('one person', 'one lodger')
    """
    if unit in _UNITS:
        return Message(_UNITS[unit][2])
    return Message("words.one.other", unit=unit)


def sentence(text: str) -> str:
    """The same words as a sentence: a capital first, a full stop last."""
    shown = capital(text)
    return shown if shown.endswith(".") else f"{shown}."


def capital(text: str) -> str:
    """The same words with a capital first; the rest, perhaps the name of a column, stays.

    >>> capital("risk of zip-Code")
    'Risk of zip-Code'
    """
    shown = render(text)
    return shown[:1].upper() + shown[1:]


def joined(key: str, parts: Iterable[str]) -> str:
    """Several messages as one, by a template with a `first` and a `second`.

    >>> joined("reports.joined.and", ["2-anonymity", "3-diversity"])
    '2-anonymity and 3-diversity'
    """
    return reduce(lambda first, second: Message(key, first=first, second=second), parts)


def number(value: float, form: str = ",") -> str:
    """A number as the current language writes it.

    >>> number(1200), number(0.125, ".1%")
    ('1,200', '12.5%')
    """
    return say("reports.number", value=value, form=form)


NO_NAMES: Mapping[str, str] = MappingProxyType({})
"""No fact has a message."""


def format_numbers(facts: Mapping[str, Any], names: Mapping[str, str] = NO_NAMES) -> str:
    """The numbers among the facts of a method, for one line.

    >>> format_numbers({"k": 5, "edges_added": 1200, "done": True})
    'k 5, edges added 1,200'
    """
    return ", ".join(
        f"{fact_name(name, names)} {number(value, ',.6g')}"
        for name, value in facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )


def fact_name(name: str, names: Mapping[str, str]) -> str:
    """What a fact is called: by its message, or as the words that it is written in."""
    return say(names[name]) if name in names else name.replace("_", " ")


FAMILIES = {
    "accounting": "B",
    "assess": "A",
    "cli": "",
    "collect": "R",
    "datasets": "D",
    "engines": "E",
    "frames": "F",
    "general": "CIX",
    "graphs": "G",
    "lab": "L",
    "logs": "U",
    "masking": "VY",
    "mechanisms": "M",
    "queries": "Q",
    "reports": "",
    "sketches": "K",
    "studio": "W",
    "tables": "HPST",
    "traces": "J",
    "texts": "N",
    "methods": "",
    "models": "",
    "words": "",
}
"""Each file with the letters of its error codes."""

_FILES = {letter: name for name, letters in FAMILIES.items() for letter in letters}


def template(key: str, into: Language) -> str:
    """The template of a message that is no error: the key names its file and its table."""
    family, _, name = key.partition(".")
    entry: Any = read_family(family)
    for part in name.split("."):
        entry = entry[part]
    return in_language(entry["text"], into)


def part_template(key: str, part: str, into: Language) -> str:
    """One part (`what`, `why`, `fix`, `title`) of the message of an error; empty if it has none."""
    code, _, variant = key.partition(".")
    entry = read_family(_FILES[code[4]])[code]
    found = (entry[variant].get(part) if variant else None) or entry.get(part)
    return "" if found is None else in_language(found, into)


def in_language(texts: Mapping[str, str], into: Language) -> str:
    """The text in a language, or in English where it has no other."""
    return texts.get(into) or texts["en"]


@cache
def read_family(name: str) -> dict[str, Any]:
    """One file of the catalogue."""
    import tomllib  # neither is needed before something is said
    from importlib.resources import files

    return tomllib.loads(
        files("celosia.core.catalogue").joinpath(f"{name}.toml").read_text("utf-8")
    )
