"""Names that are put together of syllables: they can be said, and they never end."""

from __future__ import annotations

from celosia.texts.documents import Language


def _cut(sounds: str) -> tuple[str, ...]:
    return tuple(sounds.split())


_STARTS: dict[Language, tuple[str, ...]] = {
    "en": _cut("b br c cl d dr f fl g gr h k l m n p pr r s st t tr th v w wh"),
    "es": _cut("b br c ch d f g gr j l ll m n p pr r s t tr v z"),
}
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES: dict[Language, tuple[str, ...]] = {
    "en": _cut("l ld ll m n nd nn r rd rl rn s ss st t tt v"),
    "es": _cut("b c d l lm m n nd nt r rb rm rr s sc t v z"),
}
_ENDINGS: dict[Language, dict[str, tuple[str, ...]]] = {
    "en": {
        "female": ("a", "ia", "ine", "elle", "eth"),
        "male": ("an", "en", "ick", "or", "us"),
        "neutral": ("y", "ey", "in", "is", "er"),
        "family": ("ham", "worth", "ridge", "mere", "wick", "stead", "combe", "shaw"),
    },
    "es": {
        "female": ("a", "ina", "ela", "ia", "ora"),
        "male": ("o", "io", "án", "ino", "ero"),
        "neutral": ("e", "is", "iel"),
        "family": ("ez", "edo", "ano", "ales", "osa", "ega", "ín", "uela"),
    },
}


def coined(number: int, language: Language, part: str) -> tuple[int, str]:
    """The name that a number stands for, and what of the number is left.

    Two syllables and an ending: at least 500,000 given names and a million surnames a language.

    Args:
        number: which name; numbers beyond the names begin again with the rest.
        language: whose sounds the name has.
        part: `female`, `male` or `neutral` for a given name, `family` for a surname.

    >>> coined(123456, "es", "family"), coined(98765, "en", "female")
    ((0, 'Tromasez'), (0, 'Rosurda'))
    """
    starts, middles, endings = _STARTS[language], _MIDDLES[language], _ENDINGS[language][part]
    sounds = []
    for choices in (starts, _VOWELS, middles, _VOWELS, middles, endings):
        number, place = divmod(number, len(choices))
        sounds.append(choices[place])
    return number, "".join(sounds).capitalize()
