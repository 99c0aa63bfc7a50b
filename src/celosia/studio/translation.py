"""What the library says, in the language of the page: promises, plans, names of measures.

The library speaks English. `locales/es/library/*.po` has its sentences whole, with places for what
changes: `{1}` is a number, `{columns}` any text, which stays as it is, `{text}` a text of the
library again, and `{list}` several of them with commas. What no catalogue knows stays English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from celosia.core.messages import Message
from celosia.studio.language import Language, current, messages, singles

Field = Literal["measures", "plans", "promises", "stages"]
"""The catalogues `library/FIELD.po`: sentences of one field are not taken for those of another."""
BETWEEN = "; "
"""Between sentences that the library put together; no place reaches beyond it."""
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
_ENGLISH_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?")
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sentence with places, and the same in another language."""

    other: str
    names: tuple[str, ...]
    literals: tuple[str, ...]
    """What stands before, between and after the places."""

    @classmethod
    def of(cls, english: str, other: str) -> Pattern:
        """The pattern of a message of a catalogue."""
        pieces = tuple(_PLACE.split(english))
        return cls(other, pieces[1::2], pieces[::2])

    @property
    def order(self) -> tuple[int, int]:
        """The most said first, and numbers before any text."""
        words = sum(not name.isdigit() for name in self.names)
        return -sum(map(len, self.literals)), words

    def values(self, text: str) -> dict[str, str] | None:
        """What stands in the places of a text; None if it is another sentence.

        A place ends where what follows it is found first, without a second try, so that no text
        of a visitor takes long.
        """
        if not (text.startswith(self.literals[0]) and text.endswith(self.literals[-1])):
            return None
        found: dict[str, str] = {}
        start = len(self.literals[0])
        for at, name in enumerate(self.names, 1):
            following = self.literals[at]
            if name.isdigit():
                number = _NUMBER.match(text, start)
                end = -1 if number is None else number.end()
            elif at == len(self.names):
                end = len(text) - len(following)
            else:
                end = text.find(following, start + 1)
            value = text[start:end] if end > start else ""
            if not value or not text.startswith(following, end) or BETWEEN in value:
                return None
            if start == 0 and " " in value and not name.startswith("text"):
                return None  # the beginning of another sentence, not a name
            found[name] = value
            start = end + len(following)
        return found if start == len(text) else None

    def filled(self, values: dict[str, str]) -> str:
        """The other sentence with these values, whatever braces they hold."""
        return _PLACE.sub(lambda place: values[place[1]], self.other)


def translate(text: object, of: Field) -> str:
    """A text of the library in the language of the page: a message, or a sentence of a field.

    Parts with semicolons between them are told one by one, if the whole is not known.

    >>> from celosia.studio.language import chosen
    >>> token = chosen.set("es")
    >>> translate("5-anonymity over age, zip", "promises")
    '5-anonimato respecto a age, zip'
    >>> chosen.reset(token)
    """
    if isinstance(text, Message):
        return text.render()
    sentence = str(text)
    return sentence if current() == "en" else _translate(sentence, of, current())


@lru_cache(maxsize=4096)
def _translate(text: str, of: Field, language: Language) -> str:
    exact, patterns = _catalogue(of, language)
    whole = exact.get(text) or singles(language).get(text)
    if whole is not None:
        return whole
    for pattern in patterns:
        values = pattern.values(text)
        if values is not None:
            translated = {name: _value(name, value, of) for name, value in values.items()}
            return pattern.filled(translated)
    if BETWEEN in text:
        return BETWEEN.join(translate(part, of) for part in text.split(BETWEEN))
    return text


def localise(number: str) -> str:
    """A number that is written in English, as the language of the page writes it.

    >>> from celosia.studio.language import chosen
    >>> token = chosen.set("es")
    >>> localise("10,000.5"), localise("1,2")
    ('10.000,5', '1,2')
    >>> chosen.reset(token)
    """
    if current() == "en" or _ENGLISH_NUMBER.fullmatch(number) is None:
        return number
    return number.translate(str.maketrans(",.", ".,"))


def _value(name: str, value: str, of: Field) -> str:
    if name.isdigit():
        return localise(value)
    if name.startswith("list"):
        return ", ".join(translate(part, of) for part in value.split(", "))
    return translate(value, of) if name.startswith("text") else value


@cache
def _catalogue(of: Field, language: Language) -> tuple[dict[str, str], tuple[Pattern, ...]]:
    """The sentences of a field without places, and those with some, the longest first."""
    exact: dict[str, str] = {}
    patterns: list[Pattern] = []
    for english, other in messages(language, f"library/{of}.po"):
        if _PLACE.search(english):
            patterns.append(Pattern.of(english, other))
        else:
            exact[english] = other
    return exact, tuple(sorted(patterns, key=lambda each: each.order))
