"""Words of a text with their places, and lists of terms that are found among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from celosia.assess.recognisers.identifiers import folded

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a folded text: folded, with where they start and end."""

    text: str = field(repr=False)
    words: list[str] = field(repr=False)
    starts: list[int] = field(repr=False)
    ends: list[int] = field(repr=False)

    def is_capital(self, at: int) -> bool:
        """Whether a word begins with a capital letter."""
        return self.text[self.starts[at]].isupper()

    def is_first(self, at: int) -> bool:
        """Whether a word begins a sentence or a line."""
        before = self.text[: self.starts[at]][-12:].rstrip(" \t\"'([{«“¿¡*_-")
        return not before or before[-1] in ".!?\n:;•|"


def words_of(text: str) -> Words:
    """The words of a text.

    >>> words_of("Ana came.").words
    ['ana', 'came']
    """
    matches = list(_WORD.finditer(text))
    return Words(
        text,
        [folded(match.group()) for match in matches],
        [match.start() for match in matches],
        [match.end() for match in matches],
    )


class TermList(Generic[Value]):
    """Terms of one or several words, each with a value; found in one pass over the words."""

    def __init__(self, terms: Iterable[tuple[str, Value]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for term, value in terms:
            split = tuple(words_of(term).words)
            if split:
                self._by_first.setdefault(split[0], []).append((split, value))
        for found in self._by_first.values():
            found.sort(key=lambda each: -len(each[0]))

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def find(self, words: Words) -> Iterator[tuple[int, int, Value]]:
        """The first and the last word of every term, with its value; the longest at each place."""
        known = self._by_first
        for at, word in enumerate(words.words):
            for split, value in known.get(word, ()):
                if tuple(words.words[at : at + len(split)]) == split:
                    yield at, at + len(split) - 1, value
                    break


def edits(word: str) -> Iterator[str]:
    """The word with each letter left out: two words one edit apart share one of these."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def is_near(first: str, second: str) -> bool:
    """Whether two words are one edit apart: a letter more, less or other, or two exchanged.

    >>> is_near("martinez", "martines"), is_near("martinez", "matrinez"), is_near("gil", "sol")
    (True, True, False)
    """
    if abs(len(first) - len(second)) > 1 or first == second:
        return first == second
    place = next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    if len(first) == len(second):
        swapped = first[:place] + first[place + 1 : place + 2] + first[place : place + 1]
        return first[place + 1 :] == second[place + 1 :] or (swapped + first[place + 2 :] == second)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    return longer[place + 1 :] == shorter[place:]
