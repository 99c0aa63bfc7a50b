"""Lists that come with Celosía: names, places, professions, diseases, function words."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from celosia.assess.recognisers.identifiers import folded
from celosia.texts.documents import Language, word_set

LANGUAGES: tuple[Language, ...] = ("en", "es")


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("data", f"{name}.toml").read_text("utf-8"))


@cache
def given_names(language: Language, gender: str) -> tuple[str, ...]:
    """Given names of a language: `female` or `male`."""
    return tuple(dict.fromkeys(_read("names")["given"][language][gender].split()))


@cache
def neutral_names(language: Language) -> tuple[str, ...]:
    """Given names of any gender."""
    return tuple(_read("names")["neutral"][language].split())


@cache
def surnames(language: Language) -> tuple[str, ...]:
    """Surnames of a language."""
    return tuple(dict.fromkeys(_read("names")["surnames"][language].split()))


@cache
def nicknames(language: Language) -> tuple[str, ...]:
    """Short forms of given names."""
    return tuple(_read("names")["nicknames"][language].split())


@cache
def known_given() -> frozenset[str]:
    """Given names and nicknames of all languages, folded."""
    return frozenset(
        folded(name)
        for language in LANGUAGES
        for names in (
            given_names(language, "female"),
            given_names(language, "male"),
            nicknames(language),
        )
        for name in names
    )


@cache
def known_surnames() -> frozenset[str]:
    """Surnames of all languages, folded."""
    return frozenset(folded(name) for language in LANGUAGES for name in surnames(language))


@cache
def gender_of(name: str) -> str:
    """`female`, `male`, or nothing where a given name is of both or of none."""
    found = {
        gender
        for language in LANGUAGES
        for gender in ("female", "male")
        if any(folded(each) == folded(name) for each in given_names(language, gender))
    }
    return found.pop() if len(found) == 1 else ""


@cache
def common_words() -> frozenset[str]:
    """Names that are also words, folded."""
    return frozenset(map(folded, _read("names")["common"]["words"].split()))


@cache
def known_names() -> frozenset[str]:
    """Given names, nicknames and surnames of all languages, folded."""
    return known_given() | known_surnames()


@cache
def ordinary_words() -> frozenset[str]:
    """Function words, and names that are also words, folded."""
    return common_words() | function_words()


@cache
def terms(kind: str, language: Language) -> tuple[str, ...]:
    """Terms of a kind: places, professions, diseases and the like."""
    text = _read("terms")[kind][language]
    return tuple(" ".join(each.split()) for each in text.split("|"))


@cache
def function_words() -> frozenset[str]:
    """Words without content of all languages, folded."""
    return frozenset(
        folded(word) for language in LANGUAGES for word in _read("terms")["words"][language].split()
    )


@cache
def plain_words() -> frozenset[str]:
    """Words without content that are no name either, folded."""
    return function_words() - known_names()


@cache
def _words_of(language: Language) -> frozenset[str]:
    own = frozenset(_read("terms")["words"][language].split())
    others = [_read("terms")["words"][each].split() for each in LANGUAGES if each != language]
    return own.difference(*others)


_OTHERS = word_set(
    "les des est une dans pour avec sur par pas qui ce cette aux sont ete plus nous vous ils "
    "der die das und ist nicht ein eine mit von zu den auf auch sich dem wurde bei nach werden "
    "il che di non sono della nel alla gli questo anche stato dei degli piu "
    "nao uma com para os do da em ao dos mais foi pelo pela "
    "het een van niet dat zijn op te voor met aan ook werd "
    "amb els dels pel seva aquest"
)
"""Function words of French, German, Italian, Portuguese, Dutch and Catalan."""

Writing = Literal["plain", "mixed", "other", "unknown"]

_LEAST_WORDS, _LEAST_LETTERS, _LEAST_FOREIGN = 20, 40, 3
_NOT_LATIN = re.compile("[\u0250-\u1dff\u1f00-\U0010ffff]")


def writing_of(text: str) -> Writing:
    """Whether a text is in one of our languages, in both, or in another one.

    `other` needs evidence: function words of another language, or letters of another alphabet. A
    text with too few function words of any language, such as a list, is `unknown`. Texts of fewer
    than 20 words are not judged, unless they have 40 letters that are mostly not Latin ones.

    >>> writing_of("Le patient est venu avec sa femme dans le service pour une visite, et il est "
    ...            "parti avec les resultats sur papier")
    'other'
    """
    text = text[:20_000]
    foreign = 0 if text.isascii() else sum(map(str.isalpha, _NOT_LATIN.findall(text)))
    if foreign * 2 > _LEAST_LETTERS:
        letters = sum(map(str.isalpha, text))
        if letters >= _LEAST_LETTERS and foreign * 2 > letters:
            return "other"
    words = [folded(word) for word in text.split()]
    if len(words) < _LEAST_WORDS:
        return "plain"
    counts = {each: sum(word in _words_of(each) for word in words) for each in LANGUAGES}
    least, most = sorted(counts.values())
    foreign = sum(word in _OTHERS and word not in function_words() for word in words)
    if foreign > most and foreign >= _LEAST_FOREIGN:
        return "other"
    if (most + least + foreign) * 50 < len(words):
        return "unknown"
    return "mixed" if least >= 8 and least * 3 >= most else "plain"


def guess_language(text: str, default: Language = "en") -> Language:
    """The language of a text by its function words.

    >>> guess_language("El paciente fue visto en la consulta")
    'es'
    """
    words = text[:20_000].lower().split()
    counts = {each: sum(word in _words_of(each) for word in words) for each in LANGUAGES}
    best = max(LANGUAGES, key=lambda each: counts[each])
    return best if counts[best] > 0 and len(set(counts.values())) > 1 else default
