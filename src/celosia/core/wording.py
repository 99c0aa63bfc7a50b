"""Words for messages: near names for misspelt ones, and nouns that agree with their number."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import reduce

from celosia.core.messages import Message, render, say


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
    shown = render(text)
    return shown[:1].upper() + shown[1:] + ("" if shown.endswith(".") else ".")


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
