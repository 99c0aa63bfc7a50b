"""English and Spanish: the text of every page, and numbers as each language writes them.

English sentences are the keys; `locales/es/*.po` has the Spanish ones, one file for each part of
the studio. Whole sentences with named places, never pieces put together. What the library says
are messages of its own catalogue (`celosia.core.messages`), in the same language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from celosia.core.messages import LANGUAGES, Language, Message, current, localise, resolve_by
from celosia.core.messages import language as chosen

__all__ = [
    "LANGUAGES",
    "NAMES",
    "NO_BREAK",
    "Figure",
    "Language",
    "Words",
    "chosen",
    "current",
    "figure",
    "messages",
    "n_",
    "negotiated",
    "number",
    "percent",
    "resolve_by",
    "short",
    "singles",
    "text_of",
]

NAMES: dict[Language, str] = {"en": "English", "es": "Español"}
NO_BREAK = "\N{NO-BREAK SPACE}"
Figure = tuple[str, str, str]
"""What it is called, its value with its unit, what it means."""
_FOLDER = Path(__file__).parent


def _(text: str, /, **values: object) -> str:
    """A sentence in the present language, with its places filled in.

    >>> _("{count} rows", count=3)
    '3 rows'
    """
    if isinstance(text, Message):  # the library's own
        return text.render()
    sentence = text if current() == "en" else _catalogue(current())[0].get(text, text)
    return sentence.format(**values) if values else sentence


def n_(one: str, many: str, count: int, /, **values: object) -> str:
    """A sentence about a number of things; `{count}` is written as the language writes it.

    >>> n_("{count} row", "{count} rows", 1), n_("{count} row", "{count} rows", 2000)
    ('1 row', '2,000 rows')
    """
    text = one if count == 1 else many
    if current() != "en":
        text = _catalogue(current())[1].get((one, many), {}).get(count == 1, text)
    return text.format(count=number(count), **values)


class Words(Mapping[str, str]):
    """What some values are called, in the language of the page.

    >>> Words({"time": "times"})["time"], dict(Words({"date": "dates"}))
    ('times', {'date': 'dates'})
    """

    def __init__(self, english: Mapping[str, str]) -> None:
        """By the English words."""
        self._english = english

    def __getitem__(self, value: str) -> str:
        return _(self._english[value])

    def __iter__(self) -> Iterator[str]:
        return iter(self._english)

    def __len__(self) -> int:
        return len(self._english)


def figure(name: str, value: str, meaning: str, /, **values: object) -> Figure:
    """A key figure: its name, its value with its unit, and what it means.

    >>> figure("Risk", "4 %", "at most {most}", most="9 %")
    ('Risk', '4 %', 'at most 9 %')
    """
    return _(name), value, _(meaning, **values)


def negotiated(wanted: str | None, cookie: str | None, accepts: str | None) -> Language:
    """The language for a request: asked for in its address, kept from before, or the browser's.

    >>> negotiated(None, None, "es-ES,es;q=0.9,en;q=0.8")
    'es'
    """
    for given in (wanted, cookie):
        for language in LANGUAGES:
            if given == language:
                return language
    weights = []
    for position, part in enumerate((accepts or "").split(",")):
        tag, _separator, quality = part.strip().partition(";q=")
        try:
            weight = float(quality) if quality else 1.0
        except ValueError:
            weight = 0.0
        weights.append((-weight, position, tag[:2].lower()))
    for _weight, _position, tag in sorted(weights):
        for language in LANGUAGES:
            if tag == language:
                return language
    return "en"


def number(value: float, digits: int = 0) -> str:
    """A number with this many decimals.

    >>> number(1234.5, 1)
    '1,234.5'
    """
    exact = isinstance(value, int) and digits == 0  # however large: never by way of a float
    return localise(f"{value:,}" if exact else f"{value:,.{digits}f}", current())


def short(value: float) -> str:
    """A number with four digits that count.

    >>> short(0.000123456), short(1234567.0)
    ('0.0001235', '1,234,567')
    """
    if value == int(value) or abs(value) >= 10_000:
        return number(value)
    return localise(f"{value:,.4g}", current())


def percent(share: float, digits: int = 1) -> str:
    """A share of one as per cent.

    >>> percent(0.125).replace(NO_BREAK, " ")
    '12.5 %'
    """
    return f"{number(100 * share, digits)}{NO_BREAK}%"


def text_of(name: str) -> str:
    """A long text of the folder `texts` in the present language: `NAME.en.md` or `NAME.es.md`."""
    return _text(name, current())


@cache
def _text(name: str, language: Language) -> str:
    return (_FOLDER / "texts" / f"{name}.{language}.md").read_text("utf-8")


def singles(language: Language) -> dict[str, str]:
    """All sentences of a language that stand by themselves, by the English ones."""
    return _catalogue(language)[0]


def messages(language: Language, files: str) -> Iterator[tuple[Any, Any]]:
    """The messages of the catalogues with such names: what is said in English, and in a language.

    Both are a text, or a tuple of texts for a sentence about a number of things.
    """
    from babel.messages.pofile import read_po  # only where Spanish is spoken

    for file in sorted((_FOLDER / "locales" / language).glob(files)):
        with file.open("rb") as opened:
            for message in read_po(opened, locale=language):
                if message.id and message.string:
                    yield message.id, message.string


@cache
def _catalogue(
    language: Language,
) -> tuple[dict[str, str], dict[tuple[str, str], dict[bool, str]]]:
    """All sentences of a language: those by themselves, and those about a number of things."""
    alone: dict[str, str] = {}
    plurals: dict[tuple[str, str], dict[bool, str]] = {}
    for english, other in messages(language, "*.po"):
        if isinstance(english, tuple | list):
            one, many = english
            plurals[(one, many)] = {True: other[0], False: other[1]}
        else:
            alone[str(english)] = str(other)
    return alone, plurals
